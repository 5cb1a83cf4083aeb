//! What can be typed, and what `--help` says about it.

mod transforms;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum, value_parser};
use mireg::backend::{BackendKind, HistogramMethod};
use mireg::io;
use mireg::metric::MetricKind;
use mireg::registration::Options;
use serde::Serialize;

use super::apply::{self, Apply};
use super::bench::{Data, Interpolation, Paper};
use super::evaluate::{self, Evaluate};
use super::points::{self, Points};
use super::search::Search;
use transforms::{COMPOSE_EXAMPLES, CONVERT_EXAMPLES, INVERT_EXAMPLES};
pub use transforms::{Compose, Convert, Files, Invert};

const EXAMPLES: &str = "\
Examples:
  mireg demo                                      see it work on a made-up patient
  mireg register ct.nii.gz mr.nii.gz --out out    align mr with ct
  mireg metric ct.nii.gz out/moved.nii.gz         say how well they match

Exit codes:
  0   done
  1   the registration cannot be trusted
  2   something is wrong with the input; the line on stderr says what
  70  a fault in mireg itself

Files are NIfTI (.nii, .nii.gz, .hdr with .img), MetaImage (.mha, .mhd), NRRD (.nrrd, .nhdr) and, to read, the
folder of a DICOM series or a DICOM file of it; 2-D images also PNG, JPEG and TIFF, a pixel of which is 1 mm.
Coordinates are LPS mm, as in DICOM and ITK.";

const REGISTER_EXAMPLES: &str = "\
DIR gets:
  transform.tfm  ITK text, from a point of FIXED to the point of MOVING, LPS mm
  moved.nii.gz   MOVING on the grid of FIXED; moved.png where MOVING is PNG, JPEG or TIFF
  report.json    metric, overlap, transform, seconds, warnings
  report.html    the same with pictures: open it and look
All of them or, where something fails, none. Files of these names are replaced.

Examples:
  mireg register ct.nii.gz mr.nii.gz --out out
  mireg register ct.nii.gz mr.nii.gz --out out --metric mi --bins 50 --threads 4";

const METRIC_EXAMPLES: &str = "\
Entropies and MI are in nats, over the voxels of FIXED that fall inside MOVING.
NMI is (H(F) + H(M)) / H(F,M): 1 for images that say nothing about each other,
2 for images that determine each other. ECC is 2 MI / (H(F) + H(M)): 0 to 1.
eta2(M|F), the correlation ratio, is the part of MOVING's variance that FIXED
explains, and eta2(F|M) the reverse: 0 for none of it, 1 for all.

Examples:
  mireg metric ct.nii.gz mr.nii.gz
  mireg metric ct.nii.gz mr.nii.gz --transform out/transform.tfm --json";

const DEMO_EXAMPLES: &str = "\
Makes a CT-like and an MR-like scan of a made-up head with a known motion between
them, registers them, and says how many mm the result is off, on average over the
brain. More than 1 mm is exit code 1. DIR gets ct.nii.gz, mr.nii.gz, truth.tfm,
demo.png and what `mireg register` writes.";

const BENCH_EXAMPLES: &str = "\
Measures whole evaluations of the metric by the wall clock, one at a time and in a
batch of 16, and on a GPU the histogram alone by its own clock. The transform is a
rotation by 0.1 rad about the middle of the fixed image. DIR gets bench.svg,
bench.png and bench.json.

Examples:
  mireg bench
  mireg bench --histogram tiled,shared-atomic --bins 64,256 --data head --out out
  mireg bench --fixed ct.nii.gz --moving mr.nii.gz --interpolation linear,catmull-rom
  mireg bench --paper ledig-table-3 --out out";

/// Aligns medical images by mutual information, with the same bits on CPU and GPU
#[derive(Parser)]
#[command(name = "mireg", version, about, after_help = EXAMPLES, arg_required_else_help = true, max_term_width = 120)]
#[command(disable_help_subcommand = true)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Find the rigid motion that aligns MOVING with FIXED
    #[command(after_help = REGISTER_EXAMPLES)]
    Register(Register),
    /// Print mutual information, entropies, correlation ratios and overlap of two images
    #[command(after_help = METRIC_EXAMPLES)]
    Metric(Metric),
    /// Write a transform in another format: ITK, ANTs, elastix, FSL, NiftyReg, RIRE, 4x4, JSON
    #[command(after_help = CONVERT_EXAMPLES)]
    Convert(Convert),
    /// Write the transform that does what several do one after the other
    #[command(after_help = COMPOSE_EXAMPLES)]
    Compose(Compose),
    /// Write the way back of a transform
    #[command(after_help = INVERT_EXAMPLES)]
    Invert(Invert),
    /// Resample an image on the grid of another, through transforms
    #[command(after_help = apply::EXAMPLES)]
    Apply(Apply),
    /// Take landmarks through transforms
    #[command(after_help = points::EXAMPLES)]
    Points(Points),
    /// Print how far a transform is from the truth, in mm
    #[command(after_help = evaluate::EXAMPLES)]
    Evaluate(Evaluate),
    /// List the places where mireg can compute on this machine
    Devices,
    /// Measure how long evaluations of the metric take on this machine
    #[command(after_help = BENCH_EXAMPLES)]
    Bench(Bench),
    /// Register a made-up patient and print the error in mm
    #[command(after_help = DEMO_EXAMPLES)]
    Demo(Demo),
}

#[derive(Args)]
pub struct Register {
    /// The image that stays in place
    pub fixed: PathBuf,
    /// The image that is aligned with it
    pub moving: PathBuf,
    /// Folder for the results
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    #[command(flatten)]
    pub search: Search,
    /// What is maximised
    #[arg(long, value_enum, default_value_t = MetricKind::Nmi, help_heading = "Metric")]
    pub metric: MetricKind,
    #[command(flatten)]
    pub histogram: Histogram,
    #[command(flatten)]
    pub compute: Compute,
    /// Print errors and warnings only
    #[arg(long, short)]
    pub quiet: bool,
}

#[derive(Args)]
pub struct Metric {
    /// The image on whose voxels the metric is taken
    pub fixed: PathBuf,
    /// The image that it is compared with
    pub moving: PathBuf,
    /// From a point of FIXED to the point of MOVING, in any format that `mireg convert` reads [default: the headers alone]
    #[arg(long, value_name = "FILE")]
    pub transform: Option<PathBuf>,
    /// Print JSON with every digit
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub histogram: Histogram,
    #[command(flatten)]
    pub compute: Compute,
}

#[derive(Args)]
pub struct Bench {
    /// Measure what a paper compares, next to what it prints; the options below replace parts of it
    #[arg(long, value_enum, value_name = "NAME")]
    pub paper: Option<Paper>,
    /// Ways to count the joint histogram [default: all that the backend has]
    #[arg(long, value_enum, value_name = "NAME,...", value_delimiter = ',')]
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

/// An axis through the middle of the fixed image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Axis {
    /// (1, 1, 1): no row of voxels stays a row
    Oblique,
    /// From foot to head
    Z,
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.0..=60.0).contains(seconds));
    seconds.ok_or_else(|| "0 to 60 seconds are possible".into())
}

#[derive(Args)]
pub struct Demo {
    /// Folder for the scans and the results
    #[arg(long, value_name = "DIR", default_value = "mireg-demo")]
    pub out: PathBuf,
    /// Number of the patient; each has another head and another motion
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    #[command(flatten)]
    pub compute: Compute,
    /// Print errors and warnings only
    #[arg(long, short)]
    pub quiet: bool,
}

#[derive(Args)]
pub struct Histogram {
    /// Bins a side of the joint histogram, 2 to 1024
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
    #[arg(long, value_enum, default_value_t = HistogramMethod::Auto, help_heading = "Computing", hide_possible_values = true)]
    pub histogram: HistogramMethod,
}

impl Histogram {
    /// What the library wants to know; reads the masks.
    pub fn options(&self, metric: MetricKind, compute: &Compute) -> mireg::Result<Options> {
        Ok(Options {
            metric,
            bins: self.bins,
            interpolator: self.interpolation.into(),
            histogram: self.histogram,
            fixed_mask: self.fixed_mask.as_deref().map(io::read).transpose()?,
            moving_mask: self.moving_mask.as_deref().map(io::read).transpose()?,
            backend: compute.backend,
            threads: compute.threads(),
            ..Options::default()
        })
    }
}

/// Bins a side where nothing else is said.
pub const DEFAULT_BINS: u32 = 64;

#[derive(Args)]
pub struct Compute {
    /// Where to compute; auto takes the GPU if there is one
    #[arg(long, value_enum, default_value_t = BackendKind::Auto, help_heading = "Computing")]
    pub backend: BackendKind,
    /// CPU threads, 1 to 1024 [default: one a core]; the result does not depend on it
    #[arg(long, value_name = "N", help_heading = "Computing", allow_negative_numbers = true)]
    #[arg(value_parser = value_parser!(u32).range(1..=1024))]
    pub threads: Option<u32>,
}

impl Compute {
    /// As the library wants it: 0 for one a core.
    pub fn threads(&self) -> usize {
        self.threads.unwrap_or(0) as usize
    }
}
