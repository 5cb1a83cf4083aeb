//! The derivative of the mutual information by the map, summed in the order of [`crate::math::mattes`]. Each warp sums
//! rows of the fixed image, and a second kernel folds the rows.

use super::Sample;
use crate::kernels::ordered::{fold, lane_sum};
use crate::kernels::{WARP, each_of, is_last, thread_number, warp_number};
use crate::math::mattes::{self, BLOCK, RowSums};
use crate::math::{affine, interpolate};
use crate::params::{MattesFold, MattesSlope};
use cuda_std::global::DeviceSlice;
use cuda_std::shared::{self, SharedSlice};
use cuda_std::thread::{block_dim_y, block_idx_x, grid_dim_x, sync_threads, thread_idx_x, thread_idx_y};
use cuda_std::{kernel, warp};

/// The number of sums of a row: see [`RowSums`].
pub const SUMS_PER_ROW: usize = 6;

/// Coefficients of a map.
pub const COEFFICIENTS: usize = 12;

/// Threads of a block of [`mattes_fold`]: one warp per coefficient of a map.
pub const FOLD_THREADS: u32 = COEFFICIENTS as u32 * WARP;

/// [`BLOCK`]s of rows that a thread block of [`mattes_fold`] folds.
pub const BLOCKS_PER_FOLD: u32 = COEFFICIENTS as u32;

/// Sums rows, with windows for the moving image. Thread blocks of ([`WARP`], rows), at most 1024 threads, with
/// `table_words` words of dynamic shared memory; any number of blocks along x.
///
/// # Safety
/// The slices are as long as their documentation and the sizes say, with the moving image's padding; every size is at least 1, bins are
/// at least [`mattes::LEAST_BINS`].
#[kernel]
pub unsafe fn mattes_slope(p: MattesSlope) {
    // SAFETY: by this function's contract.
    unsafe { sum::<false>(&p) }
}

/// Sums rows, with windows for both images; otherwise as [`mattes_slope`].
///
/// # Safety
/// As [`mattes_slope`].
#[kernel]
pub unsafe fn mattes_slope_both(p: MattesSlope) {
    // SAFETY: by this function's contract.
    unsafe { sum::<true>(&p) }
}

#[inline(always)]
unsafe fn sum<const BOTH: bool>(p: &MattesSlope) {
    // SAFETY: the launcher gives as many words.
    let copy = unsafe { shared::dynamic::<f32>(0, p.table_words) };
    // SAFETY: `i` is below `table_words`, which both the table and the shared memory have; the word is this thread's alone until the
    // barrier.
    each_of(p.table_words, |i| unsafe { copy.store(i, p.table.get_cached(i as usize)) });
    sync_threads();
    match p.table_words > 0 {
        // SAFETY: by this function's contract; the table was copied whole before the barrier.
        true => unsafe { sum_rows::<SharedSlice<f32>, BOTH>(p, copy) },
        // SAFETY: by this function's contract.
        false => unsafe { sum_rows::<DeviceSlice<f32>, BOTH>(p, p.table) },
    }
}

/// Sums this warp's share of the rows.
#[inline(always)]
unsafe fn sum_rows<T: Table, const BOTH: bool>(p: &MattesSlope, table: T) {
    let [width, height, depth] = p.images.fixed_size;
    // SAFETY: sizes are at least 1; without this line a division by zero would bring a panic into the PTX.
    unsafe { core::hint::assert_unchecked(height > 0) };
    let mut row = block_idx_x() * block_dim_y() + thread_idx_y();
    while row < height * depth {
        let (y, z) = (row % height, row / height);
        let mut sums = RowSums::default();
        // SAFETY: called with `x` below the width, so that the voxel is in the fixed image.
        let read = |x: u32| unsafe {
            Sample::read(&p.images, x + width * row, affine::position(&p.images.transform, [x, y, z]))
        };
        let mut x = thread_idx_x();
        // Two at a time, so that the reads overlap.
        // SAFETY: the voxels are in the fixed image.
        unsafe {
            while x + WARP < width {
                let (a, b) = (read(x), read(x + WARP));
                a.add::<T, BOTH>(p, table, x, &mut sums);
                b.add::<T, BOTH>(p, table, x + WARP, &mut sums);
                x += 2 * WARP;
            }
            if x < width {
                read(x).add::<T, BOTH>(p, table, x, &mut sums);
            }
            store_folded(p, row, &sums);
        }
        row += grid_dim_x() * block_dim_y();
    }
}

impl Sample {
    /// Adds the sample's share to the sums, which is 0 if it is outside or masked. There is no branch for that case,
    /// since the compiler would move loads behind it, and the loads of two samples would not overlap.
    #[inline(always)]
    unsafe fn add<T: Table, const BOTH: bool>(self, p: &MattesSlope, table: T, x: u32, sums: &mut RowSums) {
        let [fixed_bins, moving_bins] = p.images.bins;
        let counts = self.counts::<BOTH>(fixed_bins);
        // Outside, the fractions may be any number.
        let fraction = |axis: usize| if counts { self.fraction[axis] } else { 0.0 };
        let (value, derivatives) = interpolate::linear_slope(self.words, [fraction(0), fraction(1), fraction(2)]);
        let last = interpolate::last(p.images.moving_size);
        let derivatives = interpolate::inner(derivatives, self.position, last);
        // SAFETY: interpolated values lie between stored ones.
        let (first, into) = unsafe { mattes::window(value, moving_bins, mattes::scale(moving_bins)) };
        let windows = moving_bins - 3;
        // SAFETY: windows lie within the bins.
        let at = |row: u32| unsafe { table.quadratic(row * windows + first) };
        let quadratic = if BOTH {
            // SAFETY: the fixed value is a stored one or the highest number.
            let (row, into) = unsafe { mattes::window(self.fixed() as f32, fixed_bins, mattes::scale(fixed_bins)) };
            mattes::mix([at(row), at(row + 1), at(row + 2), at(row + 3)], mattes::cubic(into).0)
        } else {
            at(if counts { self.fixed() } else { 0 })
        };
        sums.add(x, if counts { mattes::slope(quadratic, into) } else { 0.0 }, derivatives);
    }
}

/// A table of quadratics, in shared or in global memory.
trait Table: Copy {
    /// Returns the quadratic at index `number`, which is `first + windows * fixed_bin`.
    ///
    /// # Safety
    /// The table has it.
    unsafe fn quadratic(self, number: u32) -> [f32; 3];
}

impl Table for SharedSlice<f32> {
    #[inline(always)]
    unsafe fn quadratic(self, number: u32) -> [f32; 3] {
        // SAFETY: by this function's contract.
        unsafe { [self.load(3 * number), self.load(3 * number + 1), self.load(3 * number + 2)] }
    }
}

impl Table for DeviceSlice<f32> {
    #[inline(always)]
    unsafe fn quadratic(self, number: u32) -> [f32; 3] {
        let at = 3 * number as usize;
        // SAFETY: by this function's contract.
        unsafe { [self.get_cached(at), self.get_cached(at + 1), self.get_cached(at + 2)] }
    }
}

/// Folds the six sums of the lanes and stores them. Whole warps call this function.
///
/// Sums are folded in pairs: one half of the lanes continues with the one sum, the other half with the other, so that
/// one shuffle folds both.
#[inline(always)]
unsafe fn store_folded(p: &MattesSlope, row: u32, sums: &RowSums) {
    let lane = thread_idx_x();
    let [a, b, c] = sums.ones;
    let [d, e, f] = sums.xs;
    // SAFETY: whole warps call this function.
    let exchange = |sum: f32, half: u32| unsafe { warp::shuffle_xor(warp::ALL, sum, half) };
    // Lanes without this bit continue with the first sum, lanes with it with the second.
    let pair = |first: f32, second: f32, half: u32| {
        let upper = lane & half != 0;
        let (keep, give) = if upper { (second, first) } else { (first, second) };
        keep + exchange(give, half)
    };
    let (ab, cd, ef) = (pair(a, b, 16), pair(c, d, 16), pair(e, f, 16));
    let (abcd, ef) = (pair(ab, cd, 8), ef + exchange(ef, 8));
    let all = pair(abcd, ef, 4);
    let all = all + exchange(all, 2);
    let all = all + exchange(all, 1);
    // Bits 16, 8 and 4 of the lane number are the bits of the number of its sum, lowest first. e and f are in two
    // groups of lanes each.
    let number = lane >> 4 | (lane >> 3 & 1) << 1 | (lane >> 2 & 1) << 2;
    if lane & 3 == 0 && number < SUMS_PER_ROW as u32 {
        // SAFETY: there are six numbers for each row.
        unsafe { p.rows.set(SUMS_PER_ROW * row as usize + number as usize, all) };
    }
}

/// Folds the rows' sums to the derivative by the map's twelve coefficients. Thread blocks of [`FOLD_THREADS`], one for
/// each [`BLOCKS_PER_FOLD`] [`BLOCK`]s of rows.
///
/// # Safety
/// The slices are as long as their documentation says; the height is at least 1.
#[kernel]
pub unsafe fn mattes_fold(p: MattesFold) {
    let (lane, me) = (warp::lane_id(), warp_number());
    let block = block_idx_x() * BLOCKS_PER_FOLD + me;
    let row = block * BLOCK as u32 + lane;
    // SAFETY: by this function's contract; whole warps and, at last, all threads of the block.
    unsafe {
        core::hint::assert_unchecked(p.height > 0);
        let sums = if row < p.rows_len { row_sums(&p, row) } else { RowSums::default() };
        let [a, b, c] = sums.by_map(row % p.height, row / p.height);
        let store = |number: u32, value: f64| {
            let sum = fold(value);
            if lane == 0 && block < p.blocks_len {
                p.blocks.set((number * p.blocks_len + block) as usize, sum);
            }
        };
        let store_row = |first: u32, row: [f64; 4]| {
            store(first, row[0]);
            store(first + 1, row[1]);
            store(first + 2, row[2]);
            store(first + 3, row[3]);
        };
        store_row(0, a);
        store_row(4, b);
        store_row(8, c);
        if is_last(p.done, 0, grid_dim_x) {
            let read = |block: u32| p.blocks.load_relaxed((me * p.blocks_len + block) as usize);
            let sum = fold(lane_sum(p.blocks_len, read, |_, _| (), |sum| sum));
            if lane == 0 {
                p.results.set((p.result + me) as usize, sum);
            }
            if thread_number() == 0 {
                p.done.set(0, 0);
            }
        }
    }
}

/// A row's sums.
#[inline(always)]
unsafe fn row_sums(p: &MattesFold, row: u32) -> RowSums {
    // SAFETY: there are six numbers for each row.
    let sum = |i: usize| unsafe { p.rows.get_cached(SUMS_PER_ROW * row as usize + i) };
    RowSums { ones: [sum(0), sum(1), sum(2)], xs: [sum(3), sum(4), sum(5)] }
}
