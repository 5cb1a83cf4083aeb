//! Building blocks of the CPU side of several families: rows of an image in chunks that the compiler turns into vector
//! instructions.

// Loops over lanes index several arrays at once.
#![allow(clippy::needless_range_loop)]

pub mod order;
pub(crate) mod simd;
pub mod values;

use gpu::math::{affine, interpolate};
use gpu::params::Affine;

/// Samples, or lines of samples, that are processed together.
pub const CHUNK: usize = 16;

/// The least number of samples in a piece of work. Starting a smaller piece would cost more than doing it.
pub const PIECE: usize = 1 << 15;

/// Positions or values of a chunk.
pub type Lanes = [f32; CHUNK];

/// The x terms of the positions along a row of this many voxels, in whole chunks.
pub fn columns(matrix: &Affine, width: usize) -> Vec<[Lanes; 3]> {
    let chunk = |chunk: usize| {
        let terms: [[f32; 3]; CHUNK] = std::array::from_fn(|l| affine::from_x(matrix, (chunk * CHUNK + l) as u32));
        [0, 1, 2].map(|axis| terms.map(|term| term[axis]))
    };
    (0..width.div_ceil(CHUNK)).map(chunk).collect()
}

/// The positions of a chunk in a moving image of `size`, and which of them are inside. Positions outside are clamped,
/// so that they are safe to read.
#[inline(always)]
pub fn positions(matrix: &Affine, size: [u32; 3], terms: &[Lanes; 3], y: u32, z: u32) -> ([Lanes; 3], [bool; CHUNK]) {
    let last = interpolate::last(size);
    let mut positions = [[0.0; CHUNK]; 3];
    let mut inside = [false; CHUNK];
    for l in 0..CHUNK {
        let position = affine::add_y(matrix, [terms[0][l], terms[1][l], terms[2][l]], y);
        let position = affine::add_z(matrix, position, z);
        inside[l] = interpolate::inside(position, last);
        let safe = interpolate::clamp(position, last);
        for axis in 0..3 {
            positions[axis][l] = safe[axis];
        }
    }
    (positions, inside)
}
