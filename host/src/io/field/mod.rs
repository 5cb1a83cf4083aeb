//! Reads and writes displacement fields: NIfTI, MetaImage and NRRD images of vectors, as ITK, ANTs, greedy and 3D
//! Slicer do.
//!
//! Vectors are in LPS mm in all of them, whatever the frame of the grid in that format. This is the convention of ITK,
//! which the other programs follow.

mod itk;

use crate::error::{Setting, message};
use std::path::Path;

use super::formats;
use super::vectors::leaves_plane;
use crate::transform::Field;
use crate::{Error, Result};
pub(super) use itk::{axes_of, from_parameters, to_parameters};

/// Whether the ending of a file name is that of a format that can hold a displacement field.
pub fn is(path: &Path) -> bool {
    formats::of_field(path).is_some()
}

/// Reads a displacement field. It is NIfTI (`.nii`, `.nii.gz`, `.hdr` with `.img`) of 5 dimensions with the vectors
/// along the fifth and the intent 1007, MetaImage (`.mha`, `.mhd`) of 3 channels, or NRRD (`.nrrd`, `.nhdr`) with the
/// vectors along the first or the last axis. The field of a 2-D image can have 2 numbers per voxel.
///
/// Vectors are read as LPS mm, as in ITK, except for NIfTI of intent 1006, which ITK and mireg read as RAS. They are
/// converted to f32.
///
/// # Errors
/// [`Error::File`] for a file that does not exist, is damaged, is not a field, has numbers that are not finite, or
/// moves points of a 2-D image out of its plane.
pub fn read(path: &Path) -> Result<Field> {
    let format = formats::of_field(path).ok_or_else(|| {
        let fields = formats::fields();
        Error::file(path, format!("its name does not end like a displacement field; mireg reads {fields}"))
    })?;
    let field = format.read_field(path)?;
    if field.geometry.is_slice_in_space() {
        return Err(Error::file(
            path,
            "is on a single slice that does not lie in x and y; give one of at least 2 slices",
        ));
    }
    match leaves_plane(&field) {
        true => Err(Error::file(
            path,
            "moves points of its one slice out of the plane; mireg reads 2-D fields that stay in the plane",
        )),
        false => Ok(field),
    }
}

/// Writes a displacement field in the format of the name's ending: `.nii`, `.nii.gz`, `.mha` (compressed), `.mhd` with
/// a `.raw` next to it, or `.nrrd` (compressed). The field of a 2-D image has 2 numbers per voxel. Numbers are f32,
/// vectors LPS mm.
///
/// greedy reads NIfTI, ANTs all but `.mhd`, and SimpleITK all of them:
/// `SimpleITK.DisplacementFieldTransform(SimpleITK.ReadImage("field.nii.gz", SimpleITK.sitkVectorFloat64))`.
///
/// # Errors
/// [`Error::File`] for a name with another ending, for a field that moves points of a 2-D image out of its plane, and
/// if the file cannot be written. [`Error::Option`] if the number of vectors is not that of the grid.
pub fn write(path: &Path, field: &Field) -> Result<()> {
    writable(path, field)?;
    let format = formats::to_write_field(path).ok_or_else(|| {
        let fields = formats::fields();
        let message =
            format!("its name does not end like a file that holds a displacement field; mireg writes {fields}");
        Error::file(path, message)
    })?;
    format.write_field(path, field)
}

/// Checks that a field can be written to a file of any format.
pub(super) fn writable(path: &Path, field: &Field) -> Result<()> {
    let Field { geometry, vectors } = field;
    if vectors.len() != geometry.voxels() {
        return Err(Error::option(
            Setting::Transform,
            format!("the field's {} vectors do not fill its grid", vectors.len()),
        ));
    }
    if leaves_plane(field) {
        return Err(Error::file(
            path,
            message!("would lead points of a 2-D image out of its plane"; "give a 3-D image as ", Fixed),
        ));
    }
    Ok(())
}
