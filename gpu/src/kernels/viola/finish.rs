//! From the sums over pairs to those over samples.

use super::sample::voxel;
use super::{BLOCK, RESULTS};
use crate::kernels::ordered::fold;
use crate::kernels::thread_number;
use crate::math::viola::{CHUNK, Joint, Own, Product, SEGMENT, STRETCH, Sums, by_map};
use crate::params::Viola;
use cuda_std::thread::{block_idx_x, device_fence, sync_threads};
use cuda_std::{kernel, shared_slice, warp};

/// Numbers that 32 slots are folded to: three logarithms and twelve derivatives.
pub const FOLDED: u32 = 15;

/// Numbers that are read together, so that the reads overlap.
const TOGETHER: u32 = 16;

macro_rules! entries {
    ($($name:ident: $slope:literal, $joint:ident;)*) => {$(
        /// For slots of B: blocks of [`BLOCK`] threads, one a block of slots.
        ///
        /// # Safety
        /// The slices are as long as their documentation says.
        #[kernel]
        pub unsafe fn $name(p: Viola) {
            // SAFETY: as this function's.
            unsafe { finish_b::<$slope, _>(&p, entries!(@ $joint, p)) }
        }
    )*};
    (@ Product, $p:ident) => { Product };
    (@ Own, $p:ident) => { Own { u: $p.joint[0], v: $p.joint[1] } };
}

entries! {
    viola_finish: false, Product;
    viola_finish_slope: true, Product;
    viola_finish_slope_own: true, Own;
}

/// A block of slots, and this thread's.
struct Here {
    group: u32,
    slot: u32,
    /// Where its partial sums are.
    place: u32,
}

#[inline(always)]
unsafe fn here(p: &Viola) -> Here {
    let [start, group] = unsafe { p.blocks.get((p.first_block + block_idx_x()) as usize) };
    Here { group, slot: start + thread_number(), place: block_idx_x() * BLOCK + thread_number() }
}

#[inline(always)]
unsafe fn finish_b<const SLOPE: bool, J: Joint>(p: &Viola, joint: J) {
    let Here { group, slot, place } = unsafe { here(p) };
    let [_, a_len, b, b_len] = unsafe { p.groups.get(group as usize) };
    let kinds = if SLOPE { super::sums::SLOPE } else { super::sums::VALUE };
    let sum = |kind: u32| unsafe { total(p, kinds, kind, place, a_len) };
    let [x, y, z, inside] = unsafe { p.slopes.get(slot as usize) };
    let inside = inside > 0.0;
    let mut sums = Sums { u: sum(0), v: sum(1), joint: sum(2), slope_v: 0.0, slope_joint: 0.0 };
    if SLOPE {
        (sums.slope_v, sums.slope_joint) = (sum(3), sum(4));
    }
    let logarithms = sums.logarithms();
    let folded = FOLDED * (slot / 32);
    for n in 0..3 {
        unsafe { fold_to(p, folded + n, if inside { logarithms[n as usize] } else { 0.0 }) };
    }
    if SLOPE {
        let weights = sums.weights(joint);
        let [v, joint_weight] = if inside { [weights.v, weights.joint] } else { [0.0; 2] };
        unsafe { p.weights.set(slot as usize, [v, joint_weight]) };
        let coefficient = if inside { sums.coefficient(joint) } else { 0.0 };
        unsafe { fold_derivatives(p, slot, coefficient, [x, y, z]) };
    }
    if unsafe { is_last(p, group, b_len) } {
        unsafe { add_logarithms(p, group, b, b_len) };
    }
}

/// For slots of A, after [`viola_pull`](super::pull::viola_pull): blocks of [`BLOCK`] threads, one a block of slots.
///
/// # Safety
/// The slices are as long as their documentation says.
#[kernel]
pub unsafe fn viola_finish_pull(p: Viola) {
    let Here { group, slot, place } = unsafe { here(&p) };
    let [a, a_len, b, b_len] = unsafe { p.groups.get(group as usize) };
    let [x, y, z, inside] = unsafe { p.slopes.get(slot as usize) };
    let sum = unsafe { total(&p, 1, 0, place, b_len) };
    unsafe { fold_derivatives(&p, slot, if inside > 0.0 { sum } else { 0.0 }, [x, y, z]) };
    if unsafe { is_last(&p, group, a_len) } && thread_number() < 12 {
        let kind = 3 + thread_number();
        let of_b = unsafe { add_folded(&p, 0.0, kind, b, b_len) };
        let sum = unsafe { add_folded(&p, of_b, kind, a, a_len) };
        unsafe { p.results.set(group as usize * RESULTS + 2 + kind as usize, sum) };
    }
}

/// A slot's sum over a set of `len` samples, from its parts.
#[inline(always)]
unsafe fn total(p: &Viola, kinds: u32, kind: u32, place: u32, len: u32) -> f64 {
    let parts = (len.div_ceil(CHUNK as u32) * CHUNK as u32).div_ceil(p.part);
    let of_stretch = (STRETCH * SEGMENT * CHUNK) as u32 / p.part;
    let (mut all, mut part) = (0.0, 0);
    while part < parts {
        let (mut stretch, mut n) = (0.0, 0);
        while n < of_stretch && part < parts {
            stretch += unsafe { p.partials.get(((part * kinds + kind) * p.stride + place) as usize) };
            (n, part) = (n + 1, part + 1);
        }
        all += stretch;
    }
    all
}

/// Folds a number of each lane.
#[inline(always)]
unsafe fn fold_to(p: &Viola, at: u32, number: f64) {
    let sum = unsafe { fold(number) };
    if warp::lane_id() == 0 {
        unsafe { p.folded.set(at as usize, sum) };
    }
}

/// Folds what each lane's slot adds to the derivatives.
#[inline(always)]
unsafe fn fold_derivatives(p: &Viola, slot: u32, coefficient: f64, slope: [f32; 3]) {
    let [xy, z, _, _] = unsafe { p.slots.get(slot as usize) };
    let voxel = voxel(xy, z);
    let folded = FOLDED * (slot / 32) + 3;
    for row in 0..3 {
        for column in 0..4 {
            let number = by_map(coefficient, slope, voxel, row, column);
            unsafe { fold_to(p, folded + (4 * row + column) as u32, number) };
        }
    }
}

/// Whether this block is the last of those of its group's set, of `len` samples; then it sees what the others have written.
#[inline(always)]
unsafe fn is_last(p: &Viola, group: u32, len: u32) -> bool {
    let last = shared_slice![u32; 1];
    device_fence();
    sync_threads();
    if thread_number() == 0 {
        let before = unsafe { p.done.fetch_add(group as usize, 1) };
        let blocks = if len > 0 { len.div_ceil(BLOCK) } else { 1 };
        let is_last = before + 1 == blocks;
        unsafe { last.store(0, u32::from(is_last)) };
        if is_last {
            unsafe { p.done.set(group as usize, 0) };
        }
    }
    sync_threads();
    device_fence();
    unsafe { last.load(0) == 1 }
}

/// Writes the sums of the logarithms and the numbers of samples inside, of which none are left.
#[inline(always)]
unsafe fn add_logarithms(p: &Viola, group: u32, b: u32, b_len: u32) {
    let me = thread_number();
    let result = group as usize * RESULTS;
    if me < 3 {
        let sum = unsafe { add_folded(p, 0.0, me, b, b_len) };
        unsafe { p.results.set(result + me as usize, sum) };
    } else if me < 5 {
        let count = (2 * group + me - 3) as usize;
        unsafe { p.results.set(result + me as usize, f64::from(p.counts.load_relaxed(count))) };
        unsafe { p.counts.set(count, 0) };
    }
}

/// `sum` with the folded numbers of a kind of a set, one after the other. Other blocks wrote them: a plain read could find an old copy.
#[inline(always)]
unsafe fn add_folded(p: &Viola, mut sum: f64, kind: u32, start: u32, len: u32) -> f64 {
    let (mut at, end) = (start / 32, start / 32 + len.div_ceil(32));
    while at < end {
        let mut numbers = [0.0; TOGETHER as usize];
        for n in 0..TOGETHER {
            if at + n < end {
                numbers[n as usize] = unsafe { p.folded.load_relaxed((FOLDED * (at + n) + kind) as usize) };
            }
        }
        for n in 0..TOGETHER {
            if at + n < end {
                sum += numbers[n as usize];
            }
        }
        at += TOGETHER;
    }
    sum
}
