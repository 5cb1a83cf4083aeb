//! Volumes and transforms in files.
//!
//! Everything that a reader returns lies where ITK puts it: millimetres in LPS. Every file is written under a temporary name
//! and renamed, so that a file of the final name is always whole.

mod atomic;
mod check;
mod deflate;
pub mod field;
mod format;
mod formats;
pub mod mesh;
mod number;
mod output;
pub mod points;
mod source;
pub mod transform;
mod vectors;
mod voxels;

use std::path::Path;

use crate::{Geometry, Result, Volume};
pub use output::OutputFolder;

/// Whether a file is PNG, JPEG or TIFF, by the end of its name.
pub fn is_picture(path: &Path) -> bool {
    formats::of_name(path).is_some_and(|format| format.is_picture())
}

/// Reads a scalar image of 3 or 2 dimensions: NIfTI-1 and NIfTI-2 (`.nii`, `.nii.gz`, `.hdr` with `.img`), MetaImage (`.mha`,
/// `.mhd`), NRRD (`.nrrd`, `.nhdr`), the one DICOM series in a folder or the one that a DICOM file of it belongs to, PNG, JPEG
/// and TIFF.
///
/// The geometry is ITK's: of a NIfTI file the sform or the qform, as ITK chooses, with the voxel size of `pixdim`, and LPS
/// itself where the file has neither. NIfTI geometry has the precision of f32. Slices of a DICOM series are ordered by position
/// along their normal. A single slice is a 2-D image (see [`Volume`]); it must lie in x and y. A pixel of PNG, JPEG and TIFF is
/// 1 mm, whatever resolution the file claims, the first at the origin, rows along x, columns along y.
///
/// Voxels become f32, so integers beyond 2^24 are rounded; where the file scales its integers, [`Volume::pixel`] is `F32`, or
/// a whole type where all that a DICOM series scales by is whole. DICOM images of photometric interpretation `MONOCHROME1` keep
/// their values, large ones dark. Colours of PNG, JPEG and TIFF become luma, 0.2126 R + 0.7152 G + 0.0722 B; their alpha is
/// ignored.
///
/// # Errors
/// [`Error::File`] for a file that is not there, damaged, of more than one volume, not scalar, or whose voxels or geometry are
/// not finite; and for a DICOM series whose slices are missing, doubled, unevenly spaced, of differing grids, or sheared by a
/// tilted gantry.
pub fn read(path: &Path) -> Result<Volume> {
    formats::to_read(path)?.read(path)
}

/// Reads the grid of a volume alone, from its header where that is quicker than reading all.
///
/// # Errors
/// Those of [`read`], but for what is wrong with the voxels.
pub fn geometry(path: &Path) -> Result<Geometry> {
    formats::to_read(path)?.geometry(path)
}

/// Writes `volume` in the format that the end of the name says: `.nii`, `.nii.gz`, `.mha` (compressed), `.mhd` with a
/// `.raw` beside it or `.nrrd` (compressed); a 2-D image also as `.png`, `.jpg` or `.tif`.
///
/// Voxels are stored as [`Volume::pixel`], rounded to the nearest (ties to even) and clamped for integers. MetaImage keeps
/// the geometry to the last bit; NRRD so keeps the origin and the steps from voxel to voxel; NIfTI keeps it in f32, as sform
/// and as qform. The bytes do not depend on the number of threads.
///
/// PNG, JPEG and TIFF keep no geometry. They hold `U8` and `U16`; other types are rounded and clamped to `U16`, and JPEG, whose
/// quality is 95, is for `U8` only.
///
/// # Errors
/// [`Error::File`] for a name of another end, for a volume of several slices in a format that holds one, and for a file that
/// cannot be written.
pub fn write(path: &Path, volume: &Volume) -> Result<()> {
    formats::to_write(path)?.write(path, volume)
}
