//! Volumes in strips. A plane is cut along x into strips of [`WIDTH`] voxels, which lie one after the other in memory, each with all its
//! rows. So four rows of a strip of words are 128 bytes, a line of memory, and what a warp samples in a patch of 8 x 4 voxels lies in
//! few lines. The planes follow each other as ever.

/// Voxels of a strip along x.
pub const WIDTH: u32 = 8;

/// Voxels of a strip in a plane of a volume of this size.
#[inline(always)]
pub const fn strip(size: [u32; 3]) -> u32 {
    WIDTH * size[1]
}

/// Voxels from one plane to the next: its strips, of which the last may reach beyond the rows.
#[inline(always)]
pub const fn plane(size: [u32; 3]) -> u32 {
    strip(size) * size[0].div_ceil(WIDTH)
}

/// The index in memory of a voxel.
#[inline(always)]
pub const fn index([x, y, z]: [u32; 3], size: [u32; 3]) -> u32 {
    x % WIDTH + WIDTH * y + strip(size) * (x / WIDTH) + plane(size) * z
}

/// The voxel of an index in memory. Its x may lie beyond the rows.
///
/// # Safety
/// No size is 0.
#[inline(always)]
pub unsafe fn voxel(index: u32, size: [u32; 3]) -> [u32; 3] {
    let (strip, plane) = (strip(size), plane(size));
    // SAFETY: as this function's; without it a division by zero would bring a panic into the PTX.
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
