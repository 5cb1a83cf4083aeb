//! Filters lines along y or z. The threads of a warp take neighbouring lines, so that their reads are coalesced.

use super::lines::{AHEAD, Ahead, LINES, anticausal_pass, each_sample, filter_sample, min_u32};
use crate::params::Recursive;
use cuda_std::shared::{self, SharedSlice};
use cuda_std::thread::{block_idx_x, thread_idx_x};

/// Filters one line per thread; threads exchange nothing. With `KEPT`, the output of the causal pass is kept in shared
/// memory, else in global memory.
///
/// # Safety
/// As [`recursive_across`](super::recursive_across); without `KEPT` no shared memory is needed.
#[inline(always)]
pub(super) unsafe fn across<const KEPT: bool>(p: &Recursive) {
    let blocks = p.stride.div_ceil(LINES);
    let (slab, lane) = (block_idx_x() / blocks, thread_idx_x());
    let (planes, slab) = if slab < p.slabs { (p.planes, slab) } else { (p.second_planes, slab - p.slabs) };
    let line = block_idx_x() % blocks * LINES + lane;
    if line >= p.stride {
        return;
    }
    // Places are indices from the slab's first sample.
    let slab = slab as usize * p.len as usize * p.stride as usize;
    let last = line + (p.len - 1) * p.stride;
    let at = |i: u32| line + i * p.stride;
    // SAFETY: every place is a sample of this thread's line, which lies in the planes.
    let get = |place: u32| unsafe { planes.get(slab + place as usize) };
    // SAFETY: sample `i` of this thread's line, below `len`; no other thread touches the line.
    let set = |i: u32, sample: f32| unsafe { planes.set(slab + at(i) as usize, sample) };
    // SAFETY: the launch gives `bytes_across`, which is a word for each sample of each lane's line.
    let tile: SharedSlice<f32> = unsafe { shared::dynamic(0, if KEPT { LINES * p.len } else { 0 }) };
    let keep = |i: u32, sample: f32| match KEPT {
        // SAFETY: `i` is below `len` and the lane below `LINES`; the word is this thread's alone.
        true => unsafe { tile.store(i * LINES + lane, sample) },
        false => set(i, sample),
    };
    let kept = |i: u32| match KEPT {
        // SAFETY: as in `keep`, which wrote every sample of the line before.
        true => unsafe { tile.load(i * LINES + lane) },
        false => get(at(i)),
    };
    // Each place is computed from the one before. As products of an index and the stride, all of them would occupy
    // registers.
    let mut place = line;
    let mut next = || {
        let sample = get(place);
        place = min_u32(place + p.stride, last);
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
            keep(i + k, filter_sample(filter, &mut state, taken));
        });
        i += AHEAD;
    }
    each_sample(&mut ahead, |k, sample| {
        if i + k < p.len {
            keep(i + k, filter_sample(filter, &mut state, *sample));
        }
    });
    state = filter.turn(&state, border);
    anticausal_pass(filter, &mut state, p.len, kept, set);
}
