//! `mireg deform`.

use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::arguments::choice::choice;
use crate::report::{self, DeformReport, DeformRun};
use clap::{Args, ValueEnum, value_parser};
use mireg::Result;
use mireg::deform::{Force, Options, Start};
use mireg::io::OutputFolder;
use mireg::io::transform::{self, Format, Grids};
use mireg::transform::{Kind, Linear};

use super::register;
use crate::arguments::compute::Compute;
use crate::arguments::search::{millimetres, millimetres_or_none};
use crate::interrupt::{self, Held};
use crate::progress::Progress;
use crate::summary::line;

pub const EXAMPLES: &str = "\
From a linear start MOVING flows onto FIXED in small smooth steps, each put after the one before,
so that nothing folds and there is a way back (Ledig & Chefd'hotel, section 3.2). What pulls:
  mi   mutual information: images of any two kinds, such as CT and MR or T1 and T2
  nmi  the same, normalised
  lcc  local cross-correlation: images of one kind, even where brightness differs from place
       to place, as by coils, contrast agents or breath
  ssd  squared differences: images of one kind and the same brightness, such as two CTs

DIR gets all of these or, where something fails, none; files of these names are replaced:
  field.nii.gz     how far every voxel of FIXED goes to its place in MOVING, the start included:
                   vectors in LPS mm, as ITK and ANTs have them
  inverse.nii.gz   the way back, on the grid of MOVING
  moved.nii.gz     MOVING on the grid of FIXED; moved.png where MOVING is PNG, JPEG or TIFF
  jacobian.nii.gz  how many times larger what lies at a voxel of FIXED is in MOVING
  start.tfm        the linear transform that it started from
  report.json      values by iteration, Jacobian, inverse consistency, warnings, seconds
  report.html      the same with pictures and the warped grid: open it and look

Exit codes:
  0   done; the warnings, if any, are on stderr and in the report
  1   the result should not be used: it is written for the eye, and `trust` in the report says why
  2   something is wrong with the input or the device; the line on stderr says what to do
  70  a fault in mireg itself

Examples:
  mireg deform t1.nii.gz t2.nii.gz --out out
      an affine registration, then the flow
  mireg deform inhale.nii.gz exhale.nii.gz --out out --force lcc --start rigid.tfm
      images of one kind, from a transform that is there
  mireg deform a.nii.gz b.nii.gz --out out --levels 8mm,4mm,2mm --iterations 200,100,50 --smooth 6mm
      coarser, longer and smoother
  mireg apply labels.nii.gz --like t1.nii.gz -t out/field.nii.gz --labels --out moved_labels.nii.gz
  mireg points t1_landmarks.csv -t out/field.nii.gz --out t2_landmarks.csv
  antsApplyTransforms -d 3 -i t2.nii.gz -r t1.nii.gz -t out/field.nii.gz -o moved.nii.gz
      take other images and landmarks along; -t out/inverse.nii.gz leads back";

#[derive(Args)]
pub struct Deform {
    /// The image that stays in place
    pub fixed: PathBuf,
    /// The image that is deformed onto it
    pub moving: PathBuf,
    /// Folder for the results
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub out: PathBuf,
    /// Start from this transform, without a registration
    #[arg(long, value_name = "TRANSFORM", conflicts_with = "linear", help_heading = "Start")]
    pub start: Option<PathBuf>,
    /// Format of --start [default: what the content looks like]; `mireg convert --help` lists them
    #[arg(long, value_parser = choice::<Format>(), value_name = "FORMAT", hide_possible_values = true, requires = "start")]
    #[arg(help_heading = "Start")]
    pub from: Option<Format>,
    /// What registration comes first; none starts as the headers place the images
    #[arg(long, value_enum, value_name = "KIND", default_value_t = First::Affine, help_heading = "Start")]
    pub linear: First,
    /// What pulls
    #[arg(long, value_parser = choice::<Force>(), default_value_t = Force::Mi, help_heading = "Flow")]
    pub force: Force,
    /// Standard deviation of the Gaussian that smooths each step, at the finest level; on coarser ones it grows with their grids
    /// [default: 6 times the finest grid]
    #[arg(long, value_name = "MM", value_parser = millimetres, allow_negative_numbers = true, help_heading = "Flow")]
    pub smooth: Option<f64>,
    /// The same of the Gaussian that smooths the whole field after each step; 0 for none [default: a quarter of --smooth]
    #[arg(long, value_name = "MM", value_parser = millimetres_or_none, allow_negative_numbers = true)]
    #[arg(help_heading = "Flow")]
    pub smooth_field: Option<f64>,
    /// Grids of the levels in mm, coarse to fine, as 4mm,2mm,1mm [default: 8, 4, 2 and 1 times the smallest spacing of FIXED]
    #[arg(long, value_name = "MM,...", value_delimiter = ',', value_parser = millimetres, allow_negative_numbers = true)]
    #[arg(help_heading = "Flow")]
    pub levels: Vec<f64>,
    /// Iterations of each level at most, as 100,100,50; the last number is for all further levels too [default: 100]
    #[arg(long, value_name = "N,...", value_delimiter = ',', allow_negative_numbers = true, help_heading = "Flow")]
    #[arg(value_parser = value_parser!(u32).range(1..))]
    pub iterations: Vec<u32>,
    /// Bins a side of the joint histogram, 8 to 255
    #[arg(long, value_name = "N", default_value_t = 100, allow_negative_numbers = true, help_heading = "Flow")]
    #[arg(value_parser = value_parser!(u32).range(8..=255))]
    pub bins: u32,
    #[command(flatten)]
    pub compute: Compute,
    /// Print errors and warnings only
    #[arg(long, short, help_heading = "Output")]
    pub quiet: bool,
}

/// The registration before the flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum First {
    Affine,
    Rigid,
    None,
}

/// Reads two images, deforms the moving one, writes the results and prints a summary.
pub fn run(arguments: &Deform, started: Instant) -> Result<()> {
    let Deform { fixed, moving, out, .. } = arguments;
    for name in [report::moved(moving), report::DISPLACEMENTS, report::INVERSE, report::JACOBIAN] {
        crate::keep_inputs(&out.join(name), [fixed, moving])?;
    }
    let _held = Held::new();
    let folder = OutputFolder::create(out)?;
    let progress = Progress::new(arguments.quiet);
    progress.step("reading");
    let reading = Instant::now();
    let engine = arguments.compute.engine(&progress)?;
    let (images, options) = engine.install(|| {
        let images = crate::read(fixed, moving)?;
        let options = arguments.options(&Grids::of(&images.0.geometry, &images.1.geometry))?;
        Ok((images, options))
    })?;
    let open = engine.opening_seconds();
    let read = reading.elapsed().as_secs_f64() - open;
    let found = engine.deform(&images.0, &images.1, &options, &progress)?;
    progress.step("writing");
    let run = DeformRun { started, fixed, moving, read, open, options: &options, start: arguments.start.as_deref() };
    let report = engine.install(|| run.write([&images.0, &images.1], &found, &folder))?;
    interrupt::proceed()?;
    folder.commit()?;
    progress.finish();
    register::warn(&report.warnings);
    if !arguments.quiet {
        crate::print(&summary(&report, &found.start.transform, moving, out));
    }
    register::trusted(&report.warnings, out)
}

impl Deform {
    /// What the library wants to know about images on these grids; reads the transform to start from.
    fn options(&self, grids: &Grids) -> Result<Options> {
        let start = match (&self.start, self.linear) {
            (Some(path), _) => Start::Transform(transform::read_linear(path, self.from, grids)?),
            (None, First::Affine) => Start::Register(Kind::Affine),
            (None, First::Rigid) => Start::Register(Kind::Rigid),
            (None, First::None) => Start::Headers,
        };
        let iterations = self.iterations.iter().map(|&n| n as usize).collect();
        Ok(Options {
            start,
            force: self.force,
            levels: Some(self.levels.clone()).filter(|levels| !levels.is_empty()),
            iterations: Some(iterations).filter(|iterations: &Vec<_>| !iterations.is_empty()),
            smooth_mm: self.smooth,
            smooth_field_mm: self.smooth_field,
            bins: self.bins,
        })
    }
}

/// What came out, a line a fact.
fn summary(report: &DeformReport, start: &Linear, moving: &Path, out: &Path) -> String {
    let (moved, back, seconds) = (&report.displacement, &report.inverse_consistency, &report.seconds);
    let [low, high] = report.jacobian_range;
    let lines = [
        ("start", report::began(&report.start, start)),
        (
            "moved",
            format!(
                "{:.2} mm on average from there, 95 % by at most {:.2} mm, all by at most {:.2} mm",
                moved.mean_mm, moved.percentile_95_mm, moved.largest_mm
            ),
        ),
        (
            "metric",
            format!(
                "{} {:.5} -> {:.5} on the finest level",
                report::climbed(report.force),
                report.values.before,
                report.values.after
            ),
        ),
        (
            "field",
            format!(
                "Jacobian {low:.3} to {high:.3}; there and back off by {:.3} mm on average, {:.2} mm at most",
                back.mean_mm, back.worst_mm
            ),
        ),
        (
            "time",
            format!(
                "{:.2} s in all, {:.2} s of it the linear start, {:.2} s the deformation",
                seconds.total, seconds.linear, seconds.parts.register
            ),
        ),
        ("computed on", format!("{} ({})", report.backend, report.device)),
        (
            "files",
            format!(
                "field.nii.gz, inverse.nii.gz, {}, jacobian.nii.gz, start.tfm, report.json, report.html in {}",
                report::moved(moving),
                out.display()
            ),
        ),
    ];
    lines.iter().map(|(label, text)| line(label, text)).collect()
}
