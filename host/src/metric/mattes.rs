//! Mutual information by B-spline windows over bins (Mattes and others 2003).

use super::family::{LoadedMetric, MetricFamily, MetricImages, MetricValue};
use super::joint::Histogram;
use super::pair::{GridPair, ImagePair};
use crate::backend::{Backend, Counted, Interpolated, MattesPair, Smooth, SmoothEvaluator, Windows};
use crate::error::Setting;
use crate::image::{ToBins, ToValues};
use crate::{Error, Result};
use glam::DAffine3;
use gpu::math::mattes::{LEAST_BINS, PADDING};

/// The fewest samples per cell of the joint histogram, on average. Mutual information is not normalised: on slices of
/// 57,000 voxels, heads that were registered with 64 bins ended 0.3 degrees off.
const SAMPLES_PER_CELL: f64 = 48.0;
/// The fewest bins per side that a level has beside the padding: with 8 a slice ended upside down.
const LEAST_FILLED: u32 = 24;

/// Mattes's mutual information, with its gradient. It interpolates linearly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mattes {
    /// Whether windows are on the intensities of the interpolated image alone or of both.
    pub windows: Windows,
    /// Bins per side, 5 to 1024, including two empty ones at either end; levels with few samples have fewer.
    pub bins: u32,
}

impl Default for Mattes {
    /// Windows on the interpolated image alone, 64 bins.
    fn default() -> Self {
        Self { windows: Windows::Moving, bins: Histogram::BINS }
    }
}

impl Mattes {
    /// The fewest bins per side that are accepted.
    pub const LEAST_BINS: u32 = LEAST_BINS;
}

impl MetricFamily for Mattes {
    fn name(&self) -> &'static str {
        match self.windows {
            Windows::Moving => "Mattes MI",
            Windows::Both => "symmetric Mattes MI",
        }
    }

    fn key(&self) -> &'static str {
        match self.windows {
            Windows::Moving => "mattes",
            Windows::Both => "mattes-symmetric",
        }
    }

    fn summary(&self) -> &'static str {
        match self.windows {
            Windows::Moving => {
                "Mutual information by cubic B-spline windows on the intensities that are interpolated, with its gradient (Mattes and others 2003)"
            }
            Windows::Both => "The same with windows on the intensities of both images",
        }
    }

    fn histogram(&self) -> Histogram {
        Histogram { bins: self.bins, ..Histogram::default() }
    }

    fn check(&self) -> Result<()> {
        match self.bins < LEAST_BINS {
            true => Err(Error::option(
                Setting::Bins,
                format!(
                    "{} bins: the Mattes metric takes {LEAST_BINS} to 1024, of which {PADDING} at each end stay empty",
                    self.bins
                ),
            )),
            false => Ok(()),
        }
    }

    /// For each pair of bins: the counts of every thread, in 32 and in 64 bits for each of a window's four weights, and
    /// the tables that are made from them.
    fn bytes(&self) -> u64 {
        u64::from(self.bins).pow(2) * (48 * rayon::current_num_threads() as u64 + 40)
    }

    fn prepare<'v>(&self, pair: ImagePair<'v>) -> Result<Box<dyn MetricImages + 'v>> {
        let wanted = self.bins.saturating_sub(2 * PADDING);
        let bins = pair.filled_bins(wanted, SAMPLES_PER_CELL, LEAST_FILLED) + 2 * PADDING;
        let (grids, samples, windows) = (pair.grids(), pair.samples() as u64, self.windows);
        let fixed = ToBins::new(pair.sampled, windows.binning(pair.ranges[0], bins), pair.keep);
        let moving = ToValues::fine(pair.interpolated, pair.sigmas, pair.ranges[1]);
        Ok(Box::new(WindowedImages { grids, fixed, moving, bins, windows, samples }))
    }
}

struct WindowedImages<'v> {
    grids: GridPair,
    fixed: ToBins<'v>,
    moving: ToValues<'v>,
    bins: u32,
    windows: Windows,
    samples: u64,
}

impl MetricImages for WindowedImages<'_> {
    fn grids(&self) -> &GridPair {
        &self.grids
    }

    fn samples(&self) -> u64 {
        self.samples
    }

    fn load<'a>(&'a self, backend: &'a dyn Backend) -> Result<Box<dyn LoadedMetric + 'a>> {
        let (fixed, moving) = (Counted::Image(&self.fixed), Interpolated::Image(&self.moving));
        let pair = MattesPair { fixed, moving, bins: [self.bins; 2], windows: self.windows };
        let evaluator = backend.load_mattes(pair)?;
        Ok(Box::new(LoadedWindows { grids: &self.grids, evaluator }))
    }
}

struct LoadedWindows<'a> {
    grids: &'a GridPair,
    evaluator: Box<dyn SmoothEvaluator + 'a>,
}

impl LoadedMetric for LoadedWindows<'_> {
    fn values(&mut self, transforms: &[DAffine3]) -> Result<Vec<MetricValue>> {
        Ok(self.evaluator.values(&self.grids.maps(transforms))?.iter().map(MetricValue::from).collect())
    }

    fn slope(&mut self, transform: &DAffine3) -> Result<(MetricValue, [[f64; 4]; 3])> {
        let slope = self.evaluator.slope(&self.grids.map(transform))?;
        Ok((MetricValue::from(&slope.at), slope.by_map))
    }
}

impl From<&Smooth> for MetricValue {
    fn from(smooth: &Smooth) -> Self {
        Self { value: smooth.mi, overlap: smooth.overlap }
    }
}
