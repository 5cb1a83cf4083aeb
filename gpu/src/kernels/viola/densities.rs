//! The densities at each sample of B, which are sums over A: lines 4 to 9 of algorithm 1.

use super::FromParams;
use super::tile::{self, SLOTS_PER_SEGMENT, TileMemory};
use crate::kernels::{WARP, warp_number};
use crate::math::pair_distance::{FarJointWindow, FarSums, PairDistance};
use crate::math::viola::{JointGaussian, Product, SAMPLES_PER_CHUNK, Scaled, Sums};
use crate::math::windows::{Any, Fast, Near, Windows};
use crate::params::Viola;
use cuda_std::thread::block_idx_y;
use cuda_std::warp;

/// The number of sums per slot for the value.
pub const VALUE_SUMS: u32 = 3;
/// The number of sums per slot for the value and the derivative.
pub const SLOPE_SUMS: u32 = 5;

// Samples per lane; whether there are sums for the derivative; sums that a thread adds up; windows of any pair, and of
// near pairs; joint window.
entries! {
    "Sums over A. Thread blocks of [`BLOCK`](super::BLOCK) threads, with [`tile::shared_bytes`] of dynamic shared \
     memory. The x of the grid is the tile, y the part.",
    densities;
    viola_densities_few: 1, false, 1, Any, Near, Product;
    viola_densities_few_joint_gaussian: 1, false, 1, Any, Near, JointGaussian;
    viola_densities_few_slope: 1, true, 1, Any, Near, Product;
    viola_densities_few_slope_joint_gaussian: 1, true, 1, Any, Near, JointGaussian;
    viola_densities: 4, false, 2, Any, Near, Product;
    viola_densities_joint_gaussian: 4, false, 2, Any, Near, JointGaussian;
    viola_densities_slope: 4, true, 3, Any, Near, Product;
    viola_densities_slope_joint_gaussian: 4, true, 3, Any, Near, JointGaussian;
    viola_densities_fast: 2, false, 1, Fast, Fast, Product;
    viola_densities_fast_joint_gaussian: 2, false, 1, Fast, Fast, JointGaussian;
    viola_densities_fast_slope: 2, true, 2, Fast, Fast, Product;
    viola_densities_fast_slope_joint_gaussian: 2, true, 2, Fast, Fast, JointGaussian;
}

/// # Safety
/// As the kernels; all threads of the block call it.
#[inline(always)]
unsafe fn densities<const R: usize, const S: bool, const N: usize, A: Windows, B: Windows, J: FromParams>(p: &Viola) {
    let joint = J::from_params(p);
    let kinds = if S { SLOPE_SUMS } else { VALUE_SUMS };
    let width = WARP * R as u32;
    // SAFETY: the launch gave the memory.
    let memory = unsafe { TileMemory::new(R as u32, kinds) };
    // SAFETY: the launch has no more tiles than its blocks of slots hold.
    let Some(part) = (unsafe { super::part::<R>(p, 0) }) else { return };
    let (lane, me) = (warp::lane_id(), warp_number());
    let mut mine = [Scaled::default(); R];
    let mut all = [0.0; N];
    for r in 0..R {
        // SAFETY: the tile lies in a block of slots.
        let [u, v] = unsafe { p.scaled.get((part.tile + WARP * r as u32 + lane) as usize) };
        mine[r] = Scaled { u, v };
    }
    // SAFETY: whole warps come here.
    let range = unsafe { tile::fixed_range(&mine) };
    let mut segment = part.first;
    while segment < part.end {
        // SAFETY: all threads of the block come here, and the segment lies in the set or in the blocks that follow in memory.
        unsafe { memory.load(p.scaled.as_slice(), None, segment) };
        let first = me * SAMPLES_PER_CHUNK as u32;
        let mut sums = [Sums::<f32>::default(); R];
        if segment + first < part.end {
            // SAFETY: whole warps come here, and the chunk lies in the segment.
            match unsafe { memory.distance(first, range, p.far) } {
                PairDistance::Near => add::<R, S, B>(&mut sums, &mine, memory, first, joint),
                PairDistance::Neither => add::<R, S, A>(&mut sums, &mine, memory, first, joint),
                PairDistance::Far => sums = add_far::<R, S, A>(&mine, memory, first, joint),
            }
        }
        let at = me * kinds * width + lane;
        for r in 0..R {
            let at = at + WARP * r as u32;
            // SAFETY: the chunk's sums of the tile's slots, of which each lane has its own; `kinds` of them, 5 with `S`, else 3.
            unsafe {
                memory.set(at, sums[r].u);
                memory.set(at + width, sums[r].v);
                memory.set(at + 2 * width, sums[r].joint);
                if S {
                    memory.set(at + 3 * width, sums[r].slope_v);
                    memory.set(at + 4 * width, sums[r].slope_joint);
                }
            }
        }
        // SAFETY: all threads of the block come here, after each has set its sums.
        unsafe { memory.add_chunks(&mut all, kinds * width) };
        segment += SLOTS_PER_SEGMENT;
    }
    let first = block_idx_y() * kinds * p.stride + part.out;
    // SAFETY: the partial sums have `stride` for each kind and part.
    unsafe { tile::write(&all, kinds * width, width, p.partials, first, p.stride) };
}

/// Adds a chunk's samples to the sums of each of a lane's samples.
#[inline(always)]
fn add<const R: usize, const S: bool, W: Windows>(
    sums: &mut [Sums<f32>; R],
    mine: &[Scaled; R],
    memory: TileMemory,
    first: u32,
    joint: impl FarJointWindow,
) {
    TileMemory::each(first, |k, turn| {
        // SAFETY: `k` is a slot of the chunk, which has been loaded.
        let other = unsafe { memory.slot(k) };
        for r in 0..R {
            sums[r].add_by::<S, W>(mine[r], other, joint, turn + r as u32);
        }
    });
}

/// Returns the sums over a chunk whose fixed intensities are far from those of the tile.
#[inline(always)]
fn add_far<const R: usize, const S: bool, W: Windows>(
    mine: &[Scaled; R],
    memory: TileMemory,
    first: u32,
    joint: impl FarJointWindow,
) -> [Sums<f32>; R] {
    let mut of_v = [FarSums::default(); R];
    TileMemory::each(first, |k, turn| {
        // SAFETY: `k` is a slot of the chunk, which has been loaded.
        let other = unsafe { memory.slot(k) };
        for r in 0..R {
            of_v[r].add::<S, W>(mine[r], other, turn + r as u32);
        }
    });
    of_v.map(|of_v| of_v.all(joint))
}
