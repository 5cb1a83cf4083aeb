//! Computes entropies, MI, NMI and correlation ratios from the joint histogram in one launch, summing in the order of
//! [`crate::math::entropy`].
//!
//! A warp sums a column of the joint histogram (one moving bin), one partial sum per lane, and folds the lanes by
//! shuffles. The last block to finish then sums the columns and both marginals. Every counter is left at 0 for the next
//! evaluation.

use crate::kernels::ordered::{fold, lane_sum};
use crate::kernels::{WARP, each_of, is_last, thread_number, warp_number};
use crate::math::correlation::{self, Moments};
use crate::math::entropy::{Sums, finish, term};
use crate::params::Entropy;
use cuda_std::global::DeviceSliceMut;
use cuda_std::shared::SharedSlice;
use cuda_std::thread::{block_idx_x, block_idx_y, grid_dim_x, sync_threads};
use cuda_std::{kernel, shared_slice, warp};

/// Threads of a block.
pub const THREADS: u32 = 256;

/// Columns that a thread block sums, one per warp.
pub const COLUMNS: u32 = THREADS / WARP;

/// Numbers of a result: see [`Entropy::results`].
pub const RESULTS: usize = 8;

/// The most bins of an image.
const MOST_BINS: usize = 1024;

/// Computes the entropies of a batch of joint histograms. Thread blocks of [`THREADS`] threads. Along x, the grid
/// covers the columns, [`COLUMNS`] per block; y is the number of the histogram.
///
/// # Safety
/// The slices are as long as their documentation says; bins are 1 to 1024.
#[kernel]
pub unsafe fn entropies(p: Entropy) {
    let rows = Rows { counts: shared_slice![u32; MOST_BINS], sums: shared_slice![u64; MOST_BINS] };
    // SAFETY: by this function's contract.
    unsafe {
        sum_columns(&p, rows);
        if is_last(p.done, block_idx_y(), grid_dim_x) {
            sum_marginals(&p);
        }
    }
}

/// A block's part of the fixed image's marginal: counts and, if correlation ratios are requested, sums of the moving
/// image's bin numbers.
#[derive(Clone, Copy)]
struct Rows {
    counts: SharedSlice<u32>,
    sums: SharedSlice<u64>,
}

/// Sums this block's columns and adds its part of the fixed image's marginal.
///
/// # Safety
/// As [`entropies`]; all threads of the block call it.
#[inline(always)]
unsafe fn sum_columns(p: &Entropy, rows: Rows) {
    let [fixed_bins, moving_bins] = p.bins;
    let ratios = p.ratios != 0;
    // SAFETY: `row` is below the fixed bins, at most `MOST_BINS`, and this thread's alone until the barrier.
    each_of(fixed_bins, |row| unsafe {
        rows.counts.store(row, 0);
        if ratios {
            rows.sums.store(row, 0);
        }
    });
    sync_threads();
    let column = block_idx_x() * COLUMNS + warp_number();
    if column < moving_bins {
        let first = (block_idx_y() * moving_bins + column) * fixed_bins;
        let (mut counts, mut bins) = (0, 0);
        // SAFETY: `row` is below the fixed bins, so that the counter is one of this column's; it is this lane's alone.
        let read = |row: u32| unsafe { p.counters.get((first + row) as usize) };
        let take = |row: u32, count: u32| {
            if count > 0 {
                // SAFETY: as for `read`; the row's word was set to 0 before the barrier.
                unsafe {
                    p.counters.set((first + row) as usize, 0);
                    rows.counts.add(row, count);
                }
                if ratios {
                    // SAFETY: as above.
                    unsafe { rows.sums.add(row, u64::from(column) * u64::from(count)) };
                    bins += u64::from(row) * u64::from(count);
                }
            }
            counts += count;
        };
        let sum = lane_sum(fixed_bins, read, take, term);
        // SAFETY: a column belongs to a whole warp, so that all its lanes come here.
        let (sum, counts) = unsafe { (fold(sum), warp::reduce_add(warp::ALL, counts)) };
        // SAFETY: as above; `ratios` is the same for all lanes.
        let bins = if ratios { unsafe { fold(bins) } } else { 0 };
        if warp::lane_id() == 0 {
            let at = (block_idx_y() * moving_bins + column) as usize;
            // SAFETY: the column is below the moving bins, of which each transform has as many elements; they are this lane's alone.
            unsafe {
                p.columns.set(at, sum);
                p.moving.set(at, counts);
                if ratios {
                    p.moving_sums.set(at, bins);
                }
            }
        }
    }
    sync_threads();
    // SAFETY: `row` is below the fixed bins; its words were written before the barrier, and the additions are atomic.
    each_of(fixed_bins, |row| unsafe {
        let count = rows.counts.load(row);
        let at = (block_idx_y() * fixed_bins + row) as usize;
        if count > 0 {
            p.fixed.add(at, count);
            if ratios {
                p.fixed_sums.add(at, rows.sums.load(row));
            }
        }
    });
}

/// One image's marginal of this block's histogram.
struct Marginal {
    counts: DeviceSliceMut<u32>,
    /// Sums of the other image's bin numbers.
    sums: DeviceSliceMut<u64>,
    first: u32,
    bins: u32,
}

impl Marginal {
    /// Returns the marginal of the fixed image if `image` is 0, else that of the moving image.
    #[inline(always)]
    fn of(p: &Entropy, image: u32) -> Self {
        let [fixed_bins, moving_bins] = p.bins;
        match image {
            0 => Self { counts: p.fixed, sums: p.fixed_sums, first: block_idx_y() * fixed_bins, bins: fixed_bins },
            _ => Self { counts: p.moving, sums: p.moving_sums, first: block_idx_y() * moving_bins, bins: moving_bins },
        }
    }

    /// Returns the counts of a bin. Other blocks wrote them, so that a plain read could return a stale value from the
    /// L1 cache.
    ///
    /// # Safety
    /// `bin` is below `bins`.
    #[inline(always)]
    unsafe fn count(&self, bin: u32) -> u32 {
        // SAFETY: the histogram's counts begin at `first`, and the caller says that `bin` is one of them.
        unsafe { self.counts.load_relaxed((self.first + bin) as usize) }
    }

    /// Returns the sum of a bin, read in the same way as its counts.
    ///
    /// # Safety
    /// As [`count`](Self::count).
    #[inline(always)]
    unsafe fn sum(&self, bin: u32) -> u64 {
        // SAFETY: as in `count`.
        unsafe { self.sums.load_relaxed((self.first + bin) as usize) }
    }
}

/// Sums the columns and both marginals, one warp each, and writes the result.
///
/// # Safety
/// As [`entropies`]; all threads of the last block call it.
#[inline(always)]
unsafe fn sum_marginals(p: &Entropy) {
    let [fixed_bins, moving_bins] = p.bins;
    let sums = shared_slice![f64; 3];
    let total = shared_slice![u32; 1];
    let ratios = shared_slice![f64; 2];
    let (lane, me) = (warp::lane_id(), warp_number());
    let marginal = Marginal::of(p, me);
    let mut all = Moments::default();
    let sum = if me < 2 {
        // SAFETY: `lane_sum` reads below `bins`.
        let read = |bin: u32| unsafe { marginal.count(bin) };
        lane_sum(marginal.bins, read, |bin, count| all.add(bin, count), term)
    } else {
        let first = block_idx_y() * moving_bins;
        // SAFETY: `lane_sum` reads below the moving bins; the other blocks' sums are seen since `is_last`.
        let read = |column: u32| unsafe { p.columns.load_relaxed((first + column) as usize) };
        lane_sum(moving_bins, read, |_, _| (), |sum| sum)
    };
    // SAFETY: all threads of the block, and so whole warps, come here.
    let (sum, counts) = unsafe { (fold(sum), warp::reduce_add(warp::ALL, all.counts as u32)) };
    if lane == 0 && me < 3 {
        // SAFETY: `me` is below 3; one lane's word until the barrier.
        unsafe { sums.store(me, sum) };
    }
    if lane == 0 && me == 1 {
        // SAFETY: one word, one lane's until the barrier.
        unsafe { total.store(0, counts) };
    }
    if p.ratios != 0 {
        // SAFETY: `ratios` of the parameters is the same for all threads, which all come here.
        unsafe { correlate(&marginal, me, all, ratios) };
    }
    sync_threads();
    // SAFETY: `row` is below the fixed bins. This block is the last that uses the histogram's marginals, and their
    // reads are before the barrier.
    each_of(fixed_bins, |row| unsafe {
        p.fixed.set((block_idx_y() * fixed_bins + row) as usize, 0);
        if p.ratios != 0 {
            p.fixed_sums.set((block_idx_y() * fixed_bins + row) as usize, 0);
        }
    });
    if thread_number() == 0 {
        // SAFETY: there is one for each y of the grid, and every block has counted itself.
        unsafe { p.done.set(block_idx_y() as usize, 0) };
        // SAFETY: `i` is below 3; stored before the barrier.
        let sum = |i: u32| unsafe { sums.load(i) };
        // SAFETY: stored before the barrier.
        let counts = u64::from(unsafe { total.load(0) });
        // SAFETY: `i` is below 2; `correlate` stored both before the barrier.
        let ratio = |i: u32| if p.ratios != 0 { unsafe { ratios.load(i) } } else { 0.0 };
        let result = finish(Sums { fixed: sum(0), moving: sum(1), joint: sum(2), counts });
        // SAFETY: `i` is below `RESULTS`, of which each transform has as many; this thread alone writes them.
        let set = |i: usize, number: f64| unsafe { p.results.set(block_idx_y() as usize * RESULTS + i, number) };
        set(0, result.fixed);
        set(1, result.moving);
        set(2, result.joint);
        set(3, result.mi);
        set(4, result.nmi);
        set(5, result.counts as f64);
        set(6, ratio(0));
        set(7, ratio(1));
    }
}

/// Computes the correlation ratios: warp 0 that of the moving image given the fixed one, warp 1 the other. `all` is a
/// lane's part of the moments of the warp's own image.
///
/// # Safety
/// All threads of the block call it; `ratios` has two words.
#[inline(always)]
unsafe fn correlate(marginal: &Marginal, me: u32, all: Moments, ratios: SharedSlice<f64>) {
    let moments = shared_slice![u64; 6];
    // SAFETY: the caller says that all threads, and so whole warps, come here.
    let all = unsafe { [fold(all.counts), fold(all.sum), fold(all.squares)] };
    if warp::lane_id() == 0 && me < 2 {
        // SAFETY: `me` is below 2, so that the three words are among the six and this lane's alone until the barrier.
        unsafe {
            moments.store(3 * me, all[0]);
            moments.store(3 * me + 1, all[1]);
            moments.store(3 * me + 2, all[2]);
        }
    }
    sync_threads();
    if me < 2 {
        // SAFETY: `me` is below 2 and `i` below 3; stored before the barrier.
        let of_other = |i: u32| unsafe { moments.load(3 * (1 - me) + i) };
        let other = Moments { counts: of_other(0), sum: of_other(1), squares: of_other(2) };
        // SAFETY: `lane_sum` reads below `bins`.
        let read = |bin: u32| unsafe { (marginal.count(bin), marginal.sum(bin)) };
        let terms = lane_sum(marginal.bins, read, |_, _| (), |(count, sum)| correlation::term(count, sum, &other));
        // SAFETY: `me` is the warp's number, so that all its lanes come here.
        let terms = unsafe { fold(terms) };
        if warp::lane_id() == 0 {
            // SAFETY: `me` is below 2, and the word is one lane's until the barrier.
            unsafe { ratios.store(me, correlation::ratio(terms, &other)) };
        }
    }
}
