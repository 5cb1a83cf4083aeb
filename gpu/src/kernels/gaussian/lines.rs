//! What a thread does with its line: prefetches samples into registers, and runs the causal and the anticausal pass.

use crate::kernels::WARP;
use crate::math::recursive::{Coefficients, ORDER, State};

/// Lines that a thread block filters, one per thread. A block is one warp.
pub const LINES: u32 = WARP;

/// Samples that a pass reads before it filters them, so that the reads overlap.
const BATCH: usize = 8;

/// Samples of a line that are prefetched at a time.
pub const AHEAD: u32 = 4 * BATCH as u32;

/// Registers for the prefetched samples of a line.
pub type Ahead = [[f32; BATCH]; 4];

// For lines along x, a thread reads one sample of each of the block's lines.
const _: () = assert!(AHEAD == LINES);

/// Words from one row of a tile to the next. The tile is read along both axes, and this odd number avoids bank
/// conflicts along either.
pub const PADDED: u32 = LINES + 1;

/// Returns the smaller number. The comparison compiles to one instruction.
#[inline(always)]
pub fn min_u32(a: u32, b: u32) -> u32 {
    if a < b { a } else { b }
}

/// Calls `each` with the number of every prefetched sample and a reference to it. The calls are written out because the
/// compiler does not unroll so long a loop, and the samples would then be in local memory.
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

/// Feeds a sample to a pass and returns the pass's output.
#[inline(always)]
pub fn filter_sample(filter: &Coefficients, state: &mut State, sample: f32) -> f32 {
    filter.advance(state, f64::from(sample));
    state[ORDER - 1] as f32
}

/// Runs the causal pass over samples 0 to `count`, a batch at a time. `get` reads a sample by its number, and `set`
/// writes the output there.
#[inline(always)]
pub fn causal_pass(
    filter: &Coefficients,
    state: &mut State,
    count: u32,
    get: impl Fn(u32) -> f32,
    set: impl Fn(u32, f32),
) {
    let mut i = 0;
    while i + BATCH as u32 <= count {
        let mut batch = [0.0; BATCH];
        for k in 0..BATCH {
            batch[k] = get(i + k as u32);
        }
        for k in 0..BATCH {
            set(i + k as u32, filter_sample(filter, state, batch[k]));
        }
        i += BATCH as u32;
    }
    while i < count {
        set(i, filter_sample(filter, state, get(i)));
        i += 1;
    }
}

/// Runs the anticausal pass: as [`causal_pass`], but from the last sample to the first.
#[inline(always)]
pub fn anticausal_pass(
    filter: &Coefficients,
    state: &mut State,
    count: u32,
    get: impl Fn(u32) -> f32,
    set: impl Fn(u32, f32),
) {
    let mut i = count;
    while i >= BATCH as u32 {
        i -= BATCH as u32;
        let mut batch = [0.0; BATCH];
        for k in 0..BATCH {
            batch[k] = get(i + k as u32);
        }
        for k in 0..BATCH {
            let k = BATCH - 1 - k;
            set(i + k as u32, filter_sample(filter, state, batch[k]));
        }
    }
    while i > 0 {
        i -= 1;
        set(i, filter_sample(filter, state, get(i)));
    }
}
