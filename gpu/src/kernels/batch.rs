//! Gives a thread block its transform, in launches that evaluate a batch of transforms.

use crate::kernels::thread_number;
use crate::params::Affine;
use cuda_std::global::DeviceSlice;
use cuda_std::shared_slice;
use cuda_std::thread::{block_idx_y, grid_dim_y, sync_threads};

/// Returns the transform of this thread block: `one` if the grid has a single y, else the transform in `several` at the
/// block's y.
///
/// # Safety
/// Every thread of the block calls this function, and a block has at least 12 threads. `several` has twelve
/// coefficients for each y of the grid, unless the grid has a single y.
#[inline(always)]
pub unsafe fn transform(one: &Affine, several: DeviceSlice<f32>) -> Affine {
    let coefficients = shared_slice![f32; 12];
    let (me, many) = (thread_number(), grid_dim_y() > 1);
    if many && me < 12 {
        // SAFETY: the caller says that there are twelve for this y; the slice has twelve words, one per thread.
        unsafe { coefficients.store(me, several.get((12 * block_idx_y() + me) as usize)) };
    }
    sync_threads();
    let coefficient = |row: usize, column: usize| match many {
        // SAFETY: one of the twelve words, all stored before the barrier.
        true => unsafe { coefficients.load((4 * row + column) as u32) },
        false => one.rows[row][column],
    };
    let row = |row: usize| [coefficient(row, 0), coefficient(row, 1), coefficient(row, 2), coefficient(row, 3)];
    Affine { rows: [row(0), row(1), row(2)] }
}
