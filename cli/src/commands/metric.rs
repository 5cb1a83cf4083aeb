//! `mireg metric`.

use std::path::PathBuf;

use clap::Args;
use glam::DAffine3;
use mireg::image::Intensities;
use mireg::io::transform::{Format, Grids};
use mireg::metric::{Comparison, Evaluation};
use mireg::{Result, Silent};

use crate::arguments::choice::choice;
use crate::arguments::compute::Compute;
use crate::arguments::histogram::Histogram;
use crate::arguments::images::Images;
use crate::arguments::ranges::Ranges;
use crate::files;
use crate::report;
use crate::terminal::{self, line};
use crate::transforms;

pub const EXAMPLES: &str = "\
Values are over the voxels of FIXED that lie inside MOVING and inside the masks. Entropies and
mutual information (MI) are in nats. NMI is (H(F) + H(M)) / H(F,M): 1 for independent images, 2 if
each determines the other. ECC is 2 MI / (H(F) + H(M)), from 0 to 1. eta2(M|F) is the correlation
ratio: the fraction of the variance of MOVING that FIXED explains; eta2(F|M) is the reverse. With
the images, masks, options and transform of a `mireg register` run, the values are those of its
report.

Examples:
  mireg metric ct.nii.gz mr.nii.gz
  mireg metric ct.nii.gz mr.nii.gz --transform out/transform.tfm --json
  mireg metric ct.nii.gz mr.nii.gz --transform flirt.mat --fixed-mask ct_brain.nii.gz";

#[derive(Args)]
pub struct Metric {
    /// Fixed image; its voxels are the samples
    pub fixed: PathBuf,
    /// Moving image
    pub moving: PathBuf,
    #[command(flatten)]
    pub images: Images,
    /// Transform from points of FIXED to points of MOVING, in any format that `mireg convert` reads [default: identity]
    #[arg(long, short, value_name = "FILE")]
    pub transform: Option<PathBuf>,
    /// Format of the transform; `mireg convert --help` lists them [default: detected from the content]
    #[arg(long, value_parser = choice::<Format>(), value_name = "FORMAT", hide_possible_values = true, requires = "transform")]
    pub from: Option<Format>,
    /// Print JSON with all digits
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub histogram: Histogram,
    #[command(flatten)]
    pub ranges: Ranges,
    #[command(flatten)]
    pub compute: Compute,
}

/// Reads two images, compares them in one position and prints the values.
pub fn run(arguments: &Metric) -> Result<()> {
    let engine = arguments.compute.engine(&Silent)?;
    let read = || files::read(&arguments.fixed, &arguments.moving, &arguments.images, None);
    let (images, notes) = engine.install(read)?;
    let [fixed, moving] = images.map(|image| image.volume);
    let transform = match &arguments.transform {
        Some(path) => transforms::read(path, arguments.from, &Grids::of(&fixed.geometry, &moving.geometry))?,
        None => DAffine3::IDENTITY,
    };
    let (histogram, masks) = (arguments.histogram.counted(), arguments.histogram.masks(None)?);
    let [fixed_mask, moving_mask] = masks.each_ref().map(Option::as_ref);
    let Ranges { fixed_range, moving_range } = arguments.ranges;
    let comparison = Comparison { histogram, fixed_mask, moving_mask, fixed_range, moving_range };
    let value = engine.evaluate(&fixed, &moving, &transform, &comparison)?;
    files::say(&notes);
    let intensities = [Intensities::of(&fixed, fixed_range), Intensities::of(&moving, moving_range)];
    let text = if arguments.json { json(&value, histogram.bins, &intensities) } else { text(&value, &intensities) };
    terminal::print(&text);
    Ok(())
}

fn text(value: &Evaluation, intensities: &[Intensities; 2]) -> String {
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
        ("range of F", report::intensities(&intensities[0])),
        ("range of M", report::intensities(&intensities[1])),
    ];
    lines.iter().map(|(label, text)| line(label, text)).collect()
}

fn json(value: &Evaluation, bins: u32, [fixed, moving]: &[Intensities; 2]) -> String {
    let mut object = serde_json::json!(value);
    object["overlap_fraction"] = value.overlap_fraction().into();
    object["bins"] = bins.into();
    object["intensities"] = serde_json::json!({ "fixed": fixed, "moving": moving });
    format!("{object:#}\n")
}
