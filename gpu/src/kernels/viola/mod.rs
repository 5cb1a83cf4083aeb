//! Viola's mutual information over pairs of samples, and its derivative: see [`crate::math::viola`] for what is summed, and in what order.
//!
//! Samples lie in slots. Each set, A or B, of a group begins at a multiple of [`BLOCK`] slots and is filled up with empty ones. Five
//! launches: [`sample`] interpolates; [`sums`] adds over A for each slot of B; [`finish`] makes logarithms, their sums and the weights;
//! for the derivative [`pull`] adds over B for each slot of A, and [`finish`] has the rest.

pub mod finish;
pub mod pull;
pub mod sample;
pub mod sums;
mod tile;

/// Slots to whose multiples sets are filled up: threads of a block.
pub const BLOCK: u32 = 256;

/// What the y coordinate of an empty slot has set.
pub const EMPTY: u32 = 1 << 31;

/// Numbers that make a group's result: the sums of the logarithms of A_u, A_v and A_uv, the samples of A and of B inside, and the derivatives
/// by the twelve numbers of the map.
pub const RESULTS: usize = 17;
