//! Reads and writes transforms, in mireg's formats and those of other programs. Files of a single displacement field
//! are in [`super::field`], meshes in [`super::mesh`].
//!
//! Whatever the convention of a file, transforms in memory map points of the fixed image to points of the moving image,
//! in LPS mm.

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

/// A matrix whose determinant, divided by the product of the lengths of its columns, is at most this is taken to have
/// no inverse.
const FLAT: f64 = 1e-9;

/// Reads any transform: a linear one of any [`Format`], a mesh of [`super::mesh`], a displacement field of
/// [`super::field`] by the ending of its name, or an ITK file, text or HDF5, with several transforms and fields. The
/// latter is a [`Transform::Chain`] of at least one part, in the order in which they are applied to a point. If
/// `format` is given, meshes and files of a single field are not read.
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

/// Writes any transform. A linear transform, or a chain that is linear as a whole, is written by [`write_linear`], a
/// displacement field by [`super::field::write`], and a mesh by [`super::mesh::write`]; the latter two ignore `format`
/// and `grids`. [`Format::ItkHdf5`] also holds fields, and chains with fields: see [`holds_chains`].
///
/// # Errors
/// Those of these functions, and [`Error::File`] for a chain that is not linear in other formats.
/// [`Transform::to_field`] converts such a chain to one field.
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

/// Whether a file of this format, or by default of this name, can hold displacement fields and chains of transforms
/// unchanged: ITK's HDF5.
pub fn holds_chains(path: &Path, format: Option<Format>) -> bool {
    format.or_else(|| Format::of_name(path).ok()) == Some(Format::ItkHdf5)
}

/// Reads a linear transform. Without a `format`, it is recognised by the content, and a plain 4x4 matrix by the name's
/// ending: `.mat` is FSL.
///
/// Transforms of ITK and elastix keep their kind and each bit of their parameters. Several transforms in one file, and
/// those that an elastix file names, are composed. A matrix becomes a transform of the first kind that represents it to
/// within 1e-9.
///
/// # Errors
/// [`Error::File`] for a file that does not exist, is damaged, does not hold a linear map with an inverse, is a plain
/// matrix of unknown convention, or cannot be interpreted without `grids`.
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

/// Writes a linear transform, by default in the format of the name's ending: `.tfm` and `.txt` (ITK, or elastix if the
/// name starts with `TransformParameters`), `.json`, `.mat` (FSL), `.standard` (RIRE), `.lta` (FreeSurfer), `.1D`
/// (AFNI), `.xfm` (MINC) and `.h5` (ITK in HDF5).
///
/// Numbers are the shortest that read back to the last bit; in RIRE's table they have 10 decimals. ITK (text and HDF5),
/// ANTs, elastix and JSON keep kind, parameters and centre, and so each bit of [`Linear::to_affine`]; ANTs has only
/// affine transforms.
///
/// # Errors
/// [`Error::File`] for a name with another ending, if the format needs a grid that is not in `grids`, and if the file
/// cannot be written.
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
