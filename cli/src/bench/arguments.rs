//! The arguments of `mireg bench`.

use std::path::PathBuf;

use clap::Args;
use mireg::backend::HistogramMethod;

use super::choices::{Axis, Data, Estimator, Paper};
use crate::arguments::choice::choice;
use crate::arguments::compute::Compute;
use crate::arguments::images::Images;
use crate::arguments::interpolation::Interpolation;
use crate::arguments::number::whole;

pub const EXAMPLES: &str = "\
Without options: how long a registration takes, and one evaluation of each metric. With
--estimator, or an option of what is measured, the tables behind it, as follows.

Whole evaluations of the metric are timed by the wall clock, one at a time and in a
batch of 16; on a GPU, the histogram alone by the device clock too. The transform is a
rotation by 0.1 rad about the centre of the fixed image. Viola's mutual information is
measured on random images, and on one CPU core as well. Gaussian smoothing is measured
with a standard deviation of 4 voxels, of an image and of the three components of a
field; on a GPU by the device clock, per axis, compared with a plain copy. The output
folder gets bench.json and, if histograms are measured, bench.svg and bench.png.

Examples:
  mireg bench
  mireg bench --estimator histogram,viola,gaussian
  mireg bench --estimator viola
  mireg bench --estimator gaussian --size 256
  mireg bench --histogram tiled,shared-atomic --bins 64,256 --data head --out out
  mireg bench --fixed ct.nii.gz --moving mr.nii.gz --interpolation linear,catmull-rom
  mireg bench --paper ledig-table-3 --out out";

#[derive(Args)]
pub struct Bench {
    /// Repeat the comparison of a paper, next to its printed numbers; the options below override parts of it
    #[arg(long, value_enum, value_name = "NAME")]
    pub paper: Option<Paper>,
    /// What to measure in detail [default: an overview; all with options of what is measured; that of the paper with --paper]
    #[arg(long, value_enum, value_name = "NAME,...", value_delimiter = ',')]
    pub estimator: Vec<Estimator>,
    /// Histogram methods [default: all of the backend]
    #[arg(long, value_parser = choice::<HistogramMethod>(), value_name = "NAME,...", value_delimiter = ',')]
    pub histogram: Vec<HistogramMethod>,
    /// Histogram bins per image, 2 to 1024 [default: 64,100,128,200,256]
    #[arg(long, value_name = "N,...", value_delimiter = ',', allow_negative_numbers = true)]
    #[arg(value_parser = whole::<u32>(2..=1024))]
    pub bins: Vec<u32>,
    /// Interpolators of the moving image [default: linear]
    #[arg(long, value_enum, value_name = "NAME,...", value_delimiter = ',')]
    pub interpolation: Vec<Interpolation>,
    /// Synthetic images [default: random,constant,head]
    #[arg(long, value_enum, value_name = "NAME,...", value_delimiter = ',')]
    pub data: Vec<Data>,
    /// Voxels per side of synthetic images, 2 to 512 [default: 256 on a GPU, 128 on a CPU, 16 in the emulator]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole::<u32>(2..=512))]
    pub size: Option<u32>,
    /// Fixed image that replaces the synthetic head; needs --moving
    #[arg(long, value_name = "FILE", requires = "moving")]
    pub fixed: Option<PathBuf>,
    /// Moving image, positioned by the headers
    #[arg(long, value_name = "FILE", requires = "fixed")]
    pub moving: Option<PathBuf>,
    #[command(flatten)]
    pub images: Images,
    /// Samples in each of the two sets of viola, 2 to 100000 [default: 1000,10000, and 100000 on a GPU; 64 in the emulator]
    #[arg(long, value_name = "N,...", value_delimiter = ',', allow_negative_numbers = true)]
    #[arg(value_parser = whole::<u32>(2..=100_000))]
    pub samples: Vec<u32>,
    /// Axis of the rotation by 0.1 rad
    #[arg(long, value_enum, default_value_t = Axis::Oblique)]
    pub axis: Axis,
    /// Seconds per row of the table, 0 to 60; slow rows take longer
    #[arg(long, value_name = "S", default_value_t = 0.1, allow_negative_numbers = true, value_parser = seconds)]
    pub seconds: f64,
    /// Output folder for the numbers and plots
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print JSON, with the reason if a method does not support a case
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
    /// Returns whether no option says what to measure. Then what users wait for is measured.
    pub fn overview(&self) -> bool {
        let chosen = [
            self.paper.is_some() || self.fixed.is_some(),
            !(self.estimator.is_empty() && self.histogram.is_empty() && self.bins.is_empty()),
            !(self.interpolation.is_empty() && self.data.is_empty() && self.samples.is_empty()),
        ];
        !chosen.contains(&true)
    }

    /// Returns whether to measure this.
    pub fn measures(&self, estimator: Estimator) -> bool {
        match (self.estimator.is_empty(), self.paper) {
            (false, _) => self.estimator.contains(&estimator),
            (true, Some(paper)) => estimator == paper.estimator(),
            (true, None) => estimator == Estimator::Histogram || !self.overview(),
        }
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use clap::{Command, FromArgMatches};

    /// Parses what follows `mireg bench` on a command line.
    pub fn parse(words: &str) -> Bench {
        let words = ["bench"].into_iter().chain(words.split_whitespace());
        let matches = Bench::augment_args(Command::new("bench")).try_get_matches_from(words).unwrap();
        Bench::from_arg_matches(&matches).unwrap()
    }
}
