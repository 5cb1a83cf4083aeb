//! Images whose intensities are sorted into a few bins.

use crate::Volume;
use crate::image::Range;
use rayon::prelude::*;

/// Bins per image.
pub const BINS: usize = 24;
/// Cells per row of a [`Table`]: the bins, one for the background, and padding up to a power of two.
const ROW: usize = 32;
/// The fewest pixels that are worth a task of their own.
const PIECE: usize = 1 << 16;

/// An image that is NaN in the background, and the range of its values that is spread over the bins.
pub type Ranged = (Volume, Range);

/// Returns the bin of each pixel.
pub fn bins(pixels: &[f32], range: Range) -> Vec<u8> {
    pixels.par_iter().with_min_len(PIECE).map(|&pixel| bin(pixel, range)).collect()
}

/// Returns the bin of a pixel, [`BINS`] in the background.
#[inline(always)]
pub fn bin(pixel: f32, (low, high): Range) -> u8 {
    let scale = BINS as f32 / (high - low);
    let last = (BINS - 1) as f32;
    // SAFETY: the value is between 0 and the last bin, also for NaN.
    let bin: i32 = unsafe { ((pixel - low) * scale).max(0.0).min(last).to_int_unchecked() };
    if pixel.is_nan() { BINS as u8 } else { bin as u8 }
}

/// Counts of pairs of bins. Neighbours often have the same pair of bins: with two tables in turn, a count need not wait
/// for the one before it.
pub struct Table([[u32; ROW * ROW]; 2]);

impl Table {
    pub fn new() -> Self {
        Self([[0; ROW * ROW]; 2])
    }

    /// Counts the bins of a fixed image and those of a moving image at the same positions.
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

    /// Returns the joint histogram of the voxels that are foreground in both images.
    pub fn counts(&self) -> Vec<u32> {
        let Self([one, two]) = self;
        (0..BINS * BINS).map(|n| n / BINS * ROW + n % BINS).map(|cell| one[cell] + two[cell]).collect()
    }
}
