//! Images whose values are sorted into a few bins.

use crate::Volume;
use crate::image::Range;
use rayon::prelude::*;

/// Bins per side.
pub const BINS: usize = 24;
/// Cells of a row of a [`Table`]: the bins, one for what is not image, and some to make it a power of two.
const ROW: usize = 32;
/// Pixels that are a piece of work at least.
const PIECE: usize = 1 << 16;

/// An image, NaN where it is only surround, and the values that are spread over the bins.
pub type Ranged = (Volume, Range);

/// The bin of each pixel.
pub fn bins(pixels: &[f32], range: Range) -> Vec<u8> {
    pixels.par_iter().with_min_len(PIECE).map(|&pixel| bin(pixel, range)).collect()
}

/// The bin of a pixel, [`BINS`] where it is not image.
#[inline(always)]
pub fn bin(pixel: f32, (low, high): Range) -> u8 {
    let scale = BINS as f32 / (high - low);
    let last = (BINS - 1) as f32;
    // SAFETY: from 0 to the last bin, also for NaN.
    let bin: i32 = unsafe { ((pixel - low) * scale).max(0.0).min(last).to_int_unchecked() };
    if pixel.is_nan() { BINS as u8 } else { bin as u8 }
}

/// Counts of pairs of bins. Neighbours often have the same bins: with two tables, one count need not wait for the other.
pub struct Table([[u32; ROW * ROW]; 2]);

impl Table {
    pub fn new() -> Self {
        Self([[0; ROW * ROW]; 2])
    }

    /// Counts bins of a fixed image and those of a moving image at the same places.
    #[inline(always)]
    pub fn count(&mut self, fixed: &[u8], moving: &[u8]) {
        let Self([one, two]) = self;
        let cell = |fixed: u8, moving: u8| usize::from(moving) % ROW * ROW + usize::from(fixed) % ROW;
        let (fixed, last) = fixed.as_chunks();
        let (moving, other) = moving.as_chunks();
        for ([a, b], [c, d]) in fixed.iter().zip(moving) {
            one[cell(*a, *c)] += 1;
            two[cell(*b, *d)] += 1;
        }
        last.iter().zip(other).for_each(|(a, b)| one[cell(*a, *b)] += 1);
    }

    /// The counts where both are image.
    pub fn counts(&self) -> Vec<u32> {
        let Self([one, two]) = self;
        (0..BINS * BINS).map(|n| n / BINS * ROW + n % BINS).map(|cell| one[cell] + two[cell]).collect()
    }
}
