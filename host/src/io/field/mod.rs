//! Displacement fields in files: NIfTI, MetaImage and NRRD of vectors, as ITK, ANTs, greedy and 3D Slicer read and write them.
//!
//! Vectors are LPS mm in all of them, whatever frame the format has for the grid: so ITK has it, and the others with it.

mod itk;

use crate::error::{Setting, message};
use std::path::Path;

use super::formats;
use super::vectors::leaves_plane;
use crate::transform::Field;
use crate::{Error, Result};
pub(super) use itk::{axes_of, from_parameters, to_parameters};

/// Whether the name of a file ends like one that could hold a displacement field.
pub fn is(path: &Path) -> bool {
    formats::of_field(path).is_some()
}

/// Reads a displacement field: NIfTI (`.nii`, `.nii.gz`, `.hdr` with `.img`) of 5 dimensions with the vectors along the fifth and the intent 1007,
/// MetaImage (`.mha`, `.mhd`) of 3 channels, or NRRD (`.nrrd`, `.nhdr`) with the vectors along the first or the last axis; of a 2-D image
/// with 2 numbers per voxel.
///
/// Vectors are taken to be LPS mm, as by ITK, but in NIfTI of intent 1006, of which ITK and mireg read RAS. They become f32.
///
/// # Errors
/// [`Error::File`] for a file that is not there, damaged, no field, not finite, or that leads points of a 2-D image out of its plane.
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

/// Writes a displacement field in the format that the end of the name says: `.nii`, `.nii.gz`, `.mha` (compressed), `.mhd` with a `.raw` beside it
/// or `.nrrd` (compressed); that of a 2-D image with 2 numbers per voxel. Numbers are f32, vectors LPS mm.
///
/// greedy takes NIfTI, ANTs all but `.mhd`, and SimpleITK all of them:
/// `SimpleITK.DisplacementFieldTransform(SimpleITK.ReadImage("field.nii.gz", SimpleITK.sitkVectorFloat64))`.
///
/// # Errors
/// [`Error::File`] for a name of another end, for a field that leads points of a 2-D image out of its plane, and where the file cannot be
/// written; [`Error::Option`] where vectors and grid differ in number.
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

/// Whether any file can hold a field.
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
