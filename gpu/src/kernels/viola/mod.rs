//! Viola's mutual information over pairs of samples, and its derivative: [`crate::math::viola`] says what is summed, and in what order.
//!
//! Samples lie in slots. Each set, A or B, of a group has whole blocks of [`BLOCK`] slots, the last of which are empty; memory goes on for two more
//! blocks. The launches: [`sample`] interpolates; [`sums`] adds over A for each slot of B; [`finish`] adds up the logarithms and, for the
//! derivative, makes weights; then [`pull`] adds over B for each slot of A, and [`finish`] adds up the derivative.

pub mod finish;
pub mod pull;
pub mod sample;
pub mod sums;
pub mod tile;

use crate::math::viola::{CHUNK, Scaled};
use crate::params::Viola;
use cuda_std::thread::{block_idx_x, block_idx_y};

/// Threads of a block, and slots to whose multiples sets are filled up.
pub const BLOCK: u32 = 256;

/// What the z of an empty slot has set.
pub const EMPTY: u32 = 1 << 31;

/// Numbers that make a group's result: the sums of the logarithms of A_u, A_v and A_uv, the samples of A and of B inside, and the
/// derivatives by the twelve numbers of the map.
pub const RESULTS: usize = 17;

/// What a block sums over.
struct Part {
    /// The first slot of the tile.
    tile: u32,
    /// The first slot of the other set, and the end of its last chunk that is the part's.
    first: u32,
    end: u32,
    /// Where in the partial sums of a kind the tile's begin.
    out: u32,
}

/// This block's, with `R` slots a lane; none beyond the set's last. `tiles` is 0 for tiles of B against A, 1 for the reverse.
#[inline(always)]
unsafe fn part<const R: usize>(p: &Viola, tiles: usize) -> Option<Part> {
    let width = 32 * R as u32;
    let place = block_idx_x() * width;
    let [start, group] = unsafe { p.blocks.get((p.first_block + place / BLOCK) as usize) };
    let [a, a_len, b, b_len] = unsafe { p.groups.get(group as usize) };
    let (set, len, other, other_len) = if tiles == 0 { (b, b_len, a, a_len) } else { (a, a_len, b, b_len) };
    let tile = start + place % BLOCK;
    let skip = block_idx_y() * p.part;
    let rounded = other_len.div_ceil(CHUNK as u32) * CHUNK as u32;
    let end = if rounded - skip < p.part { rounded } else { skip + p.part };
    (tile < set + len && skip < rounded).then_some(Part { tile, first: other + skip, end: other + end, out: place })
}

/// The ends of the fixed intensities of a warp's samples, which are those of the tile.
#[inline(always)]
unsafe fn ends_of<const R: usize>(samples: &[Scaled; R]) -> [f32; 2] {
    let (mut low, mut high) = (samples[0].u, samples[0].u);
    for r in 1..R {
        low = if samples[r].u < low { samples[r].u } else { low };
        high = if samples[r].u > high { samples[r].u } else { high };
    }
    unsafe { tile::ends(low, high) }
}
