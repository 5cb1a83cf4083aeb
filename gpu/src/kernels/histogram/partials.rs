//! The sum of partial histograms in global memory (the parallel reduction of Shams 2009, section 3.8).

use crate::params::Partials;
use cuda_std::kernel;
use cuda_std::thread::{block_idx_y, grid_dim_y, index_1d};

/// Adds partial histograms to the joint histogram and sets them to 0. One thread per pair of bins along x, in blocks of
/// any size; the blocks along y divide the partial histograms among them.
///
/// # Safety
/// The slices are as long as their documentation says.
#[kernel]
pub unsafe fn add_partials(p: Partials) {
    let pair = index_1d();
    if pair >= p.pairs {
        return;
    }
    let (mut partial, mut sum) = (block_idx_y(), 0);
    while partial < p.partials_len {
        let at = partial as usize * p.pairs as usize + pair as usize;
        // SAFETY: `pair` is below `pairs` and `partial` below `partials_len`; no other thread uses this counter.
        let count = unsafe { p.partials.get(at) };
        if count > 0 {
            // SAFETY: as above.
            unsafe { p.partials.set(at, 0) };
            sum += count;
        }
        partial += grid_dim_y();
    }
    if sum > 0 {
        // SAFETY: the joint histogram has `pairs` counters from `first` on.
        unsafe { p.counters.add((p.first + pair) as usize, sum) };
    }
}
