//! Makes the header of a NIfTI-1 file to write.

use super::form::Form;
use super::header::{LENGTHS, VECTORS};
use crate::io::check;
use crate::{Geometry, PixelType};

/// The offset of the voxels in a written file: after the header and a word that says that there is no extension.
const WRITTEN: usize = 352;

/// The bytes of a new file before the voxels. Each voxel has `numbers` numbers; if that is more than 1, they are
/// vectors.
pub fn header(geometry: &Geometry, pixel: PixelType, numbers: usize) -> Result<Vec<u8>, String> {
    let size = geometry.size;
    let [Ok(nx), Ok(ny), Ok(nz)] = size.map(i16::try_from) else {
        return Err(format!("{} voxels are too many for NIfTI-1; write .mha instead", check::by(size)));
    };
    let form = Form::of(geometry);
    let (quaternion, qfac) = form.quaternion();
    let spacing = geometry.spacing.as_vec3().to_array();
    let (datatype, bits) = (datatype(pixel), 8 * pixel.bytes() as i16);
    let (dimensions, intent) = match numbers {
        1 => (geometry.dimensions() as i16, 0),
        _ => (5, VECTORS as i16),
    };

    let mut bytes = vec![0; WRITTEN];
    let mut put = |at: usize, field: &[u8]| bytes[at..at + field.len()].copy_from_slice(field);
    put(0, &(LENGTHS[0] as i32).to_le_bytes());
    put(38, b"r");
    put(40, &[dimensions, nx, ny, nz, 1, numbers as i16, 1, 1].map(i16::to_le_bytes).concat());
    put(68, &[intent, datatype, bits].map(i16::to_le_bytes).concat());
    put(76, &[qfac, spacing[0], spacing[1], spacing[2]].map(f32::to_le_bytes).concat());
    put(108, &[WRITTEN as f32, 1.0, 0.0].map(f32::to_le_bytes).concat());
    put(123, &[2]);
    put(148, b"mireg");
    put(252, &[1, 1].map(i16::to_le_bytes).concat());
    put(256, &quaternion.map(f32::to_le_bytes).concat());
    put(268, &form.origin.as_vec3().to_array().map(f32::to_le_bytes).concat());
    put(280, &form.rows().as_flattened().iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>());
    put(344, b"n+1\0");
    Ok(bytes)
}

fn datatype(pixel: PixelType) -> i16 {
    match pixel {
        PixelType::U8 => 2,
        PixelType::I8 => 256,
        PixelType::U16 => 512,
        PixelType::I16 => 4,
        PixelType::U32 => 768,
        PixelType::I32 => 8,
        PixelType::U64 => 1280,
        PixelType::I64 => 1024,
        PixelType::F32 => 16,
        PixelType::F64 => 64,
    }
}
