//! The sums over A for each sample of B: lines 4 to 9 of algorithm 1.

use super::tile::{self, SLOTS, Space};
use crate::kernels::thread_number;
use crate::math::pair_distance::{Far, FarSums, PairDistance};
use crate::math::viola::{CHUNK, Own, Product, Scaled, Sums};
use crate::math::windows::{Any, Fast, Near, Windows};
use crate::params::Viola;
use cuda_std::kernel;
use cuda_std::thread::block_idx_y;
use cuda_std::warp;

/// The number of sums per slot for the value.
pub const VALUE: u32 = 3;
/// The number of sums per slot for the value and the derivative.
pub const SLOPE: u32 = 5;

macro_rules! entries {
    ($($name:ident: $samples:literal, $slope:literal, $numbers:literal, $any:ty, $near:ty, $joint:ident;)*) => {$(
        /// Sums over A. Thread blocks of [`BLOCK`](super::BLOCK) threads, with [`tile::shared_bytes`] of dynamic shared
        /// memory. The x of the grid is the tile, y the part.
        ///
        /// # Safety
        /// The slices are as long as their documentation says.
        #[kernel]
        pub unsafe fn $name(p: Viola) {
            // SAFETY: by this function's contract.
            unsafe { sums::<$samples, $slope, $numbers, $any, $near, _>(&p, entries!(@ $joint, p)) }
        }
    )*};
    (@ Product, $p:ident) => { Product };
    (@ Own, $p:ident) => { Own { u: $p.joint[0], v: $p.joint[1] } };
}

entries! {
    viola_sums_few: 1, false, 1, Any, Near, Product;
    viola_sums_few_own: 1, false, 1, Any, Near, Own;
    viola_sums_few_slope: 1, true, 1, Any, Near, Product;
    viola_sums_few_slope_own: 1, true, 1, Any, Near, Own;
    viola_sums: 4, false, 2, Any, Near, Product;
    viola_sums_own: 4, false, 2, Any, Near, Own;
    viola_sums_slope: 4, true, 3, Any, Near, Product;
    viola_sums_slope_own: 4, true, 3, Any, Near, Own;
    viola_sums_fast: 2, false, 1, Fast, Fast, Product;
    viola_sums_fast_own: 2, false, 1, Fast, Fast, Own;
    viola_sums_fast_slope: 2, true, 2, Fast, Fast, Product;
    viola_sums_fast_slope_own: 2, true, 2, Fast, Fast, Own;
}

/// # Safety
/// As the kernels; all threads of the block call it.
#[inline(always)]
unsafe fn sums<const R: usize, const S: bool, const N: usize, A: Windows, B: Windows, J: Far>(p: &Viola, joint: J) {
    let kinds = if S { SLOPE } else { VALUE };
    let width = 32 * R as u32;
    // SAFETY: the launch gave the memory.
    let space = unsafe { Space::new(R as u32, kinds) };
    // SAFETY: the launch has no more tiles than its blocks of slots hold.
    let Some(part) = (unsafe { super::part::<R>(p, 0) }) else { return };
    let (lane, me) = (warp::lane_id(), thread_number() / 32);
    let mut mine = [Scaled::default(); R];
    let mut all = [0.0; N];
    for r in 0..R {
        // SAFETY: the tile lies in a block of slots.
        let [u, v] = unsafe { p.scaled.get((part.tile + 32 * r as u32 + lane) as usize) };
        mine[r] = Scaled { u, v };
    }
    // SAFETY: whole warps come here.
    let ends = unsafe { tile::ends_of(&mine) };
    let mut segment = part.first;
    while segment < part.end {
        // SAFETY: all threads of the block come here, and the segment lies in the set or in the blocks that follow in memory.
        unsafe { space.load(p.scaled.as_slice(), None, segment) };
        let first = me * CHUNK as u32;
        let mut sums = [Sums::<f32>::default(); R];
        if segment + first < part.end {
            // SAFETY: whole warps come here, and the chunk lies in the segment.
            match unsafe { space.apart(first, ends, p.far) } {
                PairDistance::Near => add::<R, S, B>(&mut sums, &mine, space, first, joint),
                PairDistance::Neither => add::<R, S, A>(&mut sums, &mine, space, first, joint),
                PairDistance::Far => sums = add_far::<R, S, A>(&mine, space, first, joint),
            }
        }
        let at = me * kinds * width + lane;
        for r in 0..R {
            let at = at + 32 * r as u32;
            // SAFETY: the chunk's sums of the tile's slots, of which each lane has its own; `kinds` of them, 5 with `S`, else 3.
            unsafe {
                space.set(at, sums[r].u);
                space.set(at + width, sums[r].v);
                space.set(at + 2 * width, sums[r].joint);
                if S {
                    space.set(at + 3 * width, sums[r].slope_v);
                    space.set(at + 4 * width, sums[r].slope_joint);
                }
            }
        }
        // SAFETY: all threads of the block come here, after each has set its sums.
        unsafe { space.add_chunks(&mut all, kinds * width) };
        segment += SLOTS;
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
    space: Space,
    first: u32,
    joint: impl Far,
) {
    Space::each(first, |k, turn| {
        // SAFETY: `k` is a slot of the chunk, which has been loaded.
        let other = unsafe { space.slot(k) };
        for r in 0..R {
            sums[r].add_by::<S, W>(mine[r], other, joint, turn + r as u32);
        }
    });
}

/// Returns the sums over a chunk whose fixed intensities are far from those of the tile.
#[inline(always)]
fn add_far<const R: usize, const S: bool, W: Windows>(
    mine: &[Scaled; R],
    space: Space,
    first: u32,
    joint: impl Far,
) -> [Sums<f32>; R] {
    let mut of_v = [FarSums::default(); R];
    Space::each(first, |k, turn| {
        // SAFETY: `k` is a slot of the chunk, which has been loaded.
        let other = unsafe { space.slot(k) };
        for r in 0..R {
            of_v[r].add::<S, W>(mine[r], other, turn + r as u32);
        }
    });
    of_v.map(|of_v| of_v.all(joint))
}
