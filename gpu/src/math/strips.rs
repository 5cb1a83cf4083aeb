//! The memory layout of volumes in strips. Each plane is cut along x into strips of [`WIDTH`] voxels. The strips follow
//! each other in memory, each with all its rows. Four rows of a strip of words are then 128 bytes, one cache line, and
//! the words that a warp reads for a patch of 8 x 4 voxels are in few cache lines. Planes follow each other as in other
//! volumes.

/// Voxels of a strip along x.
pub const WIDTH: u32 = 8;

/// Returns the number of voxels of a strip in a plane of a volume of this size.
#[inline(always)]
pub const fn strip(size: [u32; 3]) -> u32 {
    WIDTH * size[1]
}

/// Returns the number of voxels from one plane to the next. The last strip of a plane may reach beyond the rows.
#[inline(always)]
pub const fn plane(size: [u32; 3]) -> u32 {
    strip(size) * size[0].div_ceil(WIDTH)
}

/// Returns the index in memory of a voxel.
#[inline(always)]
pub const fn index([x, y, z]: [u32; 3], size: [u32; 3]) -> u32 {
    x % WIDTH + WIDTH * y + strip(size) * (x / WIDTH) + plane(size) * z
}

/// Returns the voxel at an index in memory. Its x may be beyond the end of the row.
///
/// # Safety
/// No size is 0.
#[inline(always)]
pub unsafe fn voxel(index: u32, size: [u32; 3]) -> [u32; 3] {
    let (strip, plane) = (strip(size), plane(size));
    // SAFETY: by this function's contract; without it a division by zero would bring a panic into the PTX.
    unsafe { core::hint::assert_unchecked(strip > 0 && plane > 0) };
    let (z, in_plane) = (index / plane, index % plane);
    let (column, in_strip) = (in_plane / strip, in_plane % strip);
    [WIDTH * column + in_strip % WIDTH, in_strip / WIDTH, z]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_voxel_has_a_place_of_its_own() {
        for size in [[1, 1, 1], [8, 3, 2], [19, 5, 4]] {
            let words = plane(size) * size[2];
            // SAFETY: no size is 0.
            let voxels: Vec<_> = (0..words).map(|i| unsafe { voxel(i, size) }).collect();
            for (i, &at) in voxels.iter().enumerate() {
                assert_eq!(index(at, size), i as u32, "{size:?}");
            }
            let inside = voxels.iter().filter(|at| (0..3).all(|axis| at[axis] < size[axis])).count();
            assert_eq!(inside as u32, size[0] * size[1] * size[2]);
        }
    }
}
