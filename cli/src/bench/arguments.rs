//! The arguments of `mireg bench`.

use std::path::PathBuf;

use clap::{Args, value_parser};
use mireg::backend::HistogramMethod;

use super::choices::{Axis, Data, Estimator, Interpolation, Paper};
use crate::arguments::choice::choice;
use crate::arguments::compute::Compute;

pub const EXAMPLES: &str = "\
Measures whole evaluations of the metric by the wall clock, one at a time and in a
batch of 16, and on a GPU the histogram alone by its own clock. The transform is a
rotation by 0.1 rad about the middle of the fixed image. Viola's mutual information
is that of random images, and is measured on one core of the CPU as well. Smoothing
is by 4 voxels along all axes, of an image and of a field's three planes; on a GPU
by its own clock, axis by axis, next to a plain copy. DIR gets bench.json and, where
histograms are measured, bench.svg and bench.png.

Examples:
  mireg bench
  mireg bench --estimator viola
  mireg bench --estimator gaussian --size 256
  mireg bench --histogram tiled,shared-atomic --bins 64,256 --data head --out out
  mireg bench --fixed ct.nii.gz --moving mr.nii.gz --interpolation linear,catmull-rom
  mireg bench --paper ledig-table-3 --out out";

#[derive(Args)]
pub struct Bench {
    /// Measure what a paper compares, next to what it prints; the options below replace parts of it
    #[arg(long, value_enum, value_name = "NAME")]
    pub paper: Option<Paper>,
    /// What to measure [default: all; histogram with --paper]
    #[arg(long, value_enum, value_name = "NAME,...", value_delimiter = ',')]
    pub estimator: Vec<Estimator>,
    /// Ways to count the joint histogram [default: all that the backend has]
    #[arg(long, value_parser = choice::<HistogramMethod>(), value_name = "NAME,...", value_delimiter = ',')]
    pub histogram: Vec<HistogramMethod>,
    /// Bins a side, 2 to 1024 each [default: 64,100,128,200,256]
    #[arg(long, value_name = "N,...", value_delimiter = ',', allow_negative_numbers = true)]
    #[arg(value_parser = value_parser!(u32).range(2..=1024))]
    pub bins: Vec<u32>,
    /// Between the voxels of the moving image [default: linear]
    #[arg(long, value_enum, value_name = "NAME,...", value_delimiter = ',')]
    pub interpolation: Vec<Interpolation>,
    /// Made-up images [default: random,constant,head]
    #[arg(long, value_enum, value_name = "NAME,...", value_delimiter = ',')]
    pub data: Vec<Data>,
    /// Voxels a side of made-up images, 2 to 512 [default: 256 on a GPU, 128 on a CPU, 16 in the emulator]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = value_parser!(u32).range(2..=512))]
    pub size: Option<u32>,
    /// Your own fixed image; with MOVING it takes the place of the head
    #[arg(long, value_name = "FILE", requires = "moving")]
    pub fixed: Option<PathBuf>,
    /// Your own moving image, placed by the headers
    #[arg(long, value_name = "FILE", requires = "fixed")]
    pub moving: Option<PathBuf>,
    /// Samples of each of Viola's two sets, 2 to 100000 [default: 1000,10000, and 100000 on a GPU; 64 in the emulator]
    #[arg(long, value_name = "N,...", value_delimiter = ',', allow_negative_numbers = true)]
    #[arg(value_parser = value_parser!(u32).range(2..=100_000))]
    pub samples: Vec<u32>,
    /// What the rotation by 0.1 rad is about
    #[arg(long, value_enum, default_value_t = Axis::Oblique)]
    pub axis: Axis,
    /// Seconds a row of the table is given, 0 to 60; slow ones take what they need
    #[arg(long, value_name = "S", default_value_t = 0.1, allow_negative_numbers = true, value_parser = seconds)]
    pub seconds: f64,
    /// Folder for the plots
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print JSON, with the reasons where a method cannot do a case
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub compute: Compute,
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.0..=60.0).contains(seconds));
    seconds.ok_or_else(|| "0 to 60 seconds are possible".into())
}

impl Bench {
    /// Whether to measure this.
    pub fn measures(&self, estimator: Estimator) -> bool {
        match self.estimator.is_empty() {
            true => estimator == Estimator::Histogram || self.paper.is_none(),
            false => self.estimator.contains(&estimator),
        }
    }
}
