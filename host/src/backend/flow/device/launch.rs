//! Launches over the voxels of a grid.

use crate::Result;
use crate::backend::queue::{Kernel, Queue, Shape};
use gpu::kernels::WARP;

/// The most threads per block.
const THREADS: u32 = 256;

/// A launch shape in which every row of the grid has its warp.
fn shape<Q: Queue>(queue: &Q, [_, height, depth]: [u32; 3]) -> Shape {
    let rows = THREADS.min(queue.limits().threads) / WARP;
    Shape { grid: [(height * depth).div_ceil(rows), 1, 1], block: [WARP, rows, 1], shared_bytes: 0 }
}

/// Queues a kernel that writes at every voxel of a grid of `size`.
///
/// # Safety
/// As [`Queue::launch`].
pub unsafe fn each<Q: Queue, P: Copy + Sync>(queue: &Q, kernel: &Kernel<P>, size: [u32; 3], params: P) -> Result<()> {
    // SAFETY: as this function's.
    unsafe { queue.launch(kernel, shape(queue, size), params) }
}

/// Queues a kernel that reduces over the voxels of a grid of `size`. Each warp adds its part to a total, so there are
/// no more blocks than run at a time.
///
/// # Safety
/// As [`Queue::launch`].
pub unsafe fn sum<Q: Queue, P: Copy + Sync>(queue: &Q, kernel: &Kernel<P>, size: [u32; 3], params: P) -> Result<()> {
    let Shape { grid: [blocks, ..], block, shared_bytes } = shape(queue, size);
    let blocks = blocks.min(queue.resident(kernel, block[0] * block[1], shared_bytes)?);
    // SAFETY: as this function's.
    unsafe { queue.launch(kernel, Shape { grid: [blocks, 1, 1], block, shared_bytes }, params) }
}
