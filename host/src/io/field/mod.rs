//! Displacement fields in files: NIfTI, MetaImage and NRRD of vectors, as ITK, ANTs, greedy and 3D Slicer read and write them.
//!
//! Vectors are LPS mm in all of them, whatever frame the format has for the grid: so ITK has it, and the others with it.

mod itk;

use crate::error::{Setting, message};
use std::path::Path;

use super::voxels::Order;
use super::{Format, metaimage, nifti, nrrd};
use crate::transform::Field;
use crate::{Error, Geometry, Result};
pub(super) use itk::{axes_of, from_parameters};

/// What a file of vectors holds.
pub(super) struct Vectors {
    pub geometry: Geometry,
    /// 3 a voxel, or 2 where the grid is one of a 2-D image.
    pub numbers: Vec<f32>,
    pub order: Order,
}

/// Whether the name of a file ends like one that could hold a displacement field.
pub fn is(path: &Path) -> bool {
    Kind::of(path).is_some()
}

/// The formats of fields.
enum Kind {
    Nifti,
    MetaImage,
    Nrrd,
}

impl Kind {
    fn of(path: &Path) -> Option<Self> {
        match Format::of(path)? {
            Format::NiftiGz | Format::Nifti | Format::NiftiPair => Some(Self::Nifti),
            Format::Mha | Format::Mhd => Some(Self::MetaImage),
            Format::Nrrd | Format::Nhdr => Some(Self::Nrrd),
            Format::Picture(_) | Format::Dicom => None,
        }
    }
}

/// Reads a displacement field: NIfTI (`.nii`, `.nii.gz`, `.hdr` with `.img`) of 5 dimensions with the vectors along the fifth and the intent 1007,
/// MetaImage (`.mha`, `.mhd`) of 3 channels, or NRRD (`.nrrd`, `.nhdr`) with the vectors along the first or the last axis; of a 2-D image
/// with 2 numbers a voxel.
///
/// Vectors are taken to be LPS mm, as by ITK, but in NIfTI of intent 1006, of which ITK and mireg read RAS. They become f32.
///
/// # Errors
/// [`Error::File`] for a file that is not there, damaged, no field, not finite, or that leads points of a 2-D image out of its plane.
pub fn read(path: &Path) -> Result<Field> {
    let vectors = match Kind::of(path) {
        Some(Kind::Nifti) => {
            let pair = matches!(Format::of(path), Some(Format::NiftiPair));
            nifti::read_field(&if pair { path.with_extension("hdr") } else { path.to_owned() })
        }
        Some(Kind::MetaImage) => metaimage::read_field(path),
        Some(Kind::Nrrd) => nrrd::read_field(path),
        None => {
            Err(Error::file(path, format!("its name does not end like a displacement field; mireg reads {FORMATS}")))
        }
    }?;
    let field = vectors.field();
    match leaves_plane(&field) {
        true => Err(Error::file(
            path,
            "takes points of its one slice out of the plane; mireg reads 2-D fields that stay in it",
        )),
        false => Ok(field),
    }
}

/// Writes a displacement field in the format that the end of the name says: `.nii`, `.nii.gz`, `.mha` (compressed), `.mhd` with a `.raw` beside it
/// or `.nrrd` (compressed); that of a 2-D image with 2 numbers a voxel. Numbers are f32, vectors LPS mm.
///
/// greedy takes NIfTI, ANTs all but `.mhd`, and SimpleITK all of them:
/// `SimpleITK.DisplacementFieldTransform(SimpleITK.ReadImage("field.nii.gz", SimpleITK.sitkVectorFloat64))`.
///
/// # Errors
/// [`Error::File`] for a name of another end, for a field that leads points of a 2-D image out of its plane, and where the file cannot be
/// written; [`Error::Option`] where vectors and grid differ in number.
pub fn write(path: &Path, field: &Field) -> Result<()> {
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
    let channels = channels(geometry);
    let numbers = || vectors.iter().flat_map(|vector| &vector[..channels]).copied().collect::<Vec<_>>();
    match Format::of(path) {
        Some(Format::NiftiGz) => nifti::write_field(path, geometry, &planes(vectors, channels), true),
        Some(Format::Nifti) => nifti::write_field(path, geometry, &planes(vectors, channels), false),
        Some(Format::Mha) => metaimage::write_field_mha(path, geometry, &numbers(), channels),
        Some(Format::Mhd) => metaimage::write_field_mhd(path, geometry, &numbers(), channels),
        Some(Format::Nrrd) => nrrd::write_field(path, geometry, &numbers(), channels),
        _ => Err(Error::file(
            path,
            format!("its name does not end like a file that holds a displacement field; mireg writes {FORMATS}"),
        )),
    }
}

const FORMATS: &str = ".nii.gz, .nii, .mha, .mhd and .nrrd";

impl Vectors {
    fn field(self) -> Field {
        let Self { geometry, numbers, order } = self;
        let voxels = geometry.voxels();
        let channels = numbers.len() / voxels;
        let number = |voxel: usize, channel: usize| match order {
            _ if channel >= channels => 0.0,
            Order::Voxels => numbers[voxel * channels + channel],
            Order::Planes => numbers[voxel + channel * voxels],
        };
        let vectors = (0..voxels).map(|voxel| [0, 1, 2].map(|channel| number(voxel, channel))).collect();
        Field { geometry, vectors }
    }
}

/// Numbers a voxel.
fn channels(geometry: &Geometry) -> usize {
    geometry.dimensions()
}

fn planes(vectors: &[[f32; 3]], channels: usize) -> Vec<f32> {
    (0..channels).flat_map(|channel| vectors.iter().map(move |vector| vector[channel])).collect()
}

fn leaves_plane(field: &Field) -> bool {
    channels(&field.geometry) == 2 && field.vectors.iter().any(|vector| vector[2] != 0.0)
}
