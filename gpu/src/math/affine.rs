//! Maps a voxel of the fixed image to its position in the moving image, by three fused multiply-adds per coordinate.
//! The terms are added in the order x, y, z, so that a loop along z can reuse the sum of the other terms.

#[cfg(target_arch = "nvptx64")]
use cuda_std::GpuFloat;

/// A 3x4 matrix that takes a voxel of the fixed image to a position in the moving image, both in voxels.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Affine {
    /// One row per coordinate of the moving image: the coefficients of x, y and z, then the constant.
    pub rows: [[f32; 4]; 3],
}

/// Returns the sum of the constant and the x term of each coordinate.
#[inline(always)]
pub fn from_x(affine: &Affine, x: u32) -> [f32; 3] {
    affine.rows.map(|row| (x as f32).mul_add(row[0], row[3]))
}

/// Adds the y term to the result of [`from_x`].
#[inline(always)]
pub fn add_y(affine: &Affine, position: [f32; 3], y: u32) -> [f32; 3] {
    let y = y as f32;
    let [a, b, c] = &affine.rows;
    [y.mul_add(a[1], position[0]), y.mul_add(b[1], position[1]), y.mul_add(c[1], position[2])]
}

/// Adds the z term to the result of [`add_y`], which gives the position.
#[inline(always)]
pub fn add_z(affine: &Affine, position: [f32; 3], z: u32) -> [f32; 3] {
    add_plane(affine, position, z as f32)
}

/// [`add_z`] with z as a float.
#[inline(always)]
pub fn add_plane(affine: &Affine, position: [f32; 3], z: f32) -> [f32; 3] {
    let [a, b, c] = &affine.rows;
    [z.mul_add(a[2], position[0]), z.mul_add(b[2], position[1]), z.mul_add(c[2], position[2])]
}

/// Returns the position of a voxel in the moving image, in voxels, with the same bits as the three steps give.
#[inline(always)]
pub fn position(affine: &Affine, [x, y, z]: [u32; 3]) -> [f32; 3] {
    add_z(affine, add_y(affine, from_x(affine, x), y), z)
}
