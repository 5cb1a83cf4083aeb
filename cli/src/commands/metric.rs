//! `mireg metric`.

use std::path::PathBuf;

use clap::Args;
use glam::DAffine3;
use mireg::image::Intensities;
use mireg::io::transform::{Format, Grids};
use mireg::metric::{Comparison, Evaluation};
use mireg::{Engine, Result, Silent};

use crate::arguments::choice::choice;
use crate::arguments::compute::Compute;
use crate::arguments::histogram::Histogram;
use crate::arguments::images::Images;
use crate::arguments::ranges::Ranges;
use crate::files;
use crate::in_memory::{InMemory, lending};
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

/// The values of the metrics, and how they were computed.
pub struct Compared {
    value: Evaluation,
    bins: u32,
    intensities: [Intensities; 2],
    /// Notes on how the images were read, one line each.
    pub notes: Vec<String>,
}

/// Reads two images, compares them in one position and prints the values.
pub fn run(arguments: &Metric) -> Result<()> {
    let engine = arguments.compute.engine(&Silent)?;
    let found = arguments.compare(InMemory::default(), &engine)?;
    files::say(&found.notes);
    let text = if arguments.json { found.json() } else { text(&found.value, &found.intensities) };
    terminal::answer(&text)
}

impl Metric {
    /// Compares the images. Reads those that are not in memory.
    ///
    /// # Errors
    /// As [`files::read`] and [`Engine::evaluate`].
    pub fn compare(&self, in_memory: InMemory, engine: &Engine) -> Result<Compared> {
        let transform = in_memory.linear()?;
        let InMemory { fixed, moving, on_device, fixed_mask, moving_mask, .. } = in_memory;
        let read = || files::read([&self.fixed, &self.moving], &self.images, None, [fixed, moving]);
        let (images, notes) = engine.install(read)?;
        let [fixed, moving] = images.map(|image| image.volume);
        let transform = match (&self.transform, transform) {
            (_, Some(held)) => held.to_affine(),
            (Some(path), _) => transforms::read(path, self.from, &Grids::of(&fixed.geometry, &moving.geometry))?,
            (None, None) => DAffine3::IDENTITY,
        };
        let histogram = self.histogram.counted();
        let masks = engine.install(|| self.histogram.masks(None, [fixed_mask, moving_mask]))?;
        let [fixed_mask, moving_mask] = masks.each_ref().map(Option::as_ref);
        let Ranges { fixed_range, moving_range } = self.ranges;
        let comparison = Comparison { histogram, fixed_mask, moving_mask, fixed_range, moving_range };
        let evaluate = || engine.evaluate(&fixed, &moving, &transform, &comparison);
        let value = lending(&on_device, [&fixed, &moving], evaluate)?;
        let intensities =
            engine.install(|| Ok([Intensities::of(&fixed, fixed_range), Intensities::of(&moving, moving_range)]))?;
        Ok(Compared { value, bins: histogram.bins, intensities, notes })
    }
}

impl Compared {
    /// Returns JSON with all digits.
    pub fn json(&self) -> String {
        let Self { value, bins, intensities: [fixed, moving], .. } = self;
        let mut object = serde_json::json!(value);
        object["overlap_fraction"] = value.overlap_fraction().into();
        object["bins"] = (*bins).into();
        object["intensities"] = serde_json::json!({ "fixed": fixed, "moving": moving });
        format!("{object:#}\n")
    }
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
