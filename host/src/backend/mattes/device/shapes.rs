//! Chooses the launch shapes of the kernels for a pair of images.

use super::kernels::{MATTES_HISTOGRAM, MATTES_HISTOGRAM_BOTH, MATTES_SLOPE, MATTES_SLOPE_BOTH};
use crate::Result;
use crate::backend::histogram::device::tiles::tiles;
use crate::backend::mattes::Windows;
use crate::backend::queue::{Queue, Shape};
use gpu::kernels::WARP;
use gpu::kernels::mattes::histogram::{BANK_SHIFT, COPIES};
use gpu::math::mattes::FILL;
use gpu::params::Images;

/// The launch shapes, which are the same for all maps.
pub struct Shapes {
    histogram: Shape,
    /// Blocks that count at the same time for each range.
    resident: u32,
    tiles_len: u32,
    /// Fixed bins per block.
    pub range: u32,
    /// Copies of a block's counters. `stride` is the number of words of each.
    pub copies: u32,
    pub stride: u32,
    /// Planes per tile.
    pub depth: u32,
    /// Tiles that a block can count before its counters could overflow.
    pub tiles: u32,
    /// The shape for the derivative, with shared memory for the table if it fits.
    pub slope: Shape,
    /// Numbers in the table.
    pub table: u32,
    /// Rows of the fixed image.
    pub rows: u32,
}

impl Shapes {
    pub fn new<Q: Queue>(queue: &Q, images: &Images, windows: Windows) -> Result<Self> {
        let (count, sum) = match windows {
            Windows::Moving => (MATTES_HISTOGRAM, MATTES_SLOPE),
            Windows::Both => (MATTES_HISTOGRAM_BOTH, MATTES_SLOPE_BOTH),
        };
        let threads = queue.limits().threads;
        let block = [WARP, threads / WARP, 1];
        let [fixed_bins, moving_bins] = images.bins;

        let CounterCopies { range, copies, stride } = CounterCopies::new(images.bins, queue.shared_bytes(&count) / 4);
        let shared_bytes = 4 * copies * stride;
        let resident = queue.resident(&count, threads, shared_bytes)?;
        let passes = fixed_bins.div_ceil(range);
        let (depth, tiles_len) = tiles(images.fixed_size, [WARP, block[1]], resident);
        let histogram = Shape { grid: [1, 1, passes], block, shared_bytes };
        let blocks = resident.div_ceil(passes);

        let table = 3 * fixed_bins * (moving_bins - 3);
        let shared_bytes = if 4 * table <= queue.shared_bytes(&sum) { 4 * table } else { 0 };
        let rows = images.fixed_size[1] * images.fixed_size[2];
        let resident = queue.resident(&sum, threads, shared_bytes)?;
        let slope = Shape { grid: [resident.min(rows.div_ceil(block[1])), 1, 1], block, shared_bytes };
        let tiles = FILL / (threads * depth);
        Ok(Self { histogram, resident: blocks, tiles_len, range, copies, stride, depth, tiles, slope, table, rows })
    }

    /// The shape of a launch that counts for this many maps.
    pub fn histogram(&self, maps: u32) -> Shape {
        let [_, _, passes] = self.histogram.grid;
        Shape { grid: [self.resident.div_ceil(maps).min(self.tiles_len), maps, passes], ..self.histogram }
    }
}

/// The layout of a block's counters.
#[derive(Debug, PartialEq)]
struct CounterCopies {
    range: u32,
    copies: u32,
    stride: u32,
}

impl CounterCopies {
    /// Chooses as many copies of all counters as fit into this many words, of those tried. If none fits, there is one
    /// copy for as many fixed bins as fit.
    fn new([fixed_bins, moving_bins]: [u32; 2], words: u32) -> Self {
        let stride = (fixed_bins * moving_bins).next_multiple_of(WARP) + BANK_SHIFT;
        let several = [COPIES, COPIES / 2, COPIES / 4].into_iter().find(|copies| copies * stride <= words);
        if let Some(copies) = several {
            return Self { range: fixed_bins, copies, stride };
        }
        let passes = fixed_bins.div_ceil(words / moving_bins);
        let range = fixed_bins.div_ceil(passes);
        Self { range, copies: 1, stride: range * moving_bins }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_fit_and_ranges_cover_the_fixed_bins() {
        for (bins, words) in [5, 50, 64, 110, 111, 256, 1024].into_iter().flat_map(|n| [(n, 12_288), (n, 58_000)]) {
            let CounterCopies { range, copies, stride } = CounterCopies::new([bins; 2], words);
            assert!(copies * stride <= words && stride >= range * bins, "{bins} bins in {words} words");
            let passes = bins.div_ceil(range);
            assert!(passes == 1 || copies == 1);
            assert!(range * (passes - 1) < bins);
        }
        assert_eq!(CounterCopies::new([50; 2], 58_000), CounterCopies { range: 50, copies: 8, stride: 2532 });
    }
}
