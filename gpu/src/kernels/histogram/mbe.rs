//! `mbe`, `mbe-bc` and `mbe-stl`: the optimisations of Ledig section 2 on top of the base algorithm ([`warp_tagged`](super::warp_tagged)).
//!
//! Multiple bin encoding (section 2.3) keeps two 13-bit counters under one tag, so that a launch covers twice as many
//! bins. It "has no influence on memory requirements" and can be combined with either form of the base algorithm. `mbe`
//! uses the form with the combined image, so that it differs from `warp-tagged` in the encoding only. How overflow is
//! avoided: see [`tagged`](super::tagged).
//!
//! Bin caching (section 2.4): while the first launch counts its own range, it stores the joint index of each voxel in
//! 16 bits, two in a word. Later launches read only these. With 256 x 256 bins, all 16-bit numbers are joint indices,
//! and none is left for voxels that are not counted. Such voxels are stored, and counted, as the last pair; the first
//! launch subtracts their number from the counter of that pair in advance (counters wrap).
//!
//! Smart texture lookup (section 2.5) needs no memory. It samples the moving image only at voxels whose fixed bin can
//! have pairs in the range (eq. 6). For that, a range must contain few fixed bins, so that the paper's order of pairs
//! is used within a launch: fixed bin times the number of moving bins, plus moving bin. It is converted to mireg's
//! order when the counters are added up. Eq. 6 as printed admits one fixed bin too many at the lower end. Here a range
//! deliberately consists of whole fixed bins, so that the fixed bin alone decides, and each voxel is sampled in one
//! launch only.

use super::pair::{self, NONE};
use super::tagged::{count, pairs, sampled};
use super::warp_tagged::count_combined;
use crate::params::{Images, Tagged};
use cuda_std::{kernel, warp};

/// The largest joint index in 16 bits.
const LAST: u32 = 0xFFFF;

/// Counts a range of the combined image. Thread blocks of whole warps; `range / 2` words of dynamic shared memory per
/// warp, rounded up.
///
/// # Safety
/// The slices are as long as the sizes say; every size is at least 1; the range ends where the histogram does or before.
#[kernel]
pub unsafe fn mbe_combined(p: Tagged<[u32; 2]>) {
    // SAFETY: by this function's contract.
    unsafe { count_combined::<2>(&p) }
}

/// Samples the moving image, stores the joint indices, and counts a range; otherwise as [`mbe_combined`].
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
    // SAFETY: by this function's contract; all lanes have come to the end.
    unsafe {
        count::<2, _>(&p, counters, |counter| p.first + counter);
        let outside = warp::reduce_add(warp::ALL, outside);
        let all_taken = p.images.bins[0] * p.images.bins[1] > LAST;
        if all_taken && warp::lane_id() == 0 {
            p.counters.add((p.histogram + LAST) as usize, outside.wrapping_neg());
        }
    }
}

/// Counts a range of the joint indices that [`mbe_first`] has stored; otherwise as [`mbe_combined`].
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
    // SAFETY: by this function's contract.
    unsafe { count::<2, _>(&p, counters, |counter| p.first + counter) }
}

/// Samples the moving image at voxels whose fixed bin is in the range, and counts them; otherwise as [`mbe_combined`].
/// The range is in the paper's order.
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
        unsafe { pairs(&p.images, word, |x, row| pair_in_bins(&p.images, [x, row], bins)) }
    };
    let place = |counter| {
        let number = p.first + counter;
        number / moving_bins + fixed_bins * (number % moving_bins)
    };
    // SAFETY: by this function's contract.
    unsafe { count::<2, _>(&p, counters, place) }
}

/// Returns the joint index of a voxel in the paper's order, minus that of the range's first pair, if its fixed bin is
/// from `bins[0]` to below `bins[1]`. Otherwise, and if the voxel is not counted, returns [`NONE`].
///
/// # Safety
/// As [`pair::pair`]; there are fixed bins.
#[inline(always)]
unsafe fn pair_in_bins(images: &Images, [x, row]: [u32; 2], bins: [u32; 2]) -> u32 {
    let [fixed_bins, moving_bins] = images.bins;
    // SAFETY: by this function's contract.
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
