//! Every struct that crosses the boundary to a kernel: `repr(C)`, by value, its size asserted.

/// A 3x4 matrix, row by row: voxel of the fixed image to position in the moving image.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Affine {
    /// Three rows of x, y, z and constant coefficient.
    pub rows: [[f32; 4]; 3],
}

const _: () = assert!(size_of::<Affine>() == 48);
