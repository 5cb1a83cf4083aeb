//! Images whose values are sorted into a few bins.

use crate::Volume;
use crate::image::Range;
use rayon::prelude::*;

/// Bins per side.
pub const BINS: usize = 24;
/// Pixels that are a piece of work at least.
const PIECE: usize = 1 << 14;

/// An image, NaN where it is only surround, and the values that are spread over the bins.
pub type Ranged = (Volume, Range);

/// The bin of each pixel.
pub fn bins(pixels: &[f32], range: Range) -> Vec<u8> {
    pixels.par_iter().with_min_len(PIECE).map(|&pixel| bin(pixel, range)).collect()
}

/// The bin of a pixel, [`BINS`] where it is not image.
#[inline]
pub fn bin(pixel: f32, (low, high): Range) -> u8 {
    let scale = BINS as f32 / (high - low);
    let last = (BINS - 1) as f32;
    if pixel.is_nan() { BINS as u8 } else { ((pixel - low) * scale).clamp(0.0, last) as u8 }
}
