//! Counts to entropies, MI and NMI in one launch, in the order of [`crate::math::entropy`].
//!
//! A warp sums a column of the joint histogram (one moving bin), lane by lane, and folds the lanes by shuffles. The block that finds
//! itself last to finish then sums the columns and both marginals. Every counter is left at 0 for the next evaluation.

use super::thread_number;
use crate::math::entropy::{LANES, Sums, finish, term};
use crate::params::Entropy;
use cuda_std::shared::SharedSlice;
use cuda_std::thread::{block_dim_x, block_idx_x, block_idx_y, device_fence, grid_dim_x, sync_threads};
use cuda_std::{kernel, shared_slice, warp};

/// Threads of a block.
pub const THREADS: u32 = 256;

/// Columns that a block sums: one a warp.
pub const COLUMNS: u32 = THREADS / LANES as u32;

/// Numbers that make a result.
pub const RESULTS: usize = 6;

/// Most bins a side.
const MOST_BINS: usize = 256;

/// Numbers that a lane reads together.
const TOGETHER: usize = 4;

/// The entropies of a batch of joint histograms: blocks of [`THREADS`]; x of the grid is columns by [`COLUMNS`], y the histogram.
///
/// # Safety
/// The slices are as long as their documentation says; bins are 1 to 256.
#[kernel]
pub unsafe fn entropies(p: Entropy) {
    let fixed = shared_slice![u32; MOST_BINS];
    let last = shared_slice![u32; 1];
    // SAFETY: as this function's.
    unsafe {
        sum_columns(&p, fixed);
        if is_last(&p, last) {
            sum_marginals(&p);
        }
    }
}

/// Sums this block's columns and adds its part of the fixed image's marginal.
#[inline(always)]
unsafe fn sum_columns(p: &Entropy, fixed: SharedSlice<u32>) {
    let [fixed_bins, moving_bins] = p.bins;
    let me = thread_number();
    if me < fixed_bins {
        unsafe { fixed.store(me, 0) };
    }
    sync_threads();
    let column = block_idx_x() * COLUMNS + me / LANES as u32;
    if column < moving_bins {
        let first = (block_idx_y() * moving_bins + column) * fixed_bins;
        let count = |row: u32| {
            // SAFETY: a counter of this column, which is this lane's alone.
            let count = unsafe { p.counters.get((first + row) as usize) };
            if count > 0 {
                unsafe { p.counters.set((first + row) as usize, 0) };
                unsafe { fixed.add(row, count) };
            }
            count
        };
        let (sum, counts) = unsafe { sum_counts(fixed_bins, count) };
        if warp::lane_id() == 0 {
            let at = (block_idx_y() * moving_bins + column) as usize;
            unsafe { p.columns.set(at, sum) };
            unsafe { p.moving.set(at, counts) };
        }
    }
    sync_threads();
    if me < fixed_bins {
        let count = unsafe { fixed.load(me) };
        unsafe { p.fixed.add((block_idx_y() * fixed_bins + me) as usize, count) };
    }
}

/// Whether this block is the last of its histogram; then it sees what the others have written.
#[inline(always)]
unsafe fn is_last(p: &Entropy, last: SharedSlice<u32>) -> bool {
    device_fence();
    sync_threads();
    if thread_number() == 0 {
        let before = unsafe { p.done.fetch_add(block_idx_y() as usize, 1) };
        unsafe { last.store(0, u32::from(before + 1 == grid_dim_x())) };
    }
    sync_threads();
    device_fence();
    unsafe { last.load(0) == 1 }
}

/// Sums the columns and both marginals, one warp each, and writes the result.
#[inline(always)]
unsafe fn sum_marginals(p: &Entropy) {
    let [fixed_bins, moving_bins] = p.bins;
    let (fixed_first, moving_first) = ((block_idx_y() * fixed_bins) as usize, (block_idx_y() * moving_bins) as usize);
    let sums = shared_slice![f64; 3];
    let total = shared_slice![u32; 1];
    let (lane, me) = (warp::lane_id(), thread_number() / LANES as u32);
    // Other blocks wrote these: a plain read could find an old copy.
    let fixed = |i: u32| unsafe { p.fixed.load_relaxed(fixed_first + i as usize) };
    let moving = |i: u32| unsafe { p.moving.load_relaxed(moving_first + i as usize) };
    let column = |i: u32| unsafe { p.columns.load_relaxed(moving_first + i as usize) };
    let (sum, counts) = match me {
        0 => unsafe { sum_counts(fixed_bins, fixed) },
        1 => unsafe { sum_counts(moving_bins, moving) },
        _ => (unsafe { fold(lane_sum(moving_bins, column, |sum| sum)) }, 0),
    };
    if lane == 0 && me < 3 {
        unsafe { sums.store(me, sum) };
    }
    if lane == 0 && me == 1 {
        unsafe { total.store(0, counts) };
    }
    sync_threads();
    let mut i = thread_number();
    while i < fixed_bins {
        unsafe { p.fixed.set(fixed_first + i as usize, 0) };
        i += block_dim_x();
    }
    if thread_number() == 0 {
        unsafe { p.done.set(block_idx_y() as usize, 0) };
        let sum = |i: u32| unsafe { sums.load(i) };
        let counts = u64::from(unsafe { total.load(0) });
        let result = finish(Sums { fixed: sum(0), moving: sum(1), joint: sum(2), counts });
        let set = |i: usize, number: f64| unsafe { p.results.set(block_idx_y() as usize * RESULTS + i, number) };
        set(0, result.fixed);
        set(1, result.moving);
        set(2, result.joint);
        set(3, result.mi);
        set(4, result.nmi);
        set(5, result.counts as f64);
    }
}

/// The ordered sum of the terms of `n` counts, and the sum of the counts; lane 0 has both. Whole warps call it.
#[inline(always)]
unsafe fn sum_counts(n: u32, count: impl Fn(u32) -> u32) -> (f64, u32) {
    let mut counts = 0;
    let sum = lane_sum(n, count, |count| {
        counts += count;
        term(count)
    });
    unsafe { (fold(sum), warp::reduce_add(warp::ALL, counts)) }
}

/// This lane's partial sum of `n` terms, read four at a time so that the reads overlap.
#[inline(always)]
fn lane_sum<T: Copy + Default>(n: u32, read: impl Fn(u32) -> T, mut term: impl FnMut(T) -> f64) -> f64 {
    let mut sum = 0.0;
    let mut first = warp::lane_id();
    while first < n {
        let mut values = [T::default(); TOGETHER];
        for i in 0..TOGETHER {
            let at = first + (i * LANES) as u32;
            if at < n {
                values[i] = read(at);
            }
        }
        for i in 0..TOGETHER {
            // What lies beyond the end adds 0.
            sum += term(values[i]);
        }
        first += (TOGETHER * LANES) as u32;
    }
    sum
}

/// [`fold`](crate::math::entropy::fold) over the lanes of a warp; lane 0 has the sum.
#[inline(always)]
unsafe fn fold(mut sum: f64) -> f64 {
    let mut half = LANES as u32 / 2;
    while half > 0 {
        sum += unsafe { warp::shuffle_down(warp::ALL, sum, half) };
        half /= 2;
    }
    sum
}
