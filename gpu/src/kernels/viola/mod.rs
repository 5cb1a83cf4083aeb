//! Viola's mutual information, which sums over pairs of samples, and its derivative. The sums and their order are those
//! of [`crate::math::viola`].
//!
//! A group is one evaluation: a map and two sets of samples, A and B. A slot holds a sample. Each set has whole blocks
//! of [`BLOCK`] slots; the last slots of the last block may be empty. Two more blocks follow in memory. The launches of
//! an evaluation:
//!
//! 1. [`sample`] interpolates the moving image.
//! 2. [`densities`] computes the densities at each slot of B, by sums over A.
//! 3. [`finish`] adds up the logarithms and, for the derivative, computes the weights.
//! 4. For the derivative, [`derivatives`] computes the derivative by each slot of A, by sums over B.
//! 5. For the derivative, [`finish`] adds it up.
//!
//! Launches 2 and 4 split the set that is summed over into parts, along y of the grid.

/// Defines kernels with a common description. Each calls the given function, with the generic arguments listed.
macro_rules! entries {
    ($description:literal, $function:ident; $($name:ident: $($argument:tt),+;)+) => {$(
        #[doc = $description]
        ///
        /// # Safety
        /// The slices are as long as their documentation says.
        #[cuda_std::kernel]
        pub unsafe fn $name(p: Viola) {
            // SAFETY: by this function's contract.
            unsafe { $function::<$($argument),+>(&p) }
        }
    )+};
}

pub mod densities;
pub mod derivatives;
pub mod finish;
pub mod sample;
pub mod tile;

use crate::kernels::WARP;
use crate::math::pair_distance::FarJointWindow;
use crate::math::viola::{JointGaussian, Product, SAMPLES_PER_CHUNK};
use crate::params::Viola;
use cuda_std::thread::{block_idx_x, block_idx_y};

/// Threads of a thread block, and slots of a block of slots.
pub const BLOCK: u32 = 256;

/// The bit of z that marks an empty slot.
pub const EMPTY: u32 = 1 << 31;

/// Numbers of a group's result: the sums of the logarithms of A_u, A_v and A_uv, the samples of A and of B inside, and the
/// derivatives by the twelve coefficients of the map.
pub const RESULTS: usize = 17;

/// A joint window, made from a kernel's parameters.
trait FromParams: FarJointWindow {
    fn from_params(p: &Viola) -> Self;
}

impl FromParams for Product {
    #[inline(always)]
    fn from_params(_: &Viola) -> Self {
        Self
    }
}

impl FromParams for JointGaussian {
    #[inline(always)]
    fn from_params(p: &Viola) -> Self {
        let [u, v] = p.joint;
        Self { u, v }
    }
}

/// The tile of slots of a thread block, and the part of the other set that it sums over.
struct Part {
    /// The first slot of the tile.
    tile: u32,
    /// The part's first slot.
    first: u32,
    /// The end of the part's last chunk.
    end: u32,
    /// The index of the tile's first partial sum in each kind.
    out: u32,
}

/// Returns the tile and part of this thread block, with `R` slots per lane, or `None` if the tile or the part is beyond
/// the end of its set. `tiles` is 0 for tiles of B that sum over A, and 1 for tiles of A that sum over B.
///
/// # Safety
/// The launch has no more tiles than `blocks` from `first_block` on.
#[inline(always)]
unsafe fn part<const R: usize>(p: &Viola, tiles: usize) -> Option<Part> {
    let width = WARP * R as u32;
    let place = block_idx_x() * width;
    // SAFETY: the caller says that there is this block.
    let [start, group] = unsafe { p.blocks.get((p.first_block + place / BLOCK) as usize) };
    // SAFETY: blocks name groups that there are.
    let [a, a_len, b, b_len] = unsafe { p.groups.get(group as usize) };
    let (set, len, other, other_len) = if tiles == 0 { (b, b_len, a, a_len) } else { (a, a_len, b, b_len) };
    let tile = start + place % BLOCK;
    let skip = block_idx_y() * p.part;
    let rounded = other_len.div_ceil(SAMPLES_PER_CHUNK as u32) * SAMPLES_PER_CHUNK as u32;
    // For parts beyond the end the difference wraps, and `end` is not used.
    let end = if rounded.wrapping_sub(skip) < p.part { rounded } else { skip + p.part };
    (tile < set + len && skip < rounded).then_some(Part { tile, first: other + skip, end: other + end, out: place })
}
