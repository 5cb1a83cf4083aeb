//! A thread's line: its samples in batches on their way from memory, and the two passes over them.

use crate::math::recursive::{Coefficients, ORDER, State};

/// Lines of a block, and its threads: one warp.
pub const LINES: u32 = 32;

/// Samples that are filtered together.
const BATCH: usize = 8;

/// Samples of a line that are being read at a time.
pub const AHEAD: u32 = 4 * BATCH as u32;

/// The samples of a line that are being read.
pub type Ahead = [[f32; BATCH]; 4];

// Along x a thread reads one sample of each line.
const _: () = assert!(AHEAD == LINES);

/// Words between the rows of a tile that is read along both axes: no two threads meet in a bank.
pub const PADDED: u32 = LINES + 1;

/// The smaller number, by a comparison: one instruction.
#[inline(always)]
pub fn least(a: u32, b: u32) -> u32 {
    if a < b { a } else { b }
}

/// Calls `each` with the number and the place of every sample. Written out: the compiler would not unroll a loop over so many, and they
/// would lie in local memory.
#[inline(always)]
pub fn each_sample(ahead: &mut Ahead, mut each: impl FnMut(u32, &mut f32)) {
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
pub fn take(filter: &Coefficients, state: &mut State, sample: f32) -> f32 {
    filter.advance(state, f64::from(sample));
    state[ORDER - 1] as f32
}

/// The causal pass over samples 0 to `count`, a batch at a time: `get` reads the sample of a number, `set` writes it.
#[inline(always)]
pub fn forth(filter: &Coefficients, state: &mut State, count: u32, get: impl Fn(u32) -> f32, set: impl Fn(u32, f32)) {
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
pub fn back(filter: &Coefficients, state: &mut State, count: u32, get: impl Fn(u32) -> f32, set: impl Fn(u32, f32)) {
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
