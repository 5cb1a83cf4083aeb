//! Converts displacements in voxels to vectors in mm, in double precision. Products are summed in the order x, y, z,
//! constant, without fused multiply-adds.

/// Maps of points as 3x4 matrices by rows, the constant last. A voxel x with the displacement u is at `own`(x), and is
/// moved to `to`(`from`(x) + u), both in LPS mm.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VectorMaps {
    pub from: [[f64; 4]; 3],
    pub to: [[f64; 4]; 3],
    pub own: [[f64; 4]; 3],
}

/// Returns the vector by which a voxel is moved, in mm.
#[inline(always)]
pub fn vector(maps: &VectorMaps, voxel: [u32; 3], displacement: [f32; 3]) -> [f32; 3] {
    let voxel = voxel.map(f64::from);
    let ([x, y, z], [u, v, w]) = (map(&maps.from, voxel), displacement.map(f64::from));
    let (to, own) = (map(&maps.to, [x + u, y + v, z + w]), map(&maps.own, voxel));
    [(to[0] - own[0]) as f32, (to[1] - own[1]) as f32, (to[2] - own[2]) as f32]
}

#[inline(always)]
fn map(rows: &[[f64; 4]; 3], [x, y, z]: [f64; 3]) -> [f64; 3] {
    rows.map(|[a, b, c, constant]| a * x + b * y + c * z + constant)
}
