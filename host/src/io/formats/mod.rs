//! The formats of images, a row each, and the doors to all of them.

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

/// Whether a file is PNG, JPEG or TIFF, by the end of its name.
pub fn is_picture(path: &Path) -> bool {
    of_name(path).is_some_and(|format| format.is_picture())
}

/// Reads a scalar image of 3 or 2 dimensions: NIfTI-1 and NIfTI-2 (`.nii`, `.nii.gz`, `.hdr` with `.img`), MetaImage (`.mha`,
/// `.mhd`), NRRD (`.nrrd`, `.nhdr`), FreeSurfer's (`.mgh`, `.mgz`, `.mgh.gz`), the one DICOM series in a folder or the one that a
/// DICOM file of it belongs to, PNG, JPEG and TIFF.
///
/// The geometry is ITK's: of a NIfTI file the sform or the qform, as ITK chooses, with the voxel size of `pixdim`, and LPS
/// itself where the file has neither. NIfTI geometry has the precision of f32. A FreeSurfer file that is placed nowhere is coronal,
/// of 1 mm, its middle at the origin. Slices of a DICOM series, and the frames of enhanced images and of doses, are ordered by
/// position along their normal; other files in the folder, and series of a single image beside one of several, are left out and
/// noted. A single slice in x and y is a 2-D image, and any other keeps its place in space (see [`Volume`]). A pixel of PNG, JPEG and TIFF is
/// 1 mm, whatever resolution the file claims, the first at the origin, rows along x, columns along y.
///
/// Voxels become f32, so integers beyond 2^24 are rounded; where the file scales its integers, [`Volume::pixel`] is `F32`, or
/// a whole type where all that a DICOM series scales by is whole. DICOM images of photometric interpretation `MONOCHROME1` keep
/// their values, large ones dark. Colours of PNG, JPEG, TIFF and DICOM, of NIfTI (RGB24, RGBA32), and of 3 or 4 bytes per voxel in
/// MetaImage and NRRD become luma, 0.2126 R + 0.7152 G + 0.0722 B, rounded to the nearest; their alpha is ignored. [`read_with`] takes
/// one channel instead. Of a TIFF file, pages that are marked as smaller copies of the first or as masks are passed over.
///
/// # Errors
/// [`Error::File`] for a file that is not there, damaged, of more than one volume or page, not scalar, or whose voxels or geometry are
/// not finite; and for a DICOM series whose slices are missing, doubled, unevenly spaced, of differing grids, or sheared by a
/// tilted gantry.
pub fn read(path: &Path) -> Result<Volume> {
    Ok(read_with(path, &PLAIN)?.volume)
}

/// The same, where `options` choose among several images, with what is to be said of how it was read. Of the volumes of a file of four
/// dimensions no more than one is kept in memory, and of their mean the sum as f64.
///
/// # Errors
/// Those of [`read`], and [`Error::File`] for options that choose what is not there.
pub fn read_with(path: &Path, options: &ReadOptions) -> Result<Image> {
    if options.series.is_some() && !path.is_dir() {
        let setting = options.role.series().unwrap_or(Setting::Series);
        let message =
            message!("is no folder, and a series is chosen in a folder of DICOM files"; "leave out ", {setting});
        return Err(Error::file(path, message));
    }
    to_read(path)?.read(path, options)
}

/// Reads the grid of a volume alone, from its header where that is quicker than reading all.
///
/// # Errors
/// Those of [`read`], but for what is wrong with the voxels.
pub fn geometry(path: &Path) -> Result<Geometry> {
    to_read(path)?.geometry(path)
}

/// Writes `volume` in the format that the end of the name says: `.nii`, `.nii.gz`, `.mha` (compressed), `.mhd` with a
/// `.raw` beside it, `.nrrd` (compressed), `.mgh` or `.mgz` (compressed); a 2-D image also as `.png`, `.jpg` or `.tif`.
///
/// Voxels are stored as [`Volume::pixel`], rounded to the nearest (ties to even) and clamped for integers. MetaImage keeps
/// the geometry to the last bit; NRRD so keeps the origin and the steps from voxel to voxel; NIfTI keeps it in f32, as sform
/// and as qform; FreeSurfer's formats too, as the middle of the grid. These lack some types: `I8` is written as `I16`, and `U32`,
/// `I64`, `U64` and `F64` as `F32`. The bytes do not depend on the number of threads.
///
/// PNG, JPEG and TIFF keep no geometry. They hold `U8` and `U16`; other types are rounded and clamped to `U16`, and JPEG, whose
/// quality is 95, is for `U8` only.
///
/// # Errors
/// [`Error::File`] for a name of another end, for a volume of several slices in a format that holds one, and for a file that
/// cannot be written.
pub fn write(path: &Path, volume: &Volume) -> Result<()> {
    to_write(path)?.write(path, volume)
}

/// The format of a file, by the end of its name.
fn of_name(path: &Path) -> Option<&'static dyn ImageFormat> {
    FORMATS.into_iter().find(|format| ends(path, format.names().read))
}

/// The format of a file or folder that is to be read, by the end of its name or by what it holds.
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

/// The format of an image that is to be written.
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

/// The format of a displacement field that is to be read.
pub(super) fn of_field(path: &Path) -> Option<&'static dyn ImageFormat> {
    of_name(path).filter(|format| !format.names().fields.is_empty())
}

/// The format of a displacement field that is to be written.
pub(super) fn to_write_field(path: &Path) -> Option<&'static dyn ImageFormat> {
    FORMATS.into_iter().find(|format| ends(path, format.names().fields))
}

/// The ends of names of displacement fields, for messages.
pub(super) fn fields() -> String {
    list(FORMATS.iter().flat_map(|format| format.names().fields))
}

/// `a, b and c`.
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
