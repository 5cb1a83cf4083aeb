//! The arguments of the joint histogram.

use std::path::{Path, PathBuf};

use clap::Args;
use mireg::Volume;
use mireg::io::{self, ReadOptions, Role};
use mireg::metric::{self, HistogramMethod};

use super::choice::choice;
use super::interpolation::Interpolation;
use super::number::whole;
use crate::in_memory::or_read;

#[derive(Args)]
pub struct Histogram {
    /// Histogram bins per image, 2 to 1024. Mattes needs 5 or more: it keeps two empty bins at either end
    #[arg(long, value_name = "N", default_value_t = metric::Histogram::BINS, help_heading = "Metric")]
    #[arg(value_parser = whole::<u32>(2..=1024), allow_negative_numbers = true)]
    pub bins: u32,
    /// Interpolator of the moving image
    #[arg(long, value_enum, default_value_t = Interpolation::Linear, help_heading = "Metric")]
    pub interpolation: Interpolation,
    /// Mask on the grid of FIXED: only voxels where it is 0.5 or more are sampled
    #[arg(long, value_name = "FILE", help_heading = "Metric")]
    pub fixed_mask: Option<PathBuf>,
    /// Mask on the grid of MOVING: samples that fall where it is below 0.5 are left out
    #[arg(long, value_name = "FILE", help_heading = "Metric")]
    pub moving_mask: Option<PathBuf>,
    /// Histogram method on a GPU; `mireg bench --help` lists them. All give the same counts; auto takes the fastest
    #[arg(long, value_parser = choice::<HistogramMethod>(), default_value_t = HistogramMethod::Auto, help_heading = "Computing", hide_possible_values = true)]
    pub histogram: HistogramMethod,
}

impl Histogram {
    /// Returns the settings for the library.
    pub fn counted(&self) -> metric::Histogram {
        metric::Histogram { bins: self.bins, interpolator: self.interpolation.into(), method: self.histogram }
    }

    /// Reads the masks of FIXED and MOVING, unless they are in memory. Pictures of more than `most_pixels` are
    /// subsampled.
    pub fn masks(
        &self,
        most_pixels: Option<usize>,
        [fixed, moving]: [Option<Volume>; 2],
    ) -> mireg::Result<[Option<Volume>; 2]> {
        let options = ReadOptions { role: Role::Plain, most_pixels, ..ReadOptions::default() };
        let read = |path: &Path| io::read_with(path, &options).map(|image| image.volume);
        Ok([or_read(fixed, self.fixed_mask.as_deref(), read)?, or_read(moving, self.moving_mask.as_deref(), read)?])
    }
}
