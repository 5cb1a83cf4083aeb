//! The recursive Gaussian in place. A warp takes 32 lines that lie side by side: it reads and writes each sample once, whole rows of
//! memory at a time, and keeps what the causal pass gives in shared memory until the anticausal pass has come back to it.
//!
//! Lines too long for shared memory (the `_long` kernels) go through global memory in between.

use crate::math::recursive::{Coefficients, ORDER, State};
use crate::params::Recursive;
use cuda_std::kernel;
use cuda_std::shared::{self, SharedSlice};
use cuda_std::thread::{block_idx_x, thread_idx_x};
use cuda_std::warp::{ALL, sync_warp};

/// Lines of a block, and its threads: a warp.
pub const LINES: u32 = 32;

/// Samples that are taken together.
const BATCH: usize = 8;

/// Samples that are on their way from memory at a time.
const AHEAD: u32 = 4 * BATCH as u32;

/// Those samples.
type Ahead = [[f32; BATCH]; 4];

// Along x a thread reads one sample of each line.
const _: () = assert!(AHEAD == LINES);

/// Words between a tile's samples along a line, where its rows are read both ways: no two threads meet in a bank.
const PADDED: u32 = LINES + 1;

/// Shared memory for lines of `len` samples along x.
pub const fn bytes_along(len: u32) -> u32 {
    4 * PADDED * len.next_multiple_of(AHEAD)
}

/// The same along y or z.
pub const fn bytes_across(len: u32) -> u32 {
    4 * LINES * len
}

/// One block for each [`LINES`] lines of a slab, those of the first slab before those of the second; the lines are along y or z.
///
/// # Safety
/// The planes are as long as the numbers say, and the dynamic shared memory is [`bytes_across`].
#[kernel]
pub unsafe fn recursive_across(p: Recursive) {
    unsafe { across::<true>(&p) };
}

/// [`recursive_across`] without shared memory.
///
/// # Safety
/// As there, but for the shared memory.
#[kernel]
pub unsafe fn recursive_across_long(p: Recursive) {
    unsafe { across::<false>(&p) };
}

/// One block for each [`LINES`] lines, which are along x: a slab has one.
///
/// # Safety
/// The planes are as long as the numbers say, and the dynamic shared memory is [`bytes_along`].
#[kernel]
pub unsafe fn recursive_along(p: Recursive) {
    unsafe { along::<true>(&p) };
}

/// [`recursive_along`] in the shared memory that lines of one sample need.
///
/// # Safety
/// As there.
#[kernel]
pub unsafe fn recursive_along_long(p: Recursive) {
    unsafe { along::<false>(&p) };
}

/// A line a thread, neighbours in memory for neighbours; nothing passes between threads.
#[inline(always)]
unsafe fn across<const KEPT: bool>(p: &Recursive) {
    let blocks = p.stride.div_ceil(LINES);
    let (slab, lane) = (block_idx_x() / blocks, thread_idx_x());
    let line = block_idx_x() % blocks * LINES + lane;
    if line >= p.stride {
        return;
    }
    // Places are those in the slab.
    let slab = slab as usize * p.len as usize * p.stride as usize;
    let last = line + (p.len - 1) * p.stride;
    let at = |i: u32| line + i * p.stride;
    // SAFETY: all places are this line's, and the tile has all its samples.
    let get = |place: u32| unsafe { p.planes.get(slab + place as usize) };
    let set = |i: u32, sample: f32| unsafe { p.planes.set(slab + at(i) as usize, sample) };
    let tile: SharedSlice<f32> = unsafe { shared::dynamic(0, if KEPT { LINES * p.len } else { 0 }) };
    let keep =
        |i: u32, sample: f32| if KEPT { unsafe { tile.store(i * LINES + lane, sample) } } else { set(i, sample) };
    let kept = |i: u32| if KEPT { unsafe { tile.load(i * LINES + lane) } } else { get(at(i)) };
    // Each place follows from the one before: as products they would all be kept, for as many registers.
    let mut place = line;
    let mut next = || {
        let sample = get(place);
        place = least(place + p.stride, last);
        sample
    };

    let (filter, border) = (&p.coefficients, get(last));
    let mut ahead = Ahead::default();
    each_sample(&mut ahead, |_, sample| *sample = next());
    let mut state = filter.begin(ahead[0][0]);
    let mut i = 0;
    while i + AHEAD <= p.len {
        each_sample(&mut ahead, |k, sample| {
            let taken = *sample;
            *sample = next();
            keep(i + k, take(filter, &mut state, taken));
        });
        i += AHEAD;
    }
    each_sample(&mut ahead, |k, sample| {
        if i + k < p.len {
            keep(i + k, take(filter, &mut state, *sample));
        }
    });
    state = filter.turn(&state, border);
    back(filter, &mut state, p.len, kept, set);
}

/// A line a thread, but rows of memory are read and written by all, through the tile.
#[inline(always)]
unsafe fn along<const KEPT: bool>(p: &Recursive) {
    let lane = thread_idx_x();
    let chunks = p.len.div_ceil(AHEAD);
    // Places are those in the block's lines, the last of which begins here.
    let block = block_idx_x() as usize * LINES as usize * p.len as usize;
    let last = (least(LINES, p.slabs - block_idx_x() * LINES) - 1) * p.len;
    // SAFETY: lines and samples beyond the last are taken from there and not written, and the tile has all that are kept.
    let read = |place: u32| unsafe { p.planes.get(block + place as usize) };
    let tile: SharedSlice<f32> = unsafe { shared::dynamic(0, PADDED * AHEAD * if KEPT { chunks } else { 1 }) };
    // A chunk's first row in the tile, and how many samples it has.
    let row = |chunk: u32| if KEPT { chunk * AHEAD } else { 0 };
    let count = |chunk: u32| least(AHEAD, p.len - chunk * AHEAD);
    let load = |chunk: u32, samples: &mut Ahead| {
        let first = least(chunk * AHEAD + lane, p.len - 1);
        let mut place = first;
        each_sample(samples, |_, sample| {
            *sample = read(place);
            place = least(place + p.len, last + first);
        });
    };
    let place = |chunk: u32, samples: &mut Ahead| {
        let first = (row(chunk) + lane) * PADDED;
        each_sample(samples, |l, sample| unsafe { tile.store(first + l, *sample) });
        unsafe { sync_warp(ALL) };
    };
    let write = |chunk: u32| {
        unsafe { sync_warp(ALL) };
        let first = (row(chunk) + lane) * PADDED;
        let mut place = chunk * AHEAD + lane;
        if place < p.len {
            let last = last + place;
            each_sample(&mut Ahead::default(), |l, _| {
                if place <= last {
                    unsafe { p.planes.set(block + place as usize, tile.load(first + l)) };
                }
                place += p.len;
            });
        }
        unsafe { sync_warp(ALL) };
    };
    let get = |i: u32| unsafe { tile.load(i * PADDED + lane) };
    let set = |i: u32, sample: f32| unsafe { tile.store(i * PADDED + lane, sample) };

    let (filter, line) = (&p.coefficients, least(lane * p.len, last));
    let border = read(line + p.len - 1);
    let mut state = filter.begin(read(line));
    let mut ahead = Ahead::default();
    load(0, &mut ahead);
    for chunk in 0..chunks {
        place(chunk, &mut ahead);
        if chunk + 1 < chunks {
            load(chunk + 1, &mut ahead);
        }
        forth(filter, &mut state, count(chunk), |i| get(row(chunk) + i), |i, sample| set(row(chunk) + i, sample));
        if !KEPT {
            write(chunk);
        }
    }
    state = filter.turn(&state, border);
    let mut chunk = chunks;
    while chunk > 0 {
        chunk -= 1;
        if !KEPT {
            load(chunk, &mut ahead);
            place(chunk, &mut ahead);
        }
        back(filter, &mut state, count(chunk), |i| get(row(chunk) + i), |i, sample| set(row(chunk) + i, sample));
        write(chunk);
    }
}

/// A comparison: one instruction.
#[inline(always)]
fn least(a: u32, b: u32) -> u32 {
    if a < b { a } else { b }
}

/// Calls `each` with all samples, written out: a loop over so many would stay one, and they would lie in memory.
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

/// Takes a sample and returns the pass's output.
#[inline(always)]
fn take(filter: &Coefficients, state: &mut State, sample: f32) -> f32 {
    filter.advance(state, f64::from(sample));
    state[ORDER - 1] as f32
}

/// Filters samples 0 to `count`, a batch at a time.
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

/// [`forth`] the other way.
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
