//! Transforms in files, those of mireg and those of others. (Displacement fields alone are in [`super::field`].)
//!
//! Whatever a file's own convention, what is read is a map from a point of the fixed image to the point of the moving image,
//! LPS mm, and what is written is one.

mod elastix;
mod format;
mod fsl;
mod itk;
mod json;
mod matlab;
mod matrix;
mod parameters;
mod rire;
mod text;

use std::path::Path;

use glam::{DAffine3, DVec3};

use super::source::Source;
use super::{atomic, field};
use crate::transform::{Dimension, Kind, Linear, Part};
use crate::{Error, Geometry, Result};
pub use format::Format;
pub use json::Motion;

/// Bytes beyond which no file is read: those of linear transforms have a few thousand.
const MOST: u64 = 1 << 20;
/// A matrix that shrinks the cube of its columns' lengths by this factor is taken to have no inverse.
const FLAT: f64 = 1e-9;

/// The grids of the two images that a transform is between. FSL and RIRE count mm from a corner of each, and elastix writes the
/// fixed one into its files; the other formats can do without.
#[derive(Debug, Clone, Copy, Default)]
pub struct Grids<'a> {
    pub fixed: Option<&'a Geometry>,
    pub moving: Option<&'a Geometry>,
}

impl<'a> Grids<'a> {
    /// Those of two images.
    pub fn of(fixed: &'a Geometry, moving: &'a Geometry) -> Self {
        Self { fixed: Some(fixed), moving: Some(moving) }
    }

    /// Those of the inverse.
    pub fn swapped(self) -> Self {
        Self { fixed: self.moving, moving: self.fixed }
    }

    fn both(&self) -> Option<(&'a Geometry, &'a Geometry)> {
        self.fixed.zip(self.moving)
    }

    /// A linear map of the first kind that can do what `map` does, about the middle of the fixed grid.
    fn about(&self, map: &DAffine3) -> Linear {
        let centre = self.fixed.map_or(DVec3::ZERO, Geometry::centre);
        Linear::new(Kind::Translation, Dimension::Three, centre, map)
    }
}

/// Reads a transform. Without a `format`, the content says which it is, and of plain 4x4 matrices the end of the name: `.mat` is FSL.
///
/// ITK and elastix files keep their kind and each bit of their parameters; of several in one file, and of those that an elastix
/// file names, the composition is read. A matrix becomes the first kind that can do what it does to within 1e-9.
///
/// # Errors
/// [`Error::File`] for a file that is not there, is damaged, holds no linear map with an inverse, is a plain matrix of unknown
/// convention, or cannot be understood without `grids`.
pub fn read(path: &Path, format: Option<Format>, grids: &Grids) -> Result<Linear> {
    if format.is_none() && field::is(path) {
        return Err(Error::file(
            path,
            "is an image or a displacement field, by its name, where a linear transform is needed",
        ));
    }
    let bytes = content(path)?;
    let format = format.map_or_else(|| Format::sniff(path, &bytes), Ok).map_err(Error::at(path))?;
    let text = String::from_utf8_lossy(&bytes);
    let linear = match format {
        Format::Itk => itk::read(&text).map_err(Error::at(path)),
        Format::Ants => matlab::read(&bytes).map_err(Error::at(path)),
        Format::Json => json::read(&text, grids).map_err(Error::at(path)),
        Format::Elastix => elastix::read(path, &text),
        Format::MatrixLps => matrix::read_lps(&text, grids).map_err(Error::at(path)),
        Format::MatrixRas | Format::Niftyreg => matrix::read_ras(&text, grids).map_err(Error::at(path)),
        Format::Fsl => fsl::read(&text, grids).map_err(Error::at(path)),
        Format::Rire => rire::read(&text, grids).map_err(Error::at(path)),
    }?;
    invertible(&linear).map_err(Error::at(path))?;
    Ok(linear)
}

/// Reads a transform of which displacement fields may be a part: one of [`read`], a field of [`field::read`] by the end of its name, or
/// ITK text that holds fields among others. What comes back is in the order in which a point goes through it, and not empty.
///
/// # Errors
/// Those of [`read`] and of [`field::read`].
pub fn parts(path: &Path, format: Option<Format>, grids: &Grids) -> Result<Vec<Part>> {
    if format.is_none() && field::is(path) {
        return Ok(vec![Part::Field(field::read(path)?)]);
    }
    let text = format.is_none_or(|format| format == Format::Itk);
    if !text || !Source::open(path)?.rest(itk::MAGIC.len() as u64)?.starts_with(itk::MAGIC.as_bytes()) {
        return Ok(vec![Part::Linear(read(path, format, grids)?)]);
    }
    let parts = itk::parts(&Source::open(path)?.text()?).map_err(Error::at(path))?;
    let linears = parts.iter().filter_map(|part| if let Part::Linear(linear) = part { Some(linear) } else { None });
    linears.into_iter().try_for_each(invertible).map_err(Error::at(path))?;
    Ok(parts)
}

/// Writes a transform, in the format that the end of the name says where none is given: `.tfm` and `.txt` (ITK, or elastix where
/// the name starts with `TransformParameters`), `.json`, `.mat` (FSL) and `.standard` (RIRE).
///
/// Numbers are the shortest that are read back to the last bit, in RIRE's table 10 decimals. ITK, ANTs, elastix and JSON keep kind,
/// parameters and centre, and with them each bit of [`Linear::to_affine`]; ANTs knows affine alone.
///
/// # Errors
/// [`Error::File`] for a name of another end, where the format needs a grid that is not in `grids`, and where the file cannot be
/// written.
pub fn write(path: &Path, format: Option<Format>, transform: &Linear, grids: &Grids) -> Result<()> {
    let bytes = match format.map_or_else(|| Format::of_name(path), Ok).map_err(Error::at(path))? {
        Format::Itk => itk::text(transform).into_bytes(),
        Format::Ants => matlab::bytes(transform),
        Format::Json => json::text(transform).into_bytes(),
        Format::Elastix => elastix::text(transform, grids).map_err(Error::at(path))?.into_bytes(),
        Format::MatrixLps => matrix::lps(transform).into_bytes(),
        Format::MatrixRas | Format::Niftyreg => matrix::ras(transform).into_bytes(),
        Format::Fsl => fsl::text(transform, grids).map_err(Error::at(path))?.into_bytes(),
        Format::Rire => rire::text(transform, grids).map_err(Error::at(path))?.into_bytes(),
    };
    atomic::write(path, &[&bytes])
}

/// All of a file that is small enough to hold a linear transform.
fn content(path: &Path) -> Result<Vec<u8>> {
    let bytes = Source::open(path)?.rest(MOST + 1)?;
    match bytes.len() as u64 > MOST {
        true => Err(Error::file(path, "is too large for a linear transform")),
        false => Ok(bytes),
    }
}

fn invertible(linear: &Linear) -> std::result::Result<(), String> {
    let map = linear.to_affine();
    let m = map.matrix3;
    let cube = m.x_axis.length() * m.y_axis.length() * m.z_axis.length();
    match map.is_finite() && m.determinant().abs() > FLAT * cube {
        true => Ok(()),
        false => Err("its matrix has no inverse; correct the file".into()),
    }
}
