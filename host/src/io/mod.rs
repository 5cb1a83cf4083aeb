//! Volumes and transforms in files.
//!
//! Everything that a reader returns lies where ITK puts it: millimetres in LPS. Every file is written under a temporary name
//! and renamed, so that a file of the final name is always whole.

mod atomic;
mod check;
mod deflate;
mod metaimage;
mod nifti;
mod output;
pub mod points;
mod source;
pub mod transform;
mod voxels;

use std::path::Path;

use crate::{Error, Geometry, Result, Volume};
pub use output::OutputFolder;
use source::Source;

/// A kind of file, known by the end of its name.
#[derive(Clone, Copy)]
enum Format {
    NiftiGz,
    Nifti,
    NiftiPair,
    Mha,
    Mhd,
}

impl Format {
    fn of(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_string_lossy().to_lowercase();
        let ends = [
            (".nii.gz", Self::NiftiGz),
            (".nii", Self::Nifti),
            (".hdr", Self::NiftiPair),
            (".img", Self::NiftiPair),
            (".mha", Self::Mha),
            (".mhd", Self::Mhd),
        ];
        ends.iter().find(|(end, _)| name.ends_with(end)).map(|&(_, format)| format)
    }
}

/// Reads a scalar 3-D volume: NIfTI-1 and NIfTI-2 (`.nii`, `.nii.gz`, `.hdr` with `.img`) and MetaImage (`.mha`, `.mhd`).
///
/// The geometry is ITK's: of a NIfTI file the sform or the qform, as ITK chooses, with the voxel size of `pixdim`, and LPS
/// itself where the file has neither. NIfTI geometry has the precision of f32. Voxels become f32, so integers beyond 2^24
/// are rounded; where the file scales its integers, [`Volume::pixel`] is `F32`.
///
/// # Errors
/// [`Error::File`] for a file that is not there, damaged, not 3-D, not scalar, or whose voxels or geometry are not finite.
pub fn read(path: &Path) -> Result<Volume> {
    match Format::of(path) {
        Some(Format::NiftiGz | Format::Nifti) => nifti::read(path),
        Some(Format::NiftiPair) => nifti::read(&path.with_extension("hdr")),
        Some(Format::Mha | Format::Mhd) => metaimage::read(path),
        None => {
            Source::open(path)?;
            let formats = ".nii, .nii.gz, .hdr with .img, .mha and .mhd";
            Err(Error::file(path, format!("its name does not end like a file that mireg reads; it reads {formats}")))
        }
    }
}

/// Reads the grid of a volume alone, from its header where that is quicker than reading all.
///
/// # Errors
/// Those of [`read`], but for what is wrong with the voxels.
pub fn geometry(path: &Path) -> Result<Geometry> {
    match Format::of(path) {
        Some(Format::NiftiGz | Format::Nifti) => nifti::geometry(path),
        Some(Format::NiftiPair) => nifti::geometry(&path.with_extension("hdr")),
        Some(Format::Mha | Format::Mhd) => metaimage::geometry(path),
        None => Ok(read(path)?.geometry),
    }
}

/// Writes `volume` in the format that the end of the name says: `.nii`, `.nii.gz`, `.mha` (compressed) or `.mhd` with a
/// `.raw` beside it.
///
/// Voxels are stored as [`Volume::pixel`], rounded to the nearest (ties to even) and clamped for integers. MetaImage keeps
/// the geometry to the last bit; NIfTI keeps it in f32, as sform and as qform. The bytes do not depend on the number of
/// threads.
///
/// # Errors
/// [`Error::File`] for a name of another end, and for a file that cannot be written.
pub fn write(path: &Path, volume: &Volume) -> Result<()> {
    match Format::of(path) {
        Some(Format::NiftiGz) => nifti::write(path, volume, true),
        Some(Format::Nifti) => nifti::write(path, volume, false),
        Some(Format::Mha) => metaimage::write_mha(path, volume),
        Some(Format::Mhd) => metaimage::write_mhd(path, volume),
        Some(Format::NiftiPair) | None => {
            let message = "its name does not end like a file that mireg writes; it writes .nii, .nii.gz, .mha and .mhd";
            Err(Error::file(path, message))
        }
    }
}

/// The shortest decimal number that reads back as `value`.
fn shortest(value: f64) -> String {
    if value != 0.0 && !(1e-5..1e16).contains(&value.abs()) { format!("{value:e}") } else { value.to_string() }
}

/// `values` in [`shortest`] form with spaces between.
fn joined(values: impl IntoIterator<Item = f64>) -> String {
    values.into_iter().map(shortest).collect::<Vec<_>>().join(" ")
}
