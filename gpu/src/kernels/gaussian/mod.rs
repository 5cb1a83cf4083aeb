//! The recursive Gaussian of [`crate::math::recursive`], in place. A warp takes 32 neighbouring lines: it reads and writes each sample
//! once, whole rows of memory at a time, and keeps the output of the causal pass in shared memory until the anticausal pass reads it.
//!
//! Where lines are too long for shared memory, the `_long` kernels keep the output of the causal pass in global memory.

mod across;
mod along;

use crate::math::recursive::{Coefficients, ORDER, State};
use crate::params::Recursive;
use across::across;
use along::along;
use cuda_std::kernel;

/// Lines of a block, and its threads: one warp.
pub const LINES: u32 = 32;

/// Samples that are filtered together.
const BATCH: usize = 8;

/// Samples of a line that are being read at a time.
const AHEAD: u32 = 4 * BATCH as u32;

/// Those samples.
type Ahead = [[f32; BATCH]; 4];

// Along x a thread reads one sample of each line.
const _: () = assert!(AHEAD == LINES);

/// Words between the rows of a tile that is read along both axes: no two threads meet in a bank.
const PADDED: u32 = LINES + 1;

/// Bytes of dynamic shared memory for lines of `len` samples along x.
pub const fn bytes_along(len: u32) -> u32 {
    4 * PADDED * len.next_multiple_of(AHEAD)
}

/// Bytes of dynamic shared memory for lines of `len` samples along y or z.
pub const fn bytes_across(len: u32) -> u32 {
    4 * LINES * len
}

/// Filters lines along y or z. Blocks of [`LINES`] threads, one block per [`LINES`] lines of a slab, slab by slab.
///
/// # Safety
/// `planes` has `slabs * len * stride` samples, `len` is at least 1, and the dynamic shared memory is [`bytes_across`].
#[kernel]
pub unsafe fn recursive_across(p: Recursive) {
    // SAFETY: this function asks of its caller what `across` asks.
    unsafe { across::<true>(&p) };
}

/// [`recursive_across`] without shared memory.
///
/// # Safety
/// As [`recursive_across`], but for the shared memory.
#[kernel]
pub unsafe fn recursive_across_long(p: Recursive) {
    // SAFETY: this function asks of its caller what `across` asks.
    unsafe { across::<false>(&p) };
}

/// Filters lines along x, one per slab. Blocks of [`LINES`] threads, one block per [`LINES`] lines.
///
/// # Safety
/// `planes` has `slabs * len` samples, `len` is at least 1, and the dynamic shared memory is [`bytes_along`].
#[kernel]
pub unsafe fn recursive_along(p: Recursive) {
    // SAFETY: this function asks of its caller what `along` asks.
    unsafe { along::<true>(&p) };
}

/// [`recursive_along`] with no more shared memory than lines of one sample need.
///
/// # Safety
/// As [`recursive_along`], with [`bytes_along`] of 1.
#[kernel]
pub unsafe fn recursive_along_long(p: Recursive) {
    // SAFETY: this function asks of its caller what `along` asks.
    unsafe { along::<false>(&p) };
}

/// The smaller number, by a comparison: one instruction.
#[inline(always)]
fn least(a: u32, b: u32) -> u32 {
    if a < b { a } else { b }
}

/// Calls `each` with the number and the place of every sample. Written out: the compiler would not unroll a loop over so many, and they
/// would lie in local memory.
#[inline(always)]
fn each_sample(ahead: &mut Ahead, mut each: impl FnMut(u32, &mut f32)) {
    each_of_batch(&mut ahead[0], 0, &mut each);
    each_of_batch(&mut ahead[1], BATCH as u32, &mut each);
    each_of_batch(&mut ahead[2], 2 * BATCH as u32, &mut each);
    each_of_batch(&mut ahead[3], 3 * BATCH as u32, &mut each);
}

#[inline(always)]
fn each_of_batch(batch: &mut [f32; BATCH], first: u32, each: &mut impl FnMut(u32, &mut f32)) {
    for k in 0..BATCH {
        each(first + k as u32, &mut batch[k]);
    }
}

/// Filters a sample and returns the pass's output.
#[inline(always)]
fn take(filter: &Coefficients, state: &mut State, sample: f32) -> f32 {
    filter.advance(state, f64::from(sample));
    state[ORDER - 1] as f32
}

/// The causal pass over samples 0 to `count`, a batch at a time: `get` reads the sample of a number, `set` writes it.
#[inline(always)]
fn forth(filter: &Coefficients, state: &mut State, count: u32, get: impl Fn(u32) -> f32, set: impl Fn(u32, f32)) {
    let mut i = 0;
    while i + BATCH as u32 <= count {
        let mut batch = [0.0; BATCH];
        for k in 0..BATCH {
            batch[k] = get(i + k as u32);
        }
        for k in 0..BATCH {
            set(i + k as u32, take(filter, state, batch[k]));
        }
        i += BATCH as u32;
    }
    while i < count {
        set(i, take(filter, state, get(i)));
        i += 1;
    }
}

/// The anticausal pass: [`forth`] from the last sample to the first.
#[inline(always)]
fn back(filter: &Coefficients, state: &mut State, count: u32, get: impl Fn(u32) -> f32, set: impl Fn(u32, f32)) {
    let mut i = count;
    while i >= BATCH as u32 {
        i -= BATCH as u32;
        let mut batch = [0.0; BATCH];
        for k in 0..BATCH {
            batch[k] = get(i + k as u32);
        }
        for k in 0..BATCH {
            let k = BATCH - 1 - k;
            set(i + k as u32, take(filter, state, batch[k]));
        }
    }
    while i > 0 {
        i -= 1;
        set(i, take(filter, state, get(i)));
    }
}
