//! The list of all image formats, and the functions that read and write images of any format.

mod dicom;
mod metaimage;
mod mgh;
mod nifti;
mod nrrd;
mod picture;

use std::path::Path;

use super::format::{ImageFormat, PLAIN, ends};
use super::reading::{Image, ReadOptions};
use crate::error::{Setting, message};
use crate::{Error, Geometry, Result, Volume};

/// All formats. Messages list them in this order.
const FORMATS: [&dyn ImageFormat; 6] =
    [&nifti::Nifti, &metaimage::MetaImage, &nrrd::Nrrd, &mgh::Mgh, &dicom::Dicom, &picture::Picture];

pub use picture::{Samples, Whole};

/// Whether a file is PNG, JPEG or TIFF, by the ending of its name.
pub fn is_picture(path: &Path) -> bool {
    of_name(path).is_some_and(|format| format.is_picture())
}

/// Reads a scalar image of 3 or 2 dimensions: NIfTI-1 and NIfTI-2 (`.nii`, `.nii.gz`, `.hdr` with `.img`), MetaImage
/// (`.mha`, `.mhd`), NRRD (`.nrrd`, `.nhdr`), FreeSurfer (`.mgh`, `.mgz`, `.mgh.gz`), DICOM, PNG, JPEG and TIFF. A
/// DICOM image is given as a folder with one series, or as one file of the series.
///
/// The geometry is that of ITK. For a NIfTI file it is the sform or the qform, as ITK chooses, with the voxel size of
/// `pixdim`, or axes along LPS if the file has neither. NIfTI geometry has the precision of f32. A FreeSurfer file
/// without a position is coronal with 1 mm voxels, and its centre is at the origin. Slices of a DICOM series, and the
/// frames of enhanced images and of dose grids, are ordered by position along their normal. Other files in the folder,
/// and series of a single image next to one series of several, are left out, with a note. A single slice parallel to
/// the x-y plane is a 2-D image; any other slice keeps its position in space (see [`Volume`]). Pixels of PNG, JPEG and
/// TIFF are 1 mm, whatever resolution the file claims, with the first pixel at the origin, rows along x and columns
/// along y.
///
/// Voxels are converted to f32, so integers beyond 2^24 are rounded. If the file scales its integers, [`Volume::pixel`]
/// is `F32`, or an integer type if all scale factors and offsets of a DICOM series are integers. DICOM images of
/// photometric interpretation `MONOCHROME1` keep their values, of which large ones are dark. Colours of PNG, JPEG, TIFF
/// and DICOM, of NIfTI (RGB24, RGBA32), and of 3 or 4 bytes per voxel in MetaImage and NRRD are converted to luma,
/// 0.2126 R + 0.7152 G + 0.0722 B, rounded to the nearest; alpha is ignored. [`read_with`] can take one channel
/// instead. Pages of a TIFF file that are marked as smaller copies of the first or as masks are skipped.
///
/// # Errors
/// [`Error::File`] for a file that does not exist, is damaged, has more than one volume or page, is not scalar, or has
/// voxels or a geometry that are not finite; and for a DICOM series with slices that are missing, repeated, unevenly
/// spaced, of different grids, or sheared by a tilted gantry.
pub fn read(path: &Path) -> Result<Volume> {
    Ok(read_with(path, &PLAIN)?.volume)
}

/// As [`read`], with `options` that choose among several images, and with notes on how the image was read. Of a
/// four-dimensional file only one volume is kept in memory, or for the mean of all volumes their sum as f64.
///
/// # Errors
/// Those of [`read`], and [`Error::File`] for options that choose something that does not exist.
pub fn read_with(path: &Path, options: &ReadOptions) -> Result<Image> {
    if options.series.is_some() && !path.is_dir() {
        let setting = options.role.series().unwrap_or(Setting::Series);
        let message =
            message!("is no folder, and a series is chosen in a folder of DICOM files"; "leave out ", {setting});
        return Err(Error::file(path, message));
    }
    to_read(path)?.read(path, options)
}

/// Reads only the grid of a volume, from the header if the format permits.
///
/// # Errors
/// Those of [`read`], except those about the voxels.
pub fn geometry(path: &Path) -> Result<Geometry> {
    to_read(path)?.geometry(path)
}

/// Writes `volume` in the format of the name's ending: `.nii`, `.nii.gz`, `.mha` (compressed), `.mhd` with a `.raw`
/// next to it, `.nrrd` (compressed), `.mgh` or `.mgz` (compressed); a 2-D image also as `.png`, `.jpg` or `.tif`.
///
/// Voxels are stored as [`Volume::pixel`]. For integers they are rounded to the nearest (ties to even) and clamped.
/// MetaImage keeps the geometry to the last bit. NRRD keeps the origin and the steps from voxel to voxel to the last
/// bit. NIfTI keeps the geometry in f32, as sform and as qform. FreeSurfer's formats keep it in f32, with the centre of
/// the grid. They lack some types: `I8` is written as `I16`, and `U32`, `I64`, `U64` and `F64` as `F32`. The bytes do
/// not depend on the number of threads.
///
/// PNG, JPEG and TIFF keep no geometry. They hold `U8` and `U16`; other types are rounded and clamped to `U16`. JPEG,
/// with a quality of 95, holds `U8` only.
///
/// # Errors
/// [`Error::File`] for a name with another ending, for a volume of several slices in a format that holds one, and if
/// the file cannot be written.
pub fn write(path: &Path, volume: &Volume) -> Result<()> {
    to_write(path)?.write(path, volume)
}

/// The format of a file, by the ending of its name.
fn of_name(path: &Path) -> Option<&'static dyn ImageFormat> {
    FORMATS.into_iter().find(|format| ends(path, format.names().read))
}

/// The format of a file or folder to read, by the ending of its name or by its contents.
fn to_read(path: &Path) -> Result<&'static dyn ImageFormat> {
    if let Some(format) = of_name(path).filter(|_| !path.is_dir()) {
        return Ok(format);
    }
    for format in FORMATS {
        if format.is(path)? {
            return Ok(format);
        }
    }
    let formats = list(FORMATS.iter().flat_map(|format| format.names().listed[0]));
    Err(Error::file(path, format!("its name does not end like a file that mireg reads; it reads {formats}")))
}

/// The format of an image to write.
fn to_write(path: &Path) -> Result<&'static dyn ImageFormat> {
    let format = FORMATS.into_iter().find(|format| ends(path, format.names().written));
    format.ok_or_else(|| {
        let written = |pictures: bool| {
            let formats = FORMATS.iter().filter(move |format| format.is_picture() == pictures);
            list(formats.flat_map(|format| format.names().listed[1]))
        };
        let formats = format!("{}, and 2-D images also as {}", written(false), written(true));
        Error::file(path, format!("its name does not end like a file that mireg writes; it writes {formats}"))
    })
}

/// The format of a displacement field to read.
pub(super) fn of_field(path: &Path) -> Option<&'static dyn ImageFormat> {
    of_name(path).filter(|format| !format.names().fields.is_empty())
}

/// The format of a displacement field to write.
pub(super) fn to_write_field(path: &Path) -> Option<&'static dyn ImageFormat> {
    FORMATS.into_iter().find(|format| ends(path, format.names().fields))
}

/// The endings of the names of displacement fields, for messages.
pub(super) fn fields() -> String {
    list(FORMATS.iter().flat_map(|format| format.names().fields))
}

/// Formats names as `a, b and c`.
fn list<'a>(names: impl Iterator<Item = &'a &'static str>) -> String {
    let names: Vec<&str> = names.copied().collect();
    match &names[..] {
        [most @ .., last] if !most.is_empty() => format!("{} and {last}", most.join(", ")),
        _ => names.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_too() {
        for format in FORMATS {
            let names = format.names();
            let read = |end: &&str| names.read.contains(end);
            assert!(names.written.iter().chain(names.fields).all(read));
            assert!(names.read.iter().all(|end| *end == end.to_lowercase()));
        }
    }
}
