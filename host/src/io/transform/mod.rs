//! Transforms in files, those of mireg and those of others. (Displacement fields alone are in [`super::field`], meshes in [`super::mesh`].)
//!
//! Whatever a file's own convention, what is read is a map from a point of the fixed image to the point of the moving image,
//! LPS mm, and what is written is one.

mod afni;
mod elastix;
mod format;
mod fsl;
mod grids;
mod itk;
mod itk_hdf5;
mod json;
mod lta;
mod matlab;
mod matrix;
mod minc;
mod parameters;
mod rire;
mod text;

use std::path::Path;

use super::source::Source;
use super::{atomic, field, hdf5, mesh};
use crate::transform::{Linear, Transform};
use crate::{Error, Result};
pub use format::Format;
pub use grids::Grids;
pub use json::Motion;
use text::content;

/// A matrix that shrinks the cube of its columns' lengths by this factor is taken to have no inverse.
const FLAT: f64 = 1e-9;

/// Reads any transform: a linear one of any [`Format`], a mesh of [`super::mesh`], a displacement field of [`super::field`] by the end of
/// its name, or one of ITK, text or HDF5, that holds several, fields among them. Those are a [`Transform::Chain`] in the order in which a
/// point goes through them, of one at least. With a `format` no meshes and no files of a field alone are read.
///
/// # Errors
/// Those of [`read_linear`], [`super::mesh::read`] and [`super::field::read`].
pub fn read(path: &Path, format: Option<Format>, grids: &Grids) -> Result<Transform> {
    if format.is_none() && mesh::is(path) {
        return mesh::read(path).map(Transform::Mesh);
    }
    if format.is_none() && field::is(path) {
        return field::read(path).map(Transform::Field);
    }
    let start = Source::open(path)?.rest(itk::MAGIC.len() as u64)?;
    let is = |itk, magic: &[u8]| format.is_none_or(|format| format == itk) && start.starts_with(magic);
    let parts = match () {
        () if is(Format::Itk, itk::MAGIC.as_bytes()) => itk::parts(&Source::open(path)?.text()?),
        () if is(Format::ItkHdf5, hdf5::MAGIC) => itk_hdf5::parts(&Source::open(path)?.bytes()?),
        () => return read_linear(path, format, grids).map(Transform::Linear),
    };
    let mut parts = parts.map_err(Error::at(path))?;
    let linears =
        parts.iter().filter_map(|part| if let Transform::Linear(linear) = part { Some(linear) } else { None });
    linears.into_iter().try_for_each(invertible).map_err(Error::at(path))?;
    Ok(if parts.len() == 1 { parts.remove(0) } else { Transform::Chain(parts) })
}

/// Writes any transform: a linear one, or a chain that is linear as a whole, as [`write_linear`] does, a displacement field as
/// [`super::field::write`] and a mesh as [`super::mesh::write`] do, which know neither `format` nor `grids`. [`Format::ItkHdf5`] takes
/// fields and chains of them, too: see [`holds_chains`].
///
/// # Errors
/// Those of these, and [`Error::File`] for a chain that is not linear, in other formats: [`Transform::to_field`] makes one field of it.
pub fn write(path: &Path, format: Option<Format>, transform: &Transform, grids: &Grids) -> Result<()> {
    match transform {
        Transform::Field(_) | Transform::Chain(_) if transform.to_linear().is_none() && holds_chains(path, format) => {
            let parts = transform.parts();
            let fields =
                parts.iter().filter_map(|part| if let Transform::Field(field) = part { Some(field) } else { None });
            fields.into_iter().try_for_each(|field| field::writable(path, field))?;
            atomic::write(path, &[&itk_hdf5::bytes(&parts).map_err(Error::at(path))?])
        }
        Transform::Linear(linear) => write_linear(path, format, linear, grids),
        Transform::Field(field) => field::write(path, field),
        Transform::Mesh(mesh) => mesh::write(path, mesh),
        Transform::Chain(_) => match transform.to_linear() {
            Some(linear) => write_linear(path, format, &linear, grids),
            None => {
                Err(Error::file(path, "would hold fields or meshes among other transforms; make one field of them"))
            }
        },
    }
}

/// Whether a file of this name, or of this format, is one that holds displacement fields and chains of transforms as they are: ITK's HDF5.
pub fn holds_chains(path: &Path, format: Option<Format>) -> bool {
    format.or_else(|| Format::of_name(path).ok()) == Some(Format::ItkHdf5)
}

/// Reads a linear transform. Without a `format`, the content says which it is, and of plain 4x4 matrices the end of the name: `.mat` is FSL.
///
/// ITK and elastix files keep their kind and each bit of their parameters; of several in one file, and of those that an elastix
/// file names, the composition is read. A matrix becomes the first kind that can do what it does to within 1e-9.
///
/// # Errors
/// [`Error::File`] for a file that is not there, is damaged, holds no linear map with an inverse, is a plain matrix of unknown
/// convention, or cannot be understood without `grids`.
pub fn read_linear(path: &Path, format: Option<Format>, grids: &Grids) -> Result<Linear> {
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
        Format::ItkHdf5 => itk_hdf5::read(&bytes).map_err(Error::at(path)),
        Format::Ants => matlab::read(&bytes).map_err(Error::at(path)),
        Format::Json => json::read(&text, grids).map_err(Error::at(path)),
        Format::Elastix => elastix::read(path, &text),
        Format::MatrixLps => matrix::read_lps(&text, grids).map_err(Error::at(path)),
        Format::MatrixRas | Format::Niftyreg => matrix::read_ras(&text, grids).map_err(Error::at(path)),
        Format::Fsl => fsl::read(&text, grids).map_err(Error::at(path)),
        Format::Rire => rire::read(&text, grids).map_err(Error::at(path)),
        Format::Lta => lta::read(&text, grids).map_err(Error::at(path)),
        Format::Afni => afni::read(&text, grids).map_err(Error::at(path)),
        Format::Minc => minc::read(&text, grids).map_err(Error::at(path)),
    }?;
    invertible(&linear).map_err(Error::at(path))?;
    Ok(linear)
}

/// Writes a linear transform, in the format that the end of the name says where none is given: `.tfm` and `.txt` (ITK, or elastix where
/// the name starts with `TransformParameters`), `.json`, `.mat` (FSL), `.standard` (RIRE), `.lta` (FreeSurfer), `.1D` (AFNI), `.xfm`
/// (MINC) and `.h5` (ITK in HDF5).
///
/// Numbers are the shortest that are read back to the last bit, in RIRE's table 10 decimals. ITK (text and HDF5), ANTs, elastix and JSON keep kind,
/// parameters and centre, and with them each bit of [`Linear::to_affine`]; ANTs knows affine alone.
///
/// # Errors
/// [`Error::File`] for a name of another end, where the format needs a grid that is not in `grids`, and where the file cannot be
/// written.
pub fn write_linear(path: &Path, format: Option<Format>, transform: &Linear, grids: &Grids) -> Result<()> {
    let bytes = match format.map_or_else(|| Format::of_name(path), Ok).map_err(Error::at(path))? {
        Format::Itk => itk::text(transform).into_bytes(),
        Format::ItkHdf5 => itk_hdf5::bytes(&[&transform.clone().into()]).map_err(Error::at(path))?,
        Format::Ants => matlab::bytes(transform),
        Format::Json => json::text(transform).into_bytes(),
        Format::Elastix => elastix::text(transform, grids).map_err(Error::at(path))?.into_bytes(),
        Format::MatrixLps => matrix::lps(transform).into_bytes(),
        Format::MatrixRas | Format::Niftyreg => matrix::ras(transform).into_bytes(),
        Format::Fsl => fsl::text(transform, grids).map_err(Error::at(path))?.into_bytes(),
        Format::Rire => rire::text(transform, grids).map_err(Error::at(path))?.into_bytes(),
        Format::Lta => lta::text(transform, grids).map_err(Error::at(path))?.into_bytes(),
        Format::Afni => afni::text(transform, grids).map_err(Error::at(path))?.into_bytes(),
        Format::Minc => minc::text(transform).into_bytes(),
    };
    atomic::write(path, &[&bytes])
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
