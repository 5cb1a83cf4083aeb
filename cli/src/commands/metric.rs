//! `mireg metric`.

use std::path::PathBuf;

use clap::Args;
use glam::DAffine3;
use mireg::io::transform::{Format, Grids};
use mireg::metric::{Comparison, Evaluation};
use mireg::{Result, Silent};

use crate::arguments::choice::choice;
use crate::arguments::compute::Compute;
use crate::arguments::histogram::Histogram;
use crate::summary::line;
use crate::transforms;

pub const EXAMPLES: &str = "\
Entropies and MI are in nats, over the voxels of FIXED that fall inside MOVING and that the masks
leave. NMI is (H(F) + H(M)) / H(F,M): 1 for images that say nothing about each other, 2 for images
that determine each other. ECC is 2 MI / (H(F) + H(M)): 0 to 1. eta2(M|F), the correlation ratio, is
the part of MOVING's variance that FIXED explains, and eta2(F|M) the reverse: 0 for none of it, 1
for all. With the images, masks and options of `mireg register` and the transform that it wrote,
these are the numbers of its report.

Examples:
  mireg metric ct.nii.gz mr.nii.gz
  mireg metric ct.nii.gz mr.nii.gz --transform out/transform.tfm --json
  mireg metric ct.nii.gz mr.nii.gz --transform flirt.mat --fixed-mask ct_brain.nii.gz";

#[derive(Args)]
pub struct Metric {
    /// The image on whose voxels the metric is taken
    pub fixed: PathBuf,
    /// The image that it is compared with
    pub moving: PathBuf,
    /// From a point of FIXED to the point of MOVING, in any format that `mireg convert` reads [default: the headers alone]
    #[arg(long, short, value_name = "FILE")]
    pub transform: Option<PathBuf>,
    /// Format of the transform [default: what the content looks like]; `mireg convert --help` lists them
    #[arg(long, value_parser = choice::<Format>(), value_name = "FORMAT", hide_possible_values = true, requires = "transform")]
    pub from: Option<Format>,
    /// Print JSON with every digit
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub histogram: Histogram,
    #[command(flatten)]
    pub compute: Compute,
}

/// Reads two images, compares them in one position and prints the values.
pub fn run(arguments: &Metric) -> Result<()> {
    let engine = arguments.compute.engine(&Silent)?;
    let (fixed, moving) = engine.install(|| crate::read(&arguments.fixed, &arguments.moving))?;
    let transform = match &arguments.transform {
        Some(path) => transforms::read(path, arguments.from, &Grids::of(&fixed.geometry, &moving.geometry))?,
        None => DAffine3::IDENTITY,
    };
    let (histogram, masks) = (arguments.histogram.counted(), arguments.histogram.masks()?);
    let [fixed_mask, moving_mask] = masks.each_ref().map(Option::as_ref);
    let comparison = Comparison { histogram, fixed_mask, moving_mask };
    let value = engine.evaluate(&fixed, &moving, &transform, &comparison)?;
    crate::print(&if arguments.json { json(&value, histogram.bins) } else { text(&value) });
    Ok(())
}

fn text(value: &Evaluation) -> String {
    let overlap = format!("{:.2} %, {} of {} voxels", 100.0 * value.overlap_fraction(), value.overlap, value.samples);
    let lines = [
        ("NMI", format!("{:.9}", value.nmi)),
        ("MI", format!("{:.9} nats", value.mi)),
        ("ECC", format!("{:.9}", value.ecc)),
        ("eta2(M|F)", format!("{:.9}", value.correlation_ratio_moving_given_fixed)),
        ("eta2(F|M)", format!("{:.9}", value.correlation_ratio_fixed_given_moving)),
        ("H(F)", format!("{:.9} nats", value.fixed_entropy)),
        ("H(M)", format!("{:.9} nats", value.moving_entropy)),
        ("H(F,M)", format!("{:.9} nats", value.joint_entropy)),
        ("overlap", overlap),
    ];
    lines.iter().map(|(label, text)| line(label, text)).collect()
}

fn json(value: &Evaluation, bins: u32) -> String {
    let mut object = serde_json::json!(value);
    object["overlap_fraction"] = value.overlap_fraction().into();
    object["bins"] = bins.into();
    format!("{object:#}\n")
}
