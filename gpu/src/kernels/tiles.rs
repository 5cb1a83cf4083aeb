//! The tiles into which a fixed image is divided: [`WARP`] voxels along x, one row for each warp of a thread block
//! along y, and several planes along z. A thread takes a column of voxels of a tile, along z, so that its reads of the
//! moving image stay close together.

use crate::kernels::WARP;
use cuda_std::thread::{block_dim_y, thread_idx_x, thread_idx_y};

/// The tiles of a fixed image. Thread blocks are ([`WARP`], rows).
#[derive(Clone, Copy)]
pub struct Tiles {
    depth: u32,
    /// Tiles along x, y and z.
    counts: [u32; 3],
}

impl Tiles {
    /// Divides an image of `size` into tiles of `depth` planes.
    ///
    /// # Safety
    /// Each size and the depth is at least 1.
    #[inline(always)]
    pub unsafe fn new(size: [u32; 3], depth: u32) -> Self {
        // SAFETY: by this function's contract; without it a division by zero would bring a panic into the PTX.
        unsafe { core::hint::assert_unchecked(block_dim_y() > 0 && depth > 0) };
        let counts = [size[0].div_ceil(WARP), size[1].div_ceil(block_dim_y()), size[2].div_ceil(depth)];
        // SAFETY: sizes are at least 1.
        unsafe { core::hint::assert_unchecked(counts[0] > 0 && counts[1] > 0) };
        Self { depth, counts }
    }

    /// The number of tiles.
    #[inline(always)]
    pub fn len(self) -> u32 {
        self.counts[0] * self.counts[1] * self.counts[2]
    }

    /// Returns the calling thread's first voxel in a tile. It may be beyond the end of the image along x or y.
    #[inline(always)]
    pub fn first_voxel(self, tile: u32) -> [u32; 3] {
        let (row, column) = (tile / self.counts[0], tile % self.counts[0]);
        let x = column * WARP + thread_idx_x();
        let y = row % self.counts[1] * block_dim_y() + thread_idx_y();
        [x, y, row / self.counts[1] * self.depth]
    }
}
