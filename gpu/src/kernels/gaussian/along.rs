//! Filters lines along x. A warp reads rows of memory (coalesced) and transposes them in a tile of shared memory, so
//! that each thread can run along a line of its own.

use super::lines::{AHEAD, Ahead, LINES, PADDED, anticausal_pass, causal_pass, each_sample, min_u32};
use crate::params::Recursive;
use cuda_std::shared::{self, SharedSlice};
use cuda_std::thread::{block_idx_x, thread_idx_x};
use cuda_std::warp::{ALL, sync_warp};

/// Filters one line per thread. The warp reads and writes rows of memory together, through the tile. With `KEPT`, the
/// tile holds whole lines, else one chunk of each line at a time.
///
/// # Safety
/// As [`recursive_along`](super::recursive_along); without `KEPT` as [`recursive_along_long`](super::recursive_along_long).
#[inline(always)]
pub(super) unsafe fn along<const KEPT: bool>(p: &Recursive) {
    let lane = thread_idx_x();
    let chunks = p.len.div_ceil(AHEAD);
    // Places are indices from the first sample of the block's first line. The block's last line begins at `last`.
    let (block, blocks) = (block_idx_x(), p.slabs.div_ceil(LINES));
    let (planes, slabs, block) =
        if block < blocks { (p.planes, p.slabs, block) } else { (p.second_planes, p.second_slabs, block - blocks) };
    let last = (min_u32(LINES, slabs - block * LINES) - 1) * p.len;
    let block = block as usize * LINES as usize * p.len as usize;
    // SAFETY: places are clamped to the block's last line and to a line's last sample, so that they lie in the planes.
    let read = |place: u32| unsafe { planes.get(block + place as usize) };
    // SAFETY: the launch gives `bytes_along` of the line's length or, without `KEPT`, of 1: room for as many chunks of
    // `AHEAD` padded rows.
    let tile: SharedSlice<f32> = unsafe { shared::dynamic(0, PADDED * AHEAD * if KEPT { chunks } else { 1 }) };
    // A chunk's first row in the tile, and the chunk's number of samples.
    let row = |chunk: u32| if KEPT { chunk * AHEAD } else { 0 };
    let count = |chunk: u32| min_u32(AHEAD, p.len - chunk * AHEAD);
    let load = |chunk: u32, samples: &mut Ahead| {
        let first = min_u32(chunk * AHEAD + lane, p.len - 1);
        let mut place = first;
        each_sample(samples, |_, sample| {
            *sample = read(place);
            place = min_u32(place + p.len, last + first);
        });
    };
    let place = |chunk: u32, samples: &mut Ahead| {
        let first = (row(chunk) + lane) * PADDED;
        // SAFETY: the row is one of the chunk's in the tile, this thread's until the barrier, and `l` is below `AHEAD`.
        each_sample(samples, |l, sample| unsafe { tile.store(first + l, *sample) });
        // SAFETY: the block is one warp, and `chunk` is the same in all its lanes.
        unsafe { sync_warp(ALL) };
    };
    let write = |chunk: u32| {
        // SAFETY: the block is one warp, and `chunk` is the same in all its lanes.
        unsafe { sync_warp(ALL) };
        let first = (row(chunk) + lane) * PADDED;
        let mut place = chunk * AHEAD + lane;
        if place < p.len {
            let last = last + place;
            each_sample(&mut Ahead::default(), |l, _| {
                if place <= last {
                    // SAFETY: a sample of one of the block's lines, which no other thread writes; the tile's row was filled before
                    // the barrier.
                    unsafe { planes.set(block + place as usize, tile.load(first + l)) };
                }
                place += p.len;
            });
        }
        // SAFETY: as above.
        unsafe { sync_warp(ALL) };
    };
    // SAFETY: row `i` is one of the tile's, filled before the barrier of `place` or by this thread.
    let get = |i: u32| unsafe { tile.load(i * PADDED + lane) };
    // SAFETY: row `i` is one of the tile's; column `lane` is this thread's alone until the barrier of `write`.
    let set = |i: u32, sample: f32| unsafe { tile.store(i * PADDED + lane, sample) };

    let (filter, line) = (&p.coefficients, min_u32(lane * p.len, last));
    let border = read(line + p.len - 1);
    let mut state = filter.begin(read(line));
    let mut ahead = Ahead::default();
    load(0, &mut ahead);
    for chunk in 0..chunks {
        place(chunk, &mut ahead);
        if chunk + 1 < chunks {
            load(chunk + 1, &mut ahead);
        }
        causal_pass(filter, &mut state, count(chunk), |i| get(row(chunk) + i), |i, sample| set(row(chunk) + i, sample));
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
        anticausal_pass(
            filter,
            &mut state,
            count(chunk),
            |i| get(row(chunk) + i),
            |i, sample| set(row(chunk) + i, sample),
        );
        write(chunk);
    }
}
