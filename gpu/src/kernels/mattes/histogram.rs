//! The joint histogram with Mattes windows. Each thread block has its counters in shared memory.
//!
//! Tiles, blocks and ranges are those of [`shared_atomic`](crate::kernels::histogram::shared_atomic). A sample adds
//! weights to four neighbouring counters, and neighbouring voxels have similar intensities. To reduce conflicts of
//! their atomics, the lanes of a warp begin with different ones of the four counters and, as far as memory allows, add
//! to different copies of the histogram.

use super::Sample;
use crate::kernels::tiles::Tiles;
use crate::kernels::{WARP, batch, each_of};
use crate::math::{affine, interpolate, mattes};
use crate::params::{Affine, MattesHistogram};
use cuda_std::shared::{self, SharedSlice};
use cuda_std::thread::{block_idx_x, block_idx_y, block_idx_z, grid_dim_x, sync_threads, thread_idx_x};
use cuda_std::{bits, kernel};

/// The largest useful number of copies of the histogram: with it, each lane begins at a different counter.
pub const COPIES: u32 = WARP / 4;

/// The number of words of a copy, modulo 32. With it, lanes with the same bins add in different banks.
pub const BANK_SHIFT: u32 = 4;

/// The selector, for `bits::permute`, of the first of four 16-bit numbers: its two bytes, and twice the sign bit of the
/// upper one, which is 0.
const ZERO_ABOVE: u32 = 0x9910;

/// Counts with windows for the moving image. Thread blocks of ([`WARP`], rows), at most 1024 threads, with `copies *
/// stride` words of dynamic shared memory. The z of the grid is the number of the range, and its y that of the
/// transform.
///
/// # Safety
/// The slices are as long as the sizes say, with the moving image's padding; every size and the tile's depth is at least 1, bins are at
/// least [`mattes::LEAST_BINS`], and `tiles` tiles have at most [`mattes::FILL`] voxels. `transforms` has twelve coefficients for each y of
/// the grid, unless that is 1.
#[kernel]
pub unsafe fn mattes_histogram(p: MattesHistogram) {
    // SAFETY: by this function's contract.
    unsafe { count::<false>(&p) }
}

/// Counts with windows for both images; otherwise as [`mattes_histogram`].
///
/// # Safety
/// As [`mattes_histogram`].
#[kernel]
pub unsafe fn mattes_histogram_both(p: MattesHistogram) {
    // SAFETY: by this function's contract.
    unsafe { count::<true>(&p) }
}

#[inline(always)]
unsafe fn count<const BOTH: bool>(p: &MattesHistogram) {
    // SAFETY: the launcher gives as many words.
    let words = unsafe { shared::dynamic::<u32>(0, p.copies * p.stride) };
    // SAFETY: `i` is below the number of words, and the word is this thread's alone until the barrier.
    each_of(p.copies * p.stride, |i| unsafe { words.store(i, 0) });
    // SAFETY: the grid has a y for each transform; this waits for all threads of the block.
    let affine = unsafe { batch::transform(&p.images.transform, p.transforms) };
    let counters = Counters::new(p, words);
    let [width, height, _] = p.images.fixed_size;
    // SAFETY: by this function's contract.
    let tiles = unsafe { Tiles::new(p.images.fixed_size, p.depth) };
    let (mut tile, mut taken) = (block_idx_x(), 0);
    while tile < tiles.len() {
        let [x, y, z] = tiles.first_voxel(tile);
        if x < width && y < height {
            // SAFETY: the voxels are in the fixed image.
            unsafe { count_down::<BOTH>(p, &affine, [x, y, z], &counters) };
        }
        tile += grid_dim_x();
        taken += 1;
        // The condition is the same for all threads of the block.
        if taken == p.tiles || tile >= tiles.len() {
            // SAFETY: every thread of the block is here.
            unsafe { counters.flush(p) };
            taken = 0;
        }
    }
}

/// Counts the voxels from `[x, y, z]` along z to the last plane of the tile. Each voxel is prefetched while the one
/// before is counted.
#[inline(always)]
unsafe fn count_down<const BOTH: bool>(
    p: &MattesHistogram,
    affine: &Affine,
    [x, y, mut z]: [u32; 3],
    counters: &Counters,
) {
    let images = &p.images;
    let [width, height, depth] = images.fixed_size;
    let end = if z + p.depth < depth { z + p.depth } else { depth };
    let base = affine::add_y(affine, affine::from_x(affine, x), y);
    let plane = width * height;
    let mut voxel = x + width * (y + height * z);
    // SAFETY: called with voxels of the fixed image.
    let read = |voxel: u32, z: u32| unsafe { Sample::read(images, voxel, affine::add_z(affine, base, z)) };
    let mut next = read(voxel, z);
    while z < end {
        let sample = next;
        (z, voxel) = (z + 1, voxel + plane);
        if z < end {
            next = read(voxel, z);
        }
        // SAFETY: by this function's contract.
        unsafe { counters.count::<BOTH>(p, sample) };
    }
}

/// A thread block's counters, as one lane addresses them.
struct Counters {
    /// This lane's copy, shifted so that index `i` is each of four neighbouring counters in turn, beginning with the
    /// one at which this lane begins.
    turns: [SharedSlice<u32>; 4],
    /// For each turn, the selector of the weight to add: two of eight bytes, with zeros above.
    selectors: [u32; 4],
    /// All copies.
    words: SharedSlice<u32>,
    /// The first fixed bin of the range.
    first: u32,
}

impl Counters {
    #[inline(always)]
    fn new(p: &MattesHistogram, words: SharedSlice<u32>) -> Self {
        let lane = thread_idx_x();
        let copy = (lane >> 2 & (p.copies - 1)) * p.stride;
        let turn = |k: u32| (lane + k) & 3;
        let turned = |k: u32| words.numbered_from(0_u32.wrapping_sub(copy + turn(k)));
        let selector = |k: u32| ZERO_ABOVE + 0x2222 * turn(k);
        Self {
            turns: [turned(0), turned(1), turned(2), turned(3)],
            selectors: [selector(0), selector(1), selector(2), selector(3)],
            words,
            first: p.range * block_idx_z(),
        }
    }

    /// Counts a sample, unless it is outside or masked.
    ///
    /// # Safety
    /// The counters are those of the range.
    #[inline(always)]
    unsafe fn count<const BOTH: bool>(&self, p: &MattesHistogram, sample: Sample) {
        let [fixed_bins, moving_bins] = p.images.bins;
        let row = sample.fixed().wrapping_sub(self.first);
        let in_range = BOTH | (row < p.range);
        if !(sample.counts::<BOTH>(fixed_bins) & in_range) {
            return;
        }
        let value = interpolate::linear(sample.words, sample.fraction);
        // SAFETY: interpolated values lie between stored ones.
        let (first, into) = unsafe { mattes::window(value, moving_bins, mattes::scale(moving_bins)) };
        // SAFETY: `window` gives 0 to 1.
        let weights = unsafe { mattes::weights(into) };
        if !BOTH {
            // SAFETY: the window lies within the bins, and the fixed bin in the range.
            unsafe { self.add(row * moving_bins + first, weights) };
        } else {
            // SAFETY: the fixed value of a sample that counts is a stored one, and the window lies within the bins.
            unsafe { self.add_rows(p, sample.fixed(), first, weights) };
        }
    }

    /// Divides the weights of a moving window among the four rows of a fixed window, and adds them to those rows that
    /// are in the range.
    ///
    /// # Safety
    /// `fixed` is a stored value, and `first` to `first + 3` are moving bins.
    #[inline(always)]
    unsafe fn add_rows(&self, p: &MattesHistogram, fixed: u32, first: u32, [a, b, c, d]: [u32; 4]) {
        let [fixed_bins, moving_bins] = p.images.bins;
        // SAFETY: stored values are in range.
        let (row, into) = unsafe { mattes::window(fixed as f32, fixed_bins, mattes::scale(fixed_bins)) };
        // SAFETY: `window` gives 0 to 1.
        let fixed = unsafe { mattes::weights(into) };
        let (a, b) = (mattes::shares(a, fixed), mattes::shares(b, fixed));
        let (c, d) = (mattes::shares(c, fixed), mattes::shares(d, fixed));
        let add = |i: usize| {
            let row = (row + i as u32).wrapping_sub(self.first);
            if row < p.range {
                // SAFETY: the windows lie within the bins, and the row in the range.
                unsafe { self.add(row * moving_bins + first, [a[i], b[i], c[i], d[i]]) };
            }
        };
        add(0);
        add(1);
        add(2);
        add(3);
    }

    /// Adds four weights to four neighbouring counters, beginning with the one at which this lane begins.
    ///
    /// # Safety
    /// `pair` to `pair + 3` are counters of a copy, and weights are below 2^15.
    #[inline(always)]
    unsafe fn add(&self, pair: u32, [a, b, c, d]: [u32; 4]) {
        let (low, high) = (a + (b << 16), c + (d << 16));
        let add = |k: usize| {
            // SAFETY: the caller says that the copy has these four counters; they were set to 0 before a barrier.
            unsafe { self.turns[k].add(pair, bits::permute(low, high, self.selectors[k])) }
        };
        add(0);
        add(1);
        add(2);
        add(3);
    }

    /// Adds the counters to the joint histogram, and sets them to 0.
    ///
    /// # Safety
    /// Every thread of the block calls it.
    #[inline(always)]
    unsafe fn flush(&self, p: &MattesHistogram) {
        let [fixed_bins, moving_bins] = p.images.bins;
        let first = (fixed_bins * block_idx_y() + self.first) * moving_bins;
        sync_threads();
        each_of(p.range * moving_bins, |i| {
            let (mut at, mut sum) = (i, 0);
            while at < p.copies * p.stride {
                // SAFETY: below the counters' number, and this thread's alone.
                unsafe {
                    sum += self.words.load(at);
                    self.words.store(at, 0);
                }
                at += p.stride;
            }
            if sum > 0 {
                // SAFETY: only pairs of the histogram are counted.
                unsafe { p.counts.add((first + i) as usize, u64::from(sum)) };
            }
        });
        sync_threads();
    }
}
