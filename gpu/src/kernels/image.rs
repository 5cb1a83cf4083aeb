//! Prepares images for metrics: converts a caller's numbers to intensities, smooths and thins volumes, and packs them.

use crate::math::{binning, number};
use crate::params::{Filter, GatherVoxels, PackBins, PackWords};
use cuda_std::kernel;
use cuda_std::thread::index_1d;

/// Filters the lines of a volume along one axis, and keeps every `step`-th voxel. One thread per new voxel, in thread
/// blocks of any size that cover them.
///
/// # Safety
/// The slices are as long as the sizes say; a line has a voxel or more.
#[kernel]
pub unsafe fn filter_axis(p: Filter) {
    let at = index_1d();
    if at as usize >= p.to.len() {
        return;
    }
    let (lane, line) = (at % p.stride, at / p.stride);
    let (new, slab) = (line % p.new_len, line / p.new_len);
    let first = lane as usize + slab as usize * p.len as usize * p.stride as usize;
    let last = p.len as i32 - 1;
    let before = p.first + (new * p.step) as i32;
    let mut sum = 0.0_f32;
    let mut tap = 0;
    while tap < p.taps {
        // Beyond the border, the voxel on the border is used.
        let old = (before + tap as i32).clamp(0, last) as usize;
        // SAFETY: `tap` is below the number of weights, and `old` within the line.
        let (weight, voxel) =
            unsafe { (p.weights.get_cached(tap as usize), p.from.get_cached(first + old * p.stride as usize)) };
        sum += weight * voxel;
        tap += 1;
    }
    // SAFETY: `at` is in the new volume, and this thread's alone.
    unsafe { p.to.set(at as usize, sum) };
}

/// Converts numbers of any type, at any strides, to intensities. One thread per voxel, in thread blocks of any size
/// that cover them.
///
/// # Safety
/// The numbers of all voxels are there, and aligned for their type.
#[kernel]
pub unsafe fn gather_voxels(p: GatherVoxels) {
    let at = index_1d();
    if at as usize >= p.voxels.len() {
        return;
    }
    let [width, height] = p.size;
    let place = [at % width, at / width % height, at / width / height];
    let offset = |axis: usize| i64::from(place[axis]) * p.strides[axis];
    let from = (p.first + offset(0) + offset(1) + offset(2)) as usize;
    macro_rules! number {
        ($type:ty) => {
            // SAFETY: the caller says that numbers of this type are there.
            unsafe { p.numbers.cast::<$type>().get_cached(from) }
        };
    }
    let intensity = match p.pixel {
        0 => number!(u8) as f32,
        1 => number!(i8) as f32,
        2 => number!(u16) as f32,
        3 => number!(i16) as f32,
        4 => number!(u32) as f32,
        5 => number!(i32) as f32,
        6 => number!(u64) as f32,
        7 => number!(i64) as f32,
        8 => number!(f32),
        _ => number::narrowed(number!(f64)),
    };
    // SAFETY: `at` is a voxel, and this thread's alone.
    unsafe { p.voxels.set(at as usize, intensity) };
}

/// Packs an image that is not interpolated. One thread per voxel, in blocks of any size that cover them.
///
/// # Safety
/// `voxels` is as long as `out`, and so is `keep` if `masked`.
#[kernel]
pub unsafe fn pack_bins(p: PackBins) {
    let at = index_1d() as usize;
    if at >= p.out.len() {
        return;
    }
    // SAFETY: `at` is a voxel, and this thread's alone.
    unsafe {
        let left_out = p.masked != 0 && p.keep.get_cached(at) == 0;
        let number = if left_out { crate::math::bin::MASKED } else { p.binning.of(p.voxels.get_cached(at)) };
        p.out.set(at, number);
    }
}

/// Packs an image that is interpolated, including the padding after its last voxel. One thread per word, in thread
/// blocks of any size that cover them.
///
/// # Safety
/// A row has `width` voxels.
#[kernel]
pub unsafe fn pack_words(p: PackWords) {
    let at = index_1d() as usize;
    if at >= p.out.len() {
        return;
    }
    let width = p.width as usize;
    let voxel = |at: usize| {
        // SAFETY: below the number of voxels.
        if at < p.voxels.len() { Some(unsafe { p.voxels.get_cached(at) }) } else { None }
    };
    let word = match p.fine {
        0 => binning::levels([voxel(at), voxel(at + 1), voxel(at + width), voxel(at + width + 1)], p.low, p.high),
        _ => binning::values([voxel(at), voxel(at + 1)], p.low, p.high),
    };
    // SAFETY: there is room for `at`, which is this thread's alone.
    unsafe { p.out.set(at, word) };
}
