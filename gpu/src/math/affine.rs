//! Voxel of the fixed image to position in the moving image.

use crate::params::Affine;
#[cfg(target_arch = "nvptx64")]
use cuda_std::GpuFloat;

/// The part of the position that a row of voxels shares: all but the x term.
#[inline(always)]
pub fn row(affine: &Affine, y: u32, z: u32) -> [f32; 3] {
    let (y, z) = (y as f32, z as f32);
    let [a, b, c] = &affine.rows;
    [
        y.mul_add(a[1], z.mul_add(a[2], a[3])),
        y.mul_add(b[1], z.mul_add(b[2], b[3])),
        y.mul_add(c[1], z.mul_add(c[2], c[3])),
    ]
}

/// The position of voxel `x` of a [`row`].
#[inline(always)]
pub fn along(affine: &Affine, row: [f32; 3], x: u32) -> [f32; 3] {
    let x = x as f32;
    let [a, b, c] = &affine.rows;
    [x.mul_add(a[0], row[0]), x.mul_add(b[0], row[1]), x.mul_add(c[0], row[2])]
}
