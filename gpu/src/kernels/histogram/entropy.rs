//! Counts to entropies, MI, NMI and correlation ratios in one launch, in the order of [`crate::math::entropy`].
//!
//! A warp sums a column of the joint histogram (one moving bin), lane by lane, and folds the lanes by shuffles. The block that finds
//! itself last to finish then sums the columns and both marginals. Every counter is left at 0 for the next evaluation.

use super::ordered::{fold, lane_sum};
use super::{is_last, thread_number};
use crate::math::correlation::{self, Moments};
use crate::math::entropy::{LANES, Sums, finish, term};
use crate::params::Entropy;
use cuda_std::global::DeviceSliceMut;
use cuda_std::shared::SharedSlice;
use cuda_std::thread::{block_idx_x, block_idx_y, sync_threads};
use cuda_std::{kernel, shared_slice, warp};

/// Threads of a block.
pub const THREADS: u32 = 256;

/// Columns that a block sums: one a warp.
pub const COLUMNS: u32 = THREADS / LANES as u32;

/// Numbers that make a result.
pub const RESULTS: usize = 8;

/// Most bins a side.
const MOST_BINS: usize = 1024;

/// The entropies of a batch of joint histograms: blocks of [`THREADS`]; x of the grid is columns by [`COLUMNS`], y the histogram.
///
/// # Safety
/// The slices are as long as their documentation says; bins are 1 to 1024.
#[kernel]
pub unsafe fn entropies(p: Entropy) {
    let rows = Rows { counts: shared_slice![u32; MOST_BINS], sums: shared_slice![u64; MOST_BINS] };
    // SAFETY: as this function's.
    unsafe {
        sum_columns(&p, rows);
        if is_last(p.done, block_idx_y()) {
            sum_marginals(&p);
        }
    }
}

/// A block's part of the fixed image's marginal: counts and, where ratios are wanted, sums of the moving image's bin numbers.
#[derive(Clone, Copy)]
struct Rows {
    counts: SharedSlice<u32>,
    sums: SharedSlice<u64>,
}

/// Sums this block's columns and adds its part of the fixed image's marginal.
#[inline(always)]
unsafe fn sum_columns(p: &Entropy, rows: Rows) {
    let [fixed_bins, moving_bins] = p.bins;
    let ratios = p.ratios != 0;
    each_row(p, |row| unsafe {
        rows.counts.store(row, 0);
        if ratios {
            rows.sums.store(row, 0);
        }
    });
    sync_threads();
    let column = block_idx_x() * COLUMNS + thread_number() / LANES as u32;
    if column < moving_bins {
        let first = (block_idx_y() * moving_bins + column) * fixed_bins;
        let (mut counts, mut bins) = (0, 0);
        // SAFETY: counters of this column, each this lane's alone.
        let read = |row: u32| unsafe { p.counters.get((first + row) as usize) };
        let take = |row: u32, count: u32| {
            if count > 0 {
                unsafe { p.counters.set((first + row) as usize, 0) };
                unsafe { rows.counts.add(row, count) };
                if ratios {
                    unsafe { rows.sums.add(row, u64::from(column) * u64::from(count)) };
                    bins += u64::from(row) * u64::from(count);
                }
            }
            counts += count;
        };
        let sum = lane_sum(fixed_bins, read, take, term);
        let (sum, counts) = unsafe { (fold(sum), warp::reduce_add(warp::ALL, counts)) };
        let bins = if ratios { unsafe { fold(bins) } } else { 0 };
        if warp::lane_id() == 0 {
            let at = (block_idx_y() * moving_bins + column) as usize;
            unsafe { p.columns.set(at, sum) };
            unsafe { p.moving.set(at, counts) };
            if ratios {
                unsafe { p.moving_sums.set(at, bins) };
            }
        }
    }
    sync_threads();
    each_row(p, |row| unsafe {
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
    /// The fixed image's for 0, else the moving one's.
    #[inline(always)]
    fn of(p: &Entropy, image: u32) -> Self {
        let [fixed_bins, moving_bins] = p.bins;
        match image {
            0 => Self { counts: p.fixed, sums: p.fixed_sums, first: block_idx_y() * fixed_bins, bins: fixed_bins },
            _ => Self { counts: p.moving, sums: p.moving_sums, first: block_idx_y() * moving_bins, bins: moving_bins },
        }
    }

    /// The counts of a bin. Other blocks wrote them: a plain read could find an old copy.
    #[inline(always)]
    unsafe fn count(&self, bin: u32) -> u32 {
        unsafe { self.counts.load_relaxed((self.first + bin) as usize) }
    }

    /// The sum of a bin, read as its counts.
    #[inline(always)]
    unsafe fn sum(&self, bin: u32) -> u64 {
        unsafe { self.sums.load_relaxed((self.first + bin) as usize) }
    }
}

/// Sums the columns and both marginals, one warp each, and writes the result.
#[inline(always)]
unsafe fn sum_marginals(p: &Entropy) {
    let [fixed_bins, moving_bins] = p.bins;
    let sums = shared_slice![f64; 3];
    let total = shared_slice![u32; 1];
    let ratios = shared_slice![f64; 2];
    let (lane, me) = (warp::lane_id(), thread_number() / LANES as u32);
    let marginal = Marginal::of(p, me);
    let mut all = Moments::default();
    let sum = if me < 2 {
        let read = |bin: u32| unsafe { marginal.count(bin) };
        lane_sum(marginal.bins, read, |bin, count| all.add(bin, count), term)
    } else {
        let first = block_idx_y() * moving_bins;
        let read = |column: u32| unsafe { p.columns.load_relaxed((first + column) as usize) };
        lane_sum(moving_bins, read, |_, _| (), |sum| sum)
    };
    let (sum, counts) = unsafe { (fold(sum), warp::reduce_add(warp::ALL, all.counts as u32)) };
    if lane == 0 && me < 3 {
        unsafe { sums.store(me, sum) };
    }
    if lane == 0 && me == 1 {
        unsafe { total.store(0, counts) };
    }
    if p.ratios != 0 {
        unsafe { correlate(&marginal, me, all, ratios) };
    }
    sync_threads();
    each_row(p, |row| unsafe {
        p.fixed.set((block_idx_y() * fixed_bins + row) as usize, 0);
        if p.ratios != 0 {
            p.fixed_sums.set((block_idx_y() * fixed_bins + row) as usize, 0);
        }
    });
    if thread_number() == 0 {
        unsafe { p.done.set(block_idx_y() as usize, 0) };
        let sum = |i: u32| unsafe { sums.load(i) };
        let counts = u64::from(unsafe { total.load(0) });
        let ratio = |i: u32| if p.ratios != 0 { unsafe { ratios.load(i) } } else { 0.0 };
        let result = finish(Sums { fixed: sum(0), moving: sum(1), joint: sum(2), counts });
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

/// The correlation ratios: that of the moving image given the fixed one by warp 0, the other by warp 1. `all` is a lane's part of the
/// moments of the warp's own image.
#[inline(always)]
unsafe fn correlate(marginal: &Marginal, me: u32, all: Moments, ratios: SharedSlice<f64>) {
    let moments = shared_slice![u64; 6];
    let all = unsafe { [fold(all.counts), fold(all.sum), fold(all.squares)] };
    if warp::lane_id() == 0 && me < 2 {
        unsafe { moments.store(3 * me, all[0]) };
        unsafe { moments.store(3 * me + 1, all[1]) };
        unsafe { moments.store(3 * me + 2, all[2]) };
    }
    sync_threads();
    if me < 2 {
        let of_other = |i: u32| unsafe { moments.load(3 * (1 - me) + i) };
        let other = Moments { counts: of_other(0), sum: of_other(1), squares: of_other(2) };
        let read = |bin: u32| unsafe { (marginal.count(bin), marginal.sum(bin)) };
        let terms = lane_sum(marginal.bins, read, |_, _| (), |(count, sum)| correlation::term(count, sum, &other));
        let terms = unsafe { fold(terms) };
        if warp::lane_id() == 0 {
            unsafe { ratios.store(me, correlation::ratio(terms, &other)) };
        }
    }
}

/// Calls `each` for this thread's share of the fixed bins.
#[inline(always)]
fn each_row(p: &Entropy, each: impl Fn(u32)) {
    let mut row = thread_number();
    while row < p.bins[0] {
        each(row);
        row += THREADS;
    }
}
