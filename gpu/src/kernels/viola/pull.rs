//! The sums over B for each sample of A: lines 10 to 18 of algorithm 2.

use super::tile::{self, SLOTS, Space};
use crate::kernels::thread_number;
use crate::math::pair_distance::{Far, PairDistance, add_derivative_far};
use crate::math::viola::{CHUNK, Own, Product, Scaled, Weights, add_derivative_by};
use crate::math::windows::{Any, Fast, Near, Windows};
use crate::params::Viola;
use cuda_std::kernel;
use cuda_std::thread::block_idx_y;
use cuda_std::warp;

macro_rules! entries {
    ($($name:ident: $samples:literal, $any:ty, $near:ty, $joint:ident;)*) => {$(
        /// Sums over B. Thread blocks of [`BLOCK`](super::BLOCK) threads, with [`tile::shared_bytes`] of dynamic shared
        /// memory. The x of the grid is the tile, y the part.
        ///
        /// # Safety
        /// The slices are as long as their documentation says.
        #[kernel]
        pub unsafe fn $name(p: Viola) {
            // SAFETY: by this function's contract.
            unsafe { pull::<$samples, $any, $near, _>(&p, entries!(@ $joint, p)) }
        }
    )*};
    (@ Product, $p:ident) => { Product };
    (@ Own, $p:ident) => { Own { u: $p.joint[0], v: $p.joint[1] } };
}

entries! {
    viola_pull_few: 1, Any, Near, Product;
    viola_pull_few_own: 1, Any, Near, Own;
    viola_pull: 4, Any, Near, Product;
    viola_pull_own: 4, Any, Near, Own;
    viola_pull_fast: 2, Fast, Fast, Product;
    viola_pull_fast_own: 2, Fast, Fast, Own;
}

/// # Safety
/// As the kernels; all threads of the block call this function.
#[inline(always)]
unsafe fn pull<const R: usize, A: Windows, B: Windows, J: Far>(p: &Viola, joint: J) {
    let width = 32 * R as u32;
    // SAFETY: the launch gave the memory.
    let space = unsafe { Space::new(R as u32, 1) };
    // SAFETY: the launch has no more tiles than its blocks of slots hold.
    let Some(part) = (unsafe { super::part::<R>(p, 1) }) else { return };
    let (lane, me) = (warp::lane_id(), thread_number() / 32);
    let mut mine = [Scaled::default(); R];
    for r in 0..R {
        // SAFETY: the tile lies in a block of slots.
        let [u, v] = unsafe { p.scaled.get((part.tile + 32 * r as u32 + lane) as usize) };
        mine[r] = Scaled { u, v };
    }
    // SAFETY: whole warps come here.
    let ends = unsafe { tile::ends_of(&mine) };
    let mut all = [0.0; 1];
    let mut segment = part.first;
    while segment < part.end {
        // SAFETY: all threads of the block come here, and the segment is in the set or in the blocks that follow in
        // memory.
        unsafe { space.load(p.scaled.as_slice(), Some(p.weights.as_slice()), segment) };
        let first = me * CHUNK as u32;
        let mut sums = [0.0; R];
        if segment + first < part.end {
            // SAFETY: whole warps come here, and the chunk lies in the segment.
            match unsafe { space.apart(first, ends, p.far) } {
                PairDistance::Near => add(space, first, |turn, i, w| {
                    each(&mut sums, &mine, |sum, j, r| add_derivative_by::<B>(sum, i, w, j, joint, turn + r))
                }),
                PairDistance::Neither => add(space, first, |turn, i, w| {
                    each(&mut sums, &mine, |sum, j, r| add_derivative_by::<A>(sum, i, w, j, joint, turn + r))
                }),
                PairDistance::Far => add(space, first, |turn, i, w| {
                    each(&mut sums, &mine, |sum, j, r| add_derivative_far::<A>(sum, i, w, j, joint, turn + r))
                }),
            }
        }
        for r in 0..R {
            // SAFETY: the chunk's sums of the tile's slots, of which each lane has its own.
            unsafe { space.set(me * width + 32 * r as u32 + lane, sums[r]) };
        }
        // SAFETY: all threads of the block come here, after each has set its sums.
        unsafe { space.add_chunks(&mut all, width) };
        segment += SLOTS;
    }
    // SAFETY: the partial sums have `stride` for each kind and part.
    unsafe { tile::write(&all, width, width, p.partials, block_idx_y() * p.stride + part.out, p.stride) };
}

/// Calls `pull` for every sample of a chunk, with its turn (see [`Space::each`]) and its weights.
#[inline(always)]
fn add(space: Space, first: u32, mut pull: impl FnMut(u32, Scaled, Weights)) {
    // SAFETY: `k` is a slot of the chunk, which has been loaded with its weights.
    Space::each(first, |k, turn| unsafe { pull(turn, space.slot(k), space.weights(k)) });
}

/// Changes the sum of each of a lane's samples.
#[inline(always)]
fn each<const R: usize>(sums: &mut [f32; R], mine: &[Scaled; R], change: impl Fn(f32, Scaled, u32) -> f32) {
    for r in 0..R {
        sums[r] = change(sums[r], mine[r], r as u32);
    }
}
