//! Voxel of the fixed image to position in the moving image: three fused multiply-adds a coordinate, x first and z last, so that
//! a run along any axis can keep what does not change.

use crate::params::Affine;
#[cfg(target_arch = "nvptx64")]
use cuda_std::GpuFloat;

/// The constant and the x term.
#[inline(always)]
pub fn from_x(affine: &Affine, x: u32) -> [f32; 3] {
    affine.rows.map(|row| (x as f32).mul_add(row[0], row[3]))
}

/// The y term on top.
#[inline(always)]
pub fn add_y(affine: &Affine, position: [f32; 3], y: u32) -> [f32; 3] {
    let y = y as f32;
    let [a, b, c] = &affine.rows;
    [y.mul_add(a[1], position[0]), y.mul_add(b[1], position[1]), y.mul_add(c[1], position[2])]
}

/// The z term on top of both: the position.
#[inline(always)]
pub fn add_z(affine: &Affine, position: [f32; 3], z: u32) -> [f32; 3] {
    let z = z as f32;
    let [a, b, c] = &affine.rows;
    [z.mul_add(a[2], position[0]), z.mul_add(b[2], position[1]), z.mul_add(c[2], position[2])]
}

/// The position of a voxel, where nothing is kept.
#[inline(always)]
pub fn position(affine: &Affine, [x, y, z]: [u32; 3]) -> [f32; 3] {
    add_z(affine, add_y(affine, from_x(affine, x), y), z)
}
