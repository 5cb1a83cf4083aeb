//! How a joint histogram is cut into blocks and ranges of counters, for the GPU and for the emulator.

use super::Pair;
use crate::image::StoredImage;
use cuda_std::global::{DeviceSlice, DeviceSliceMut};
use gpu::kernels::histogram::WIDTH;
use gpu::math::interpolate::Interpolator;
use gpu::params::{self, Affine};
use rayon::prelude::*;

/// What a device offers to a launch.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Rows of a block: warps.
    pub rows: u32,
    /// Words of dynamic shared memory of a block.
    pub words: u32,
    /// Blocks that run at the same time.
    pub blocks: u32,
}

/// The launch of one pair's histograms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plan {
    /// Counters of a block.
    pub range: u32,
    /// Launches over ranges of the counters, as the z of the grid.
    pub passes: u32,
    /// Planes of a tile.
    pub depth: u32,
    /// Tiles of the fixed image.
    pub tiles: u32,
}

/// Tiles a block that suffice to share the work evenly.
const ENOUGH: u32 = 3;

impl Plan {
    /// For a pair on a device: the deepest tiles that still give every block some.
    pub fn new(pair: &Pair, limits: &Limits) -> Self {
        let pairs = pair.bins[0] * pair.bins[1];
        let passes = pairs.div_ceil(limits.words);
        let [width, height, depth] = pair.fixed.size.map(|n| n as u32);
        let tiles = |deep: u32| width.div_ceil(WIDTH) * height.div_ceil(limits.rows) * depth.div_ceil(deep);
        let deep = [32, 16, 8].into_iter().find(|&deep| tiles(deep) >= ENOUGH * limits.blocks).unwrap_or(4);
        Self { range: pairs.div_ceil(passes), passes, depth: deep, tiles: tiles(deep) }
    }

    /// Blocks along the grid's x for a batch: no more than run at the same time, shared among the batch.
    pub fn blocks(&self, limits: &Limits, batch: u32) -> u32 {
        (limits.blocks / (batch * self.passes)).clamp(1, self.tiles)
    }
}

/// The kernel's parameters from where its data lie; `transform` is the first of `transforms`.
pub fn histogram_params(
    pair: &Pair,
    plan: &Plan,
    fixed: DeviceSlice<u8>,
    moving: DeviceSlice<u32>,
    transform: &Affine,
    transforms: DeviceSlice<f32>,
    counters: DeviceSliceMut<u32>,
) -> params::Histogram {
    params::Histogram {
        fixed,
        moving,
        transform: *transform,
        transforms,
        counters,
        fixed_size: pair.fixed.size.map(|n| n as u32),
        moving_size: pair.moving.size.map(|n| n as u32),
        bins: pair.bins,
        range: plan.range,
        depth: plan.depth,
    }
}

/// The resampling kernel's parameters.
pub fn resample_params(
    moving: DeviceSlice<f32>,
    moving_size: [usize; 3],
    out: DeviceSliceMut<f32>,
    size: [usize; 3],
    affine: &Affine,
    how: Interpolator,
) -> params::Resample {
    params::Resample {
        moving,
        out,
        affine: *affine,
        size: size.map(|n| n as u32),
        moving_size: moving_size.map(|n| n as u32),
        interpolator: how as u32,
        unused: 0,
    }
}

/// Each stored voxel with its neighbour along x in the high half.
pub fn words(moving: &StoredImage) -> Vec<u32> {
    let values = &moving.values;
    let high = |i: usize| u32::from(values.get(i + 1).copied().unwrap_or(0)) << 16;
    values.par_iter().enumerate().map(|(i, &low)| u32::from(low) | high(i)).collect()
}

/// Entropies from the numbers that the kernel writes.
pub fn entropies(numbers: &[f64]) -> Vec<gpu::math::entropy::Entropies> {
    let result = |n: &[f64]| gpu::math::entropy::Entropies {
        fixed: n[0],
        moving: n[1],
        joint: n[2],
        mi: n[3],
        nmi: n[4],
        ratios: [n[6], n[7]],
        counts: n[5] as u64,
    };
    numbers.chunks_exact(gpu::kernels::entropy::RESULTS).map(result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::BinImage;

    fn plan(size: [usize; 3], bins: u32, limits: &Limits) -> Plan {
        let fixed = BinImage { size, bins: Vec::new() };
        let moving = StoredImage { size, values: Vec::new() };
        let pair = Pair { fixed: &fixed, moving: &moving, bins: [bins; 2], interpolator: Interpolator::Linear };
        Plan::new(&pair, limits)
    }

    #[test]
    fn counters_that_do_not_fit_are_counted_in_ranges() {
        let limits = Limits { rows: 32, words: 12_288, blocks: 72 };
        for bins in [2, 50, 110, 111, 256] {
            let plan = plan([256; 3], bins, &limits);
            assert!(plan.range <= limits.words && plan.range * plan.passes >= bins * bins);
            assert!(plan.passes == 1 || plan.range * (plan.passes - 1) < bins * bins);
        }
    }

    #[test]
    fn small_images_get_shallow_tiles() {
        let limits = Limits { rows: 32, words: 58_000, blocks: 132 };
        assert_eq!(plan([256; 3], 100, &limits).depth, 32);
        assert_eq!(plan([45, 54, 45], 64, &limits).depth, 4);
    }
}
