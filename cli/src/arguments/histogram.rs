//! The arguments that say how the metric is counted.

use std::path::PathBuf;

use clap::{Args, value_parser};
use mireg::metric::{self, HistogramMethod};
use mireg::{Volume, io};

use super::choice::choice;
use crate::bench::Interpolation;

/// Bins a side where nothing else is said.
pub const DEFAULT_BINS: u32 = metric::Histogram::BINS;

#[derive(Args)]
pub struct Histogram {
    /// Bins a side of the joint histogram, 2 to 1024; for mattes with two empty ones at either end, 5 or more
    #[arg(long, value_name = "N", default_value_t = DEFAULT_BINS, help_heading = "Metric")]
    #[arg(value_parser = value_parser!(u32).range(2..=1024), allow_negative_numbers = true)]
    pub bins: u32,
    /// What lies between the voxels of MOVING
    #[arg(long, value_enum, default_value_t = Interpolation::Linear, help_heading = "Metric")]
    pub interpolation: Interpolation,
    /// Count only where this image, on the grid of FIXED, is 0.5 or more
    #[arg(long, value_name = "FILE", help_heading = "Metric")]
    pub fixed_mask: Option<PathBuf>,
    /// Count only what falls where this image, on the grid of MOVING, is 0.5 or more
    #[arg(long, value_name = "FILE", help_heading = "Metric")]
    pub moving_mask: Option<PathBuf>,
    /// How a GPU counts the joint histogram; `mireg bench --help` lists the ways. All give the same counts, auto takes the fastest
    #[arg(long, value_parser = choice::<HistogramMethod>(), default_value_t = HistogramMethod::Auto, help_heading = "Computing", hide_possible_values = true)]
    pub histogram: HistogramMethod,
}

impl Histogram {
    /// As the library wants it.
    pub fn counted(&self) -> metric::Histogram {
        metric::Histogram { bins: self.bins, interpolator: self.interpolation.into(), method: self.histogram }
    }

    /// Reads the masks of FIXED and MOVING.
    pub fn masks(&self) -> mireg::Result<[Option<Volume>; 2]> {
        let read = |mask: &Option<PathBuf>| mask.as_deref().map(io::read).transpose();
        Ok([read(&self.fixed_mask)?, read(&self.moving_mask)?])
    }
}
