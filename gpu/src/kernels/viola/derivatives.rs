//! The derivative by the moving intensity of each sample of A, which is a sum over B: lines 10 to 18 of algorithm 2.

use super::FromParams;
use super::tile::{self, SLOTS_PER_SEGMENT, TileMemory};
use crate::kernels::{WARP, warp_number};
use crate::math::pair_distance::{PairDistance, add_derivative_far};
use crate::math::viola::{JointGaussian, Product, SAMPLES_PER_CHUNK, Scaled, Weights, add_derivative_by};
use crate::math::windows::{Any, Fast, Near, Windows};
use crate::params::Viola;
use cuda_std::thread::block_idx_y;
use cuda_std::warp;

// Samples per lane; windows of any pair, and of near pairs; joint window.
entries! {
    "Sums over B. Thread blocks of [`BLOCK`](super::BLOCK) threads, with [`tile::shared_bytes`] of dynamic shared \
     memory. The x of the grid is the tile, y the part.",
    derivatives;
    viola_derivatives_few: 1, Any, Near, Product;
    viola_derivatives_few_joint_gaussian: 1, Any, Near, JointGaussian;
    viola_derivatives: 4, Any, Near, Product;
    viola_derivatives_joint_gaussian: 4, Any, Near, JointGaussian;
    viola_derivatives_fast: 2, Fast, Fast, Product;
    viola_derivatives_fast_joint_gaussian: 2, Fast, Fast, JointGaussian;
}

/// # Safety
/// As the kernels; all threads of the block call this function.
#[inline(always)]
unsafe fn derivatives<const R: usize, A: Windows, B: Windows, J: FromParams>(p: &Viola) {
    let joint = J::from_params(p);
    let width = WARP * R as u32;
    // SAFETY: the launch gave the memory.
    let memory = unsafe { TileMemory::new(R as u32, 1) };
    // SAFETY: the launch has no more tiles than its blocks of slots hold.
    let Some(part) = (unsafe { super::part::<R>(p, 1) }) else { return };
    let (lane, me) = (warp::lane_id(), warp_number());
    let mut mine = [Scaled::default(); R];
    for r in 0..R {
        // SAFETY: the tile lies in a block of slots.
        let [u, v] = unsafe { p.scaled.get((part.tile + WARP * r as u32 + lane) as usize) };
        mine[r] = Scaled { u, v };
    }
    // SAFETY: whole warps come here.
    let range = unsafe { tile::fixed_range(&mine) };
    let mut all = [0.0; 1];
    let mut segment = part.first;
    while segment < part.end {
        // SAFETY: all threads of the block come here, and the segment is in the set or in the blocks that follow in
        // memory.
        unsafe { memory.load(p.scaled.as_slice(), Some(p.weights.as_slice()), segment) };
        let first = me * SAMPLES_PER_CHUNK as u32;
        let mut sums = [0.0; R];
        if segment + first < part.end {
            // SAFETY: whole warps come here, and the chunk lies in the segment.
            match unsafe { memory.distance(first, range, p.far) } {
                PairDistance::Near => each_weighted(memory, first, |turn, i, w| {
                    update(&mut sums, &mine, |sum, j, r| add_derivative_by::<B>(sum, i, w, j, joint, turn + r))
                }),
                PairDistance::Neither => each_weighted(memory, first, |turn, i, w| {
                    update(&mut sums, &mine, |sum, j, r| add_derivative_by::<A>(sum, i, w, j, joint, turn + r))
                }),
                PairDistance::Far => each_weighted(memory, first, |turn, i, w| {
                    update(&mut sums, &mine, |sum, j, r| add_derivative_far::<A>(sum, i, w, j, joint, turn + r))
                }),
            }
        }
        for r in 0..R {
            // SAFETY: the chunk's sums of the tile's slots, of which each lane has its own.
            unsafe { memory.set(me * width + WARP * r as u32 + lane, sums[r]) };
        }
        // SAFETY: all threads of the block come here, after each has set its sums.
        unsafe { memory.add_chunks(&mut all, width) };
        segment += SLOTS_PER_SEGMENT;
    }
    // SAFETY: the partial sums have `stride` for each kind and part.
    unsafe { tile::write(&all, width, width, p.partials, block_idx_y() * p.stride + part.out, p.stride) };
}

/// Calls `add` for every sample of a chunk, with its turn (see [`TileMemory::each`]) and its weights.
#[inline(always)]
fn each_weighted(memory: TileMemory, first: u32, mut add: impl FnMut(u32, Scaled, Weights)) {
    // SAFETY: `k` is a slot of the chunk, which has been loaded with its weights.
    TileMemory::each(first, |k, turn| unsafe { add(turn, memory.slot(k), memory.weights(k)) });
}

/// Updates the sum of each of a lane's samples.
#[inline(always)]
fn update<const R: usize>(sums: &mut [f32; R], mine: &[Scaled; R], change: impl Fn(f32, Scaled, u32) -> f32) {
    for r in 0..R {
        sums[r] = change(sums[r], mine[r], r as u32);
    }
}
