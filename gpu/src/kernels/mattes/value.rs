//! Computes the mutual information, and the table for its derivative, from the counts, summing in the order of
//! [`crate::math::mattes`]. Every counter is left at 0 for the next evaluation.

use crate::kernels::ordered::{fold, lane_sum};
use crate::kernels::{WARP, each_of, is_last, thread_number};
use crate::math::mattes;
use crate::params::MattesValue;
use cuda_std::shared::SharedSlice;
use cuda_std::thread::{block_idx_x, block_idx_y, block_idx_z, grid_dim_x, index_1d, sync_threads};
use cuda_std::{kernel, shared_slice, warp};

/// Threads of a block.
pub const THREADS: u32 = 128;

/// Fixed bins over which a thread of [`mattes_marginals`] sums.
pub const BINS_PER_THREAD: u32 = 16;

/// Numbers of a transform's result: see [`MattesValue::results`].
pub const RESULTS: usize = 2;

/// The most bins of an image.
const MOST_BINS: usize = 1024;

/// Sums the weights of each moving bin. One thread per moving bin along x, in thread blocks of [`THREADS`] threads. The
/// y of the grid covers the fixed bins, [`BINS_PER_THREAD`] per thread, and z is the number of the transform.
///
/// # Safety
/// The slices are as long as their documentation says.
#[kernel]
pub unsafe fn mattes_marginals(p: MattesValue) {
    let [fixed_bins, moving_bins] = p.bins;
    let (column, number) = (index_1d(), block_idx_z());
    if column >= moving_bins {
        return;
    }
    let first = column + moving_bins * fixed_bins * number;
    let (mut row, mut sum) = (block_idx_y() * BINS_PER_THREAD, 0);
    let end = if row + BINS_PER_THREAD < fixed_bins { row + BINS_PER_THREAD } else { fixed_bins };
    while row < end {
        // SAFETY: within the bins.
        sum += unsafe { p.counts.get((first + moving_bins * row) as usize) };
        row += 1;
    }
    if sum > 0 {
        // SAFETY: as above.
        unsafe { p.moving.add((column + moving_bins * number) as usize, sum) };
    }
}

/// Computes the mutual information and the table, after [`mattes_marginals`]. Thread blocks of [`THREADS`] threads, one
/// per fixed bin along x and per transform along y.
///
/// # Safety
/// As [`mattes_marginals`]; bins are [`mattes::LEAST_BINS`] to 1024.
#[kernel]
pub unsafe fn mattes_value(p: MattesValue) {
    let ratios = shared_slice![f64; MOST_BINS];
    let ([fixed_bins, moving_bins], number) = (p.bins, block_idx_y());
    let first = (block_idx_x() + fixed_bins * number) * moving_bins;
    let moving = moving_bins * number;
    each_of(moving_bins, |bin| {
        // SAFETY: within the bins.
        unsafe {
            let (count, moving) = (p.counts.get((first + bin) as usize), p.moving.get((moving + bin) as usize));
            ratios.store(bin, mattes::log_ratio(count, mattes::ln(moving)));
        }
    });
    sync_threads();
    // SAFETY: by this function's contract; whole warps and, at last, all threads of the block.
    unsafe {
        if thread_number() < WARP {
            sum_row(&p, ratios);
        }
        if number == 0 {
            fill_table(&p, ratios);
        }
        if is_last(p.done, number, grid_dim_x) {
            if thread_number() < WARP {
                sum_rows(&p);
            }
            sync_threads();
            each_of(moving_bins, |bin| p.moving.set((moving + bin) as usize, 0));
            if thread_number() == 0 {
                p.done.set(number as usize, 0);
            }
        }
    }
}

/// Sums the terms of this block's fixed bin, and sets its counters to 0.
///
/// # Safety
/// One whole warp calls it, and `ratios` has been filled for every moving bin.
#[inline(always)]
unsafe fn sum_row(p: &MattesValue, ratios: SharedSlice<f64>) {
    let row = block_idx_x() + p.bins[0] * block_idx_y();
    let at = |bin: u32| (row * p.bins[1] + bin) as usize;
    let mut counts = 0;
    // SAFETY: counters of this row, each this lane's alone.
    let read = |bin: u32| unsafe { (p.counts.get(at(bin)), ratios.load(bin)) };
    let take = |bin: u32, (count, _): (u64, f64)| {
        if count > 0 {
            // SAFETY: as for `read`.
            unsafe { p.counts.set(at(bin), 0) };
        }
        counts += count;
    };
    let sum = lane_sum(p.bins[1], read, take, |(count, ratio)| mattes::term(count, ratio));
    // SAFETY: the caller says that a whole warp comes here.
    let (sum, counts) = unsafe { (fold(sum), fold(counts)) };
    if warp::lane_id() == 0 {
        // SAFETY: `row` is a fixed bin of a transform, and its elements are this block's alone.
        unsafe {
            p.terms.set(row as usize, sum);
            p.fixed.set(row as usize, counts);
        }
    }
}

/// Writes the quadratics of this block's fixed bin.
///
/// # Safety
/// `ratios` has been filled for every moving bin.
#[inline(always)]
unsafe fn fill_table(p: &MattesValue, ratios: SharedSlice<f64>) {
    let windows = p.bins[1] - 3;
    let scale = mattes::scale(p.bins[1]);
    each_of(windows, |first| {
        // SAFETY: a window's four bins are within the bins.
        unsafe {
            let ratio = |i: u32| ratios.load(first + i);
            let [constant, linear, square] = mattes::quadratic([ratio(0), ratio(1), ratio(2), ratio(3)], scale);
            let at = 3 * (block_idx_x() * windows + first) as usize;
            p.table.set(at, constant);
            p.table.set(at + 1, linear);
            p.table.set(at + 2, square);
        }
    });
}

/// Adds up the sums of the fixed bins, which the blocks have written, and writes the result.
///
/// # Safety
/// One whole warp of the last block calls it.
#[inline(always)]
unsafe fn sum_rows(p: &MattesValue) {
    let number = block_idx_y();
    let mut all = 0;
    // SAFETY: within the bins.
    let read = |bin: u32| unsafe { p.moving.get((bin + p.bins[1] * number) as usize) };
    lane_sum(p.bins[1], read, |_, count| all += count, |_| 0.0);
    // SAFETY: the caller says that a whole warp comes here.
    let all = unsafe { warp::shuffle_idx(warp::ALL, fold(all), 0) };
    let ln_all = mattes::ln(all);
    // SAFETY: `lane_sum` reads below the fixed bins; the other blocks' sums are seen since `is_last`.
    let read = |bin: u32| unsafe {
        let at = (bin + p.bins[0] * number) as usize;
        (p.terms.load_relaxed(at), p.fixed.load_relaxed(at))
    };
    let sum = lane_sum(p.bins[0], read, |_, _| (), |(terms, fixed)| mattes::row_term(terms, fixed, ln_all));
    // SAFETY: as above.
    let sum = unsafe { fold(sum) };
    if warp::lane_id() == 0 {
        let result = RESULTS * number as usize;
        // SAFETY: `results` has two numbers for each transform, which this lane alone writes.
        unsafe {
            p.results.set(result, mattes::finish(sum, all));
            p.results.set(result + 1, all as f64);
        }
    }
}
