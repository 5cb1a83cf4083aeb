//! Adds up the partial sums over pairs to sums over samples, and these to the results of a group.

use super::sample::voxel;
use super::{BLOCK, FromParams, RESULTS};
use crate::kernels::ordered::fold;
use crate::kernels::{WARP, is_last, thread_number};
use crate::math::viola::{
    CHUNKS_PER_SEGMENT, JointGaussian, Product, SAMPLES_PER_CHUNK, SEGMENTS_PER_STRETCH, Sums, by_map,
};
use crate::params::Viola;
use cuda_std::thread::block_idx_x;
use cuda_std::{kernel, warp};

/// The number of sums that are kept per 32 slots: three of logarithms and twelve of derivatives.
pub const FOLDED: u32 = 15;

/// Numbers that are read together, so that the reads overlap.
const READS_AT_ONCE: u32 = 16;

// Whether there are sums for the derivative; joint window.
entries! {
    "Adds up the sums of each slot of B, after [`viola_densities`](super::densities::viola_densities) or a sibling. \
     Thread blocks of [`BLOCK`] threads, one per block of slots.",
    finish_densities;
    viola_finish_densities: false, Product;
    viola_finish_densities_slope: true, Product;
    viola_finish_densities_slope_joint_gaussian: true, JointGaussian;
}

/// This thread's slot.
struct ThreadSlot {
    group: u32,
    slot: u32,
    /// The index of its partial sums among those of a part and kind.
    partial: u32,
}

/// # Safety
/// The launch has at most as many blocks as `blocks` from `first_block` on.
#[inline(always)]
unsafe fn thread_slot(p: &Viola) -> ThreadSlot {
    // SAFETY: the caller says that there is this block.
    let [start, group] = unsafe { p.blocks.get((p.first_block + block_idx_x()) as usize) };
    ThreadSlot { group, slot: start + thread_number(), partial: block_idx_x() * BLOCK + thread_number() }
}

/// # Safety
/// As the kernels; all threads of the block call it.
#[inline(always)]
unsafe fn finish_densities<const SLOPE: bool, J: FromParams>(p: &Viola) {
    let joint = J::from_params(p);
    // SAFETY: the launch has a block for each block of slots of B.
    let ThreadSlot { group, slot, partial } = unsafe { thread_slot(p) };
    // SAFETY: blocks name groups that there are.
    let [_, a_len, b, b_len] = unsafe { p.groups.get(group as usize) };
    let kinds = if SLOPE { super::densities::SLOPE_SUMS } else { super::densities::VALUE_SUMS };
    // SAFETY: `kind` is below `kinds`, and `partial` is this thread's slot of the launch.
    let sum = |kind: u32| unsafe { total(p, kinds, kind, partial, a_len) };
    // SAFETY: slots of blocks have slopes, which `viola_sample` wrote.
    let [x, y, z, inside] = unsafe { p.slopes.get(slot as usize) };
    let inside = inside > 0.0;
    let mut sums = Sums { u: sum(0), v: sum(1), joint: sum(2), slope_v: 0.0, slope_joint: 0.0 };
    if SLOPE {
        (sums.slope_v, sums.slope_joint) = (sum(3), sum(4));
    }
    let logarithms = sums.logarithms();
    let folded = FOLDED * (slot / WARP);
    for n in 0..3 {
        // SAFETY: whole warps come here; `folded` and the numbers after it are those of the warp's 32 slots.
        unsafe { fold_to(p, folded + n, if inside { logarithms[n as usize] } else { 0.0 }) };
    }
    if SLOPE {
        let weights = sums.weights(joint);
        let [v, joint_weight] = if inside { [weights.v, weights.joint] } else { [0.0; 2] };
        // SAFETY: a slot of a block, and this thread's alone.
        unsafe { p.weights.set(slot as usize, [v, joint_weight]) };
        let coefficient = if inside { sums.coefficient(joint) } else { 0.0 };
        // SAFETY: whole warps come here, each with its 32 slots.
        unsafe { fold_derivatives(p, slot, coefficient, [x, y, z]) };
    }
    // SAFETY: all threads of the block come here, and the host left the counter at 0.
    if unsafe { is_last(p.done, group, || blocks(b_len)) } {
        // SAFETY: this is the last block of B.
        unsafe { add_logarithms(p, group, b, b_len) };
    }
}

/// Adds up the sums of each slot of A, after [`viola_derivatives`](super::derivatives::viola_derivatives) or a sibling.
/// Thread blocks of [`BLOCK`] threads, one per block of slots.
///
/// # Safety
/// The slices are as long as their documentation says.
#[kernel]
pub unsafe fn viola_finish_derivatives(p: Viola) {
    // SAFETY: the launch has a block for each block of slots of A.
    let ThreadSlot { group, slot, partial } = unsafe { thread_slot(&p) };
    // SAFETY: blocks name groups that there are.
    let [a, a_len, b, b_len] = unsafe { p.groups.get(group as usize) };
    // SAFETY: slots of blocks have slopes, which `viola_sample` wrote.
    let [x, y, z, inside] = unsafe { p.slopes.get(slot as usize) };
    // SAFETY: `viola_derivatives` leaves sums of one kind, and `partial` is this thread's slot of the launch.
    let sum = unsafe { total(&p, 1, 0, partial, b_len) };
    // SAFETY: whole warps come here, each with its 32 slots.
    unsafe { fold_derivatives(&p, slot, if inside > 0.0 { sum } else { 0.0 }, [x, y, z]) };
    // SAFETY: all threads of the block come here, and the last block of B left the counter at 0.
    if unsafe { is_last(p.done, group, || blocks(a_len)) } && thread_number() < 12 {
        let kind = 3 + thread_number();
        // SAFETY: `kind` is below `FOLDED`; B was finished by an earlier launch, and this is the last block of A.
        let over_b = unsafe { add_folded(&p, 0.0, kind, b, b_len) };
        // SAFETY: as above.
        let sum = unsafe { add_folded(&p, over_b, kind, a, a_len) };
        // SAFETY: `2 + kind` is below `RESULTS`; this thread alone writes the number.
        unsafe { p.results.set(group as usize * RESULTS + 2 + kind as usize, sum) };
        if thread_number() == 0 {
            // SAFETY: every block of A has counted itself.
            unsafe { p.done.set(group as usize, 0) };
        }
    }
}

/// Returns a slot's sum over a set of `len` samples, from the sums over the set's parts.
///
/// # Safety
/// The partial sums have `kinds` kinds, and `partial` is below the launch's slots.
#[inline(always)]
unsafe fn total(p: &Viola, kinds: u32, kind: u32, partial: u32, len: u32) -> f64 {
    let parts = (len.div_ceil(SAMPLES_PER_CHUNK as u32) * SAMPLES_PER_CHUNK as u32).div_ceil(p.part);
    let parts_per_stretch = (SEGMENTS_PER_STRETCH * CHUNKS_PER_SEGMENT * SAMPLES_PER_CHUNK) as u32 / p.part;
    let (mut all, mut part) = (0.0, 0);
    while part < parts {
        let (mut stretch, mut n) = (0.0, 0);
        while n < parts_per_stretch && part < parts {
            // SAFETY: `part` is below the set's parts and `kind` below `kinds`, for each of which there are `stride` sums.
            stretch += unsafe { p.partials.get(((part * kinds + kind) * p.stride + partial) as usize) };
            (n, part) = (n + 1, part + 1);
        }
        all += stretch;
    }
    all
}

/// Folds one number per lane and writes the sum to `folded[at]`.
///
/// # Safety
/// Whole warps call it, with an `at` of their own.
#[inline(always)]
unsafe fn fold_to(p: &Viola, at: u32, number: f64) {
    // SAFETY: the caller says that whole warps come here.
    let sum = unsafe { fold(number) };
    if warp::lane_id() == 0 {
        // SAFETY: the caller says that there is this number, and that it is the warp's own.
        unsafe { p.folded.set(at as usize, sum) };
    }
}

/// Folds the contributions of the lanes' slots to the twelve derivatives.
///
/// # Safety
/// Whole warps call it, with consecutive slots of a block.
#[inline(always)]
unsafe fn fold_derivatives(p: &Viola, slot: u32, coefficient: f64, slope: [f32; 3]) {
    // SAFETY: a slot of a block.
    let [xy, z, _, _] = unsafe { p.slots.get(slot as usize) };
    let voxel = voxel(xy, z);
    let folded = FOLDED * (slot / WARP) + 3;
    for row in 0..3 {
        for column in 0..4 {
            let number = by_map(coefficient, slope, voxel, row, column);
            // SAFETY: whole warps come here; `folded` and the numbers after it are those of the warp's 32 slots.
            unsafe { fold_to(p, folded + (4 * row + column) as u32, number) };
        }
    }
}

/// The blocks of slots of a set of `len` samples.
#[inline(always)]
fn blocks(len: u32) -> u32 {
    if len > 0 { len.div_ceil(BLOCK) } else { 1 }
}

/// Writes the sums of the logarithms and the numbers of samples inside, and resets the counts and the counter of the
/// blocks to 0.
///
/// # Safety
/// The last block of B calls it.
#[inline(always)]
unsafe fn add_logarithms(p: &Viola, group: u32, b: u32, b_len: u32) {
    let me = thread_number();
    let result = group as usize * RESULTS;
    if me < 3 {
        // SAFETY: `me` is below `FOLDED`, and this is the last block of B.
        let sum = unsafe { add_folded(p, 0.0, me, b, b_len) };
        // SAFETY: `me` is below `RESULTS`; this thread alone writes the number.
        unsafe { p.results.set(result + me as usize, sum) };
    } else if me < 5 {
        let count = (2 * group + me - 3) as usize;
        // SAFETY: `me` is 3 or 4: the group's count of A or B, and its place among the results; this thread's alone.
        unsafe {
            p.results.set(result + me as usize, f64::from(p.counts.load_relaxed(count)));
            p.counts.set(count, 0);
        }
    } else if me == 5 {
        // SAFETY: every block of B has counted itself.
        unsafe { p.done.set(group as usize, 0) };
    }
}

/// Adds the folded numbers of a kind over a set to `sum`, one after the other. Other blocks wrote them, so that a plain
/// read could return a stale value from the L1 cache.
///
/// # Safety
/// The set begins at slot `start`, `kind` is below [`FOLDED`], and the last block of the set calls it.
#[inline(always)]
unsafe fn add_folded(p: &Viola, mut sum: f64, kind: u32, start: u32, len: u32) -> f64 {
    let (mut at, end) = (start / WARP, start / WARP + len.div_ceil(WARP));
    while at < end {
        let mut numbers = [0.0; READS_AT_ONCE as usize];
        for n in 0..READS_AT_ONCE {
            if at + n < end {
                // SAFETY: below the end of the set, whose slots have `FOLDED` numbers for each warp.
                numbers[n as usize] = unsafe { p.folded.load_relaxed((FOLDED * (at + n) + kind) as usize) };
            }
        }
        for n in 0..READS_AT_ONCE {
            if at + n < end {
                sum += numbers[n as usize];
            }
        }
        at += READS_AT_ONCE;
    }
    sum
}
