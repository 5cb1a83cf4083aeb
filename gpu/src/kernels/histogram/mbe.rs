//! `mbe`, `mbe-bc` and `mbe-stl`: the optimisations of Ledig section 2 on top of the base algorithm ([`warp_tagged`](super::warp_tagged)).
//!
//! Multiple bin encoding (section 2.3) keeps two 13-bit counters under one tag, so that a launch covers twice the bins. It "has no
//! influence on memory requirements" and goes with either form of the base algorithm; `mbe` is the one with the combined image, so
//! that it differs from `warp-tagged` in nothing but the encoding. Overflow: [`tagged`](super::tagged).
//!
//! Bin caching (section 2.4) has the first launch store the number of each voxel's pair of bins in 16 bits, two in a word, while it counts its
//! own range; later launches read only that. 256 x 256 bins take all of the 16 bits, and leave no number for a voxel that is not
//! counted. It is stored, and counted, as the last pair; the first launch takes it off there in advance (counters wrap).
//!
//! Smart texture lookup (section 2.5) takes no memory and samples the moving image only where the fixed bin does not rule the pair out
//! (eq. 6). For that a range must hold few fixed bins, so the paper's order is kept here within a launch: fixed bin times the number of
//! moving bins, plus moving bin, which is turned into mireg's order when the counters are added up. On purpose a range
//! consists of whole fixed bins: eq. 6, which as printed lets in one fixed bin too many at the lower end, then decides alone, and
//! each voxel is sampled in one launch only.

use super::pair::{self, NONE};
use super::tagged::{count, pairs, sampled};
use super::warp_tagged::count_combined;
use crate::params::{Images, Tagged};
use cuda_std::{kernel, warp};

/// The last number of a pair of bins in 16 bits.
const LAST: u32 = 0xFFFF;

/// Counts a range of the combined image. Blocks of whole warps; half of `range` words of dynamic shared memory a warp, rounded up.
///
/// # Safety
/// The slices are as long as the sizes say; every size is at least 1; the range ends where the histogram does or before.
#[kernel]
pub unsafe fn mbe_combined(p: Tagged<[u32; 2]>) {
    // SAFETY: as this function's.
    unsafe { count_combined::<2>(&p) }
}

/// Samples, stores the numbers of the pairs, and counts a range; otherwise as [`mbe_combined`].
///
/// # Safety
/// As [`mbe_combined`]; there are at most 65536 pairs of bins.
#[kernel]
pub unsafe fn mbe_first(p: Tagged<u32>) {
    let mut outside = 0;
    let counters = |word| {
        // SAFETY: in the image, and this lane's alone.
        unsafe {
            let [one, other] = sampled(&p.images, word);
            outside += u32::from(one == NONE) + u32::from(other == NONE);
            let numbers = [one.min(LAST), other.min(LAST)];
            p.stored.set(word as usize, numbers[0] | numbers[1] << 16);
            [numbers[0].wrapping_sub(p.first), numbers[1].wrapping_sub(p.first)]
        }
    };
    // SAFETY: as this function's; all lanes have come to the end.
    unsafe {
        count::<2, _>(&p, counters, |counter| p.first + counter);
        let outside = warp::reduce_add(warp::ALL, outside);
        let all_taken = p.images.bins[0] * p.images.bins[1] > LAST;
        if all_taken && warp::lane_id() == 0 {
            p.counters.add((p.histogram + LAST) as usize, outside.wrapping_neg());
        }
    }
}

/// Counts a range of the numbers that [`mbe_first`] has stored; otherwise as [`mbe_combined`].
///
/// # Safety
/// As [`mbe_first`].
#[kernel]
pub unsafe fn mbe_cached(p: Tagged<u32>) {
    let counters = |word| {
        // SAFETY: one of the stored words, which no launch writes now.
        let numbers = unsafe { p.stored.as_slice().get_cached(word as usize) };
        [(numbers & LAST).wrapping_sub(p.first), (numbers >> 16).wrapping_sub(p.first)]
    };
    // SAFETY: as this function's.
    unsafe { count::<2, _>(&p, counters, |counter| p.first + counter) }
}

/// Samples where the fixed bin is one of the range's, and counts; otherwise as [`mbe_combined`]. The range is in the paper's order.
///
/// # Safety
/// As [`mbe_combined`]; `first` and `range` are multiples of the number of moving bins.
#[kernel]
pub unsafe fn mbe_stl(p: Tagged<u32>) {
    let [fixed_bins, moving_bins] = p.images.bins;
    // SAFETY: there are at least 2; without it a division by zero would bring a panic into the PTX.
    unsafe { core::hint::assert_unchecked(fixed_bins > 0 && moving_bins > 0) };
    let bins = [p.first / moving_bins, (p.first + p.range) / moving_bins];
    let counters = |word| {
        // SAFETY: the voxels are in the image.
        unsafe { pairs(&p.images, word, |x, row| ruled_in(&p.images, [x, row], bins)) }
    };
    let place = |counter| {
        let number = p.first + counter;
        number / moving_bins + fixed_bins * (number % moving_bins)
    };
    // SAFETY: as this function's.
    unsafe { count::<2, _>(&p, counters, place) }
}

/// The number in the paper's order, less that of the first pair, of a voxel whose fixed bin lies from the first of `bins` to below the
/// last; else, and where it is not counted, [`NONE`].
///
/// # Safety
/// As [`pair::pair`]; there are fixed bins.
#[inline(always)]
unsafe fn ruled_in(images: &Images, [x, row]: [u32; 2], bins: [u32; 2]) -> u32 {
    let [fixed_bins, moving_bins] = images.bins;
    // SAFETY: as this function's.
    unsafe {
        let fixed = u32::from(images.fixed.get_cached((x + images.fixed_size[0] * row) as usize));
        if fixed < bins[0] || fixed >= bins[1] {
            return NONE;
        }
        let pair = pair::pair(images, x, row);
        core::hint::assert_unchecked(fixed_bins > 0);
        if pair == NONE { NONE } else { (fixed - bins[0]) * moving_bins + pair / fixed_bins }
    }
}
