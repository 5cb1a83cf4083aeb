//! Volumes and transforms in files.
//!
//! Everything that a reader returns lies where ITK puts it: millimetres in LPS. Every file is written under a temporary name
//! and renamed, so that a file of the final name is always whole.

mod atomic;
mod check;
mod deflate;
mod dicom;
pub mod field;
pub mod mesh;
mod metaimage;
mod nifti;
mod nrrd;
mod output;
mod picture;
pub mod points;
mod source;
pub mod transform;
mod voxels;

use std::path::Path;

use image::ImageFormat;

use crate::{Error, Geometry, Result, Volume};
pub use output::OutputFolder;

/// Whether a file is PNG, JPEG or TIFF, by the end of its name.
pub fn is_picture(path: &Path) -> bool {
    matches!(Format::of(path), Some(Format::Picture(_)))
}

/// A kind of file, known by the end of its name.
#[derive(Clone, Copy)]
enum Format {
    NiftiGz,
    Nifti,
    NiftiPair,
    Mha,
    Mhd,
    Nrrd,
    Nhdr,
    Picture(ImageFormat),
    Dicom,
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
            (".nrrd", Self::Nrrd),
            (".nhdr", Self::Nhdr),
            (".png", Self::Picture(ImageFormat::Png)),
            (".jpg", Self::Picture(ImageFormat::Jpeg)),
            (".jpeg", Self::Picture(ImageFormat::Jpeg)),
            (".tif", Self::Picture(ImageFormat::Tiff)),
            (".tiff", Self::Picture(ImageFormat::Tiff)),
            (".dcm", Self::Dicom),
        ];
        ends.iter().find(|(end, _)| name.ends_with(end)).map(|&(_, format)| format)
    }
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
    if path.is_dir() {
        return dicom::read_folder(path);
    }
    match Format::of(path) {
        Some(Format::NiftiGz | Format::Nifti) => nifti::read(path),
        Some(Format::NiftiPair) => nifti::read(&path.with_extension("hdr")),
        Some(Format::Mha | Format::Mhd) => metaimage::read(path),
        Some(Format::Nrrd | Format::Nhdr) => nrrd::read(path),
        Some(Format::Picture(format)) => picture::read(path, format),
        Some(Format::Dicom) => dicom::read_file(path),
        None if dicom::is(path)? => dicom::read_file(path),
        None => {
            let formats = ".nii, .nii.gz, .hdr with .img, .mha, .mhd, .nrrd, .nhdr, DICOM, .png, .jpg and .tif";
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
        _ => Ok(read(path)?.geometry),
    }
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
    match Format::of(path) {
        Some(Format::NiftiGz) => nifti::write(path, volume, true),
        Some(Format::Nifti) => nifti::write(path, volume, false),
        Some(Format::Mha) => metaimage::write_mha(path, volume),
        Some(Format::Mhd) => metaimage::write_mhd(path, volume),
        Some(Format::Nrrd) => nrrd::write(path, volume),
        Some(Format::Picture(format)) => picture::write(path, volume, format),
        Some(Format::NiftiPair | Format::Nhdr | Format::Dicom) | None => {
            let formats = ".nii, .nii.gz, .mha, .mhd and .nrrd, and 2-D images also as .png, .jpg and .tif";
            Err(Error::file(path, format!("its name does not end like a file that mireg writes; it writes {formats}")))
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
