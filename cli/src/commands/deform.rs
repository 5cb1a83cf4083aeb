//! `mireg deform`.

use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::arguments::choice::choice;
use crate::invocation::Invocation;
use crate::report::deform::{DISPLACEMENTS, Deformed, Facts, INVERSE, JACOBIAN, Start};
use crate::report::{self, Report, Run};
use clap::{Args, ValueEnum, value_parser};
use mireg::deform::{self, Force, Options};
use mireg::io::OutputFolder;
use mireg::io::transform::{self, Format, Grids};
use mireg::registration::{self, Doubt};
use mireg::transform::{Dimension, Kind, Linear};
use mireg::{Result, Volume};

use super::register;
use crate::arguments::compute::Compute;
use crate::arguments::search::{millimetres, millimetres_or_none};
use crate::progress::Progress;
use crate::summary::line;

pub const EXAMPLES: &str = "\
Diffeomorphic registration by compositions of small, smooth update fields after a linear
registration (Ledig & Chefd'hotel, section 3.2). The transform is invertible: nothing folds.

Metrics:
  mi   mutual information: two modalities, such as CT and MR or T1 and T2
  nmi  normalised mutual information
  lcc  local cross-correlation: one modality, even if intensities vary locally (coil
       sensitivity, contrast agent, breathing)
  ssd  sum of squared differences: one modality with the same intensities, such as two CTs

Output files in DIR. Existing files of these names are replaced. If anything fails, none is written:
  field.nii.gz     displacement field on the grid of FIXED, including the initial transform: LPS mm,
                   in the convention of ITK and ANTs
  inverse.nii.gz   displacement field of the inverse, on the grid of MOVING
  moved.nii.gz     MOVING resampled on the grid of FIXED; moved.png if MOVING is PNG, JPEG or TIFF
  jacobian.nii.gz  Jacobian determinant: above 1 where MOVING is larger than FIXED
  start.tfm        the initial linear transform
  report.json      metric by iteration, Jacobian, inverse consistency, warnings, timing
  report.html      the same with pictures and the warped grid, for visual inspection

Exit codes:
  0   done; warnings, if any, are on stderr and in the report
  1   the result should not be used; it is written for inspection, and the report says why
  2   bad input or device; the line on stderr says what is wrong and what to do
  70  a fault in mireg itself

Examples:
  mireg deform t1.nii.gz t2.nii.gz --out out
      affine registration, then deformation
  mireg deform inhale.nii.gz exhale.nii.gz --out out --force lcc --start rigid.tfm
      one modality, from an existing transform
  mireg deform a.nii.gz b.nii.gz --out out --levels 8mm,4mm,2mm --iterations 200,100,50 --smooth 6mm
      three levels, more iterations, stronger regularisation
  mireg apply labels.nii.gz --like t1.nii.gz -t out/field.nii.gz --labels --out moved_labels.nii.gz
  mireg points t1_landmarks.csv -t out/field.nii.gz --out t2_landmarks.csv
  antsApplyTransforms -d 3 -i t2.nii.gz -r t1.nii.gz -t out/field.nii.gz -o moved.nii.gz
      transform other images and landmarks; -t out/inverse.nii.gz is the inverse";

#[derive(Args)]
pub struct Deform {
    /// Fixed image (the reference)
    pub fixed: PathBuf,
    /// Moving image, which is deformed
    pub moving: PathBuf,
    /// Output folder
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub out: PathBuf,
    /// Initial transform, instead of a linear registration
    #[arg(long, value_name = "TRANSFORM", conflicts_with = "linear", help_heading = "Initialisation")]
    pub start: Option<PathBuf>,
    /// Format of --start; `mireg convert --help` lists them [default: detected from the content]
    #[arg(long, value_parser = choice::<Format>(), value_name = "FORMAT", hide_possible_values = true, requires = "start")]
    #[arg(help_heading = "Initialisation")]
    pub from: Option<Format>,
    /// Linear registration that comes first; none starts from the positions in the headers
    #[arg(long, value_enum, value_name = "KIND", default_value_t = First::Affine, help_heading = "Initialisation")]
    pub linear: First,
    /// Metric whose gradient drives the deformation
    #[arg(long, value_parser = choice::<Force>(), default_value_t = Force::Mi, help_heading = "Deformation")]
    pub force: Force,
    /// Regularisation of the update field: standard deviation of the Gaussian at the finest level. On coarser levels it grows with
    /// the voxel size [default: 6 voxels of the finest level]
    #[arg(long, value_name = "MM", value_parser = millimetres, allow_negative_numbers = true, help_heading = "Deformation")]
    pub smooth: Option<f64>,
    /// Regularisation of the total field after each update, likewise; 0 for none [default: a quarter of --smooth]
    #[arg(long, value_name = "MM", value_parser = millimetres_or_none, allow_negative_numbers = true)]
    #[arg(help_heading = "Deformation")]
    pub smooth_field: Option<f64>,
    /// Voxel sizes of the pyramid levels, coarse to fine: 4mm,2mm,1mm [default: 8, 4, 2 and 1 times the smallest spacing of FIXED]
    #[arg(long, value_name = "MM,...", value_delimiter = ',', value_parser = millimetres, allow_negative_numbers = true)]
    #[arg(help_heading = "Deformation")]
    pub levels: Vec<f64>,
    /// Maximum iterations per level: 100,100,50. The last number holds for all further levels [default: 100]
    #[arg(
        long,
        value_name = "N,...",
        value_delimiter = ',',
        allow_negative_numbers = true,
        help_heading = "Deformation"
    )]
    #[arg(value_parser = value_parser!(u32).range(1..))]
    pub iterations: Vec<u32>,
    /// Histogram bins per image, 8 to 255
    #[arg(long, value_name = "N", default_value_t = 100, allow_negative_numbers = true, help_heading = "Deformation")]
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

/// Where the flow starts.
struct Begin {
    transform: Linear,
    from: String,
    doubts: Vec<Doubt>,
}

/// Reads two images, deforms the moving one, writes the results and prints a summary.
pub fn run(arguments: &Deform, invocation: &Invocation) -> Result<()> {
    let Deform { fixed, moving, out, .. } = arguments;
    for name in [report::moved(moving), DISPLACEMENTS, INVERSE, JACOBIAN] {
        crate::keep_inputs(&out.join(name), [fixed, moving])?;
    }
    let folder = OutputFolder::create(out)?;
    let progress = Progress::new(arguments.quiet);
    progress.step("reading");
    let reading = Instant::now();
    let images = crate::read(fixed, moving)?;
    let read = reading.elapsed().as_secs_f64();
    let options = arguments.options();
    // What cannot be deformed is told before the registration, not after it.
    options.allow(&images.0, &images.1)?;

    let registering = Instant::now();
    let begin = begin(arguments, &images, &progress)?;
    let linear = registering.elapsed().as_secs_f64();
    let found = deform::deform(&images.0, &images.1, &begin.transform.to_affine(), &options, &progress)?;
    progress.step("writing");
    let Begin { transform, from, doubts } = &begin;
    let start = Start { transform, from, doubts, seconds: linear };
    let run = Run { invocation, fixed, moving, images: [&images.0, &images.1], read };
    let report = run.write(&Deformed { found: &found, options: &options, start }, &folder)?;
    folder.commit()?;
    progress.finish();
    register::warn(&report.warnings);
    if !arguments.quiet {
        crate::print(&summary(&report, transform, moving, out));
    }
    register::trusted(&report.warnings, out)
}

impl Deform {
    fn options(&self) -> Options {
        let iterations = self.iterations.iter().map(|&n| n as usize).collect();
        Options {
            force: self.force,
            levels: Some(self.levels.clone()).filter(|levels| !levels.is_empty()),
            iterations: Some(iterations).filter(|iterations: &Vec<_>| !iterations.is_empty()),
            smooth_mm: self.smooth,
            smooth_field_mm: self.smooth_field,
            bins: self.bins,
            backend: self.compute.backend,
            threads: self.compute.threads(),
        }
    }
}

/// The transform that was given, or what a registration finds; the headers where that should not be used.
fn begin(arguments: &Deform, (fixed, moving): &(Volume, Volume), progress: &Progress) -> Result<Begin> {
    if let Some(path) = &arguments.start {
        let transform = transform::read(path, arguments.from, &Grids::of(&fixed.geometry, &moving.geometry))?;
        return Ok(Begin { transform, from: path.display().to_string(), doubts: Vec::new() });
    }
    let dimension = Dimension::of(&fixed.geometry);
    let headers = Begin {
        transform: Linear::identity(Kind::Translation, dimension, fixed.geometry.centre()),
        from: "the headers".to_owned(),
        doubts: Vec::new(),
    };
    let kind = match arguments.linear {
        First::None => return Ok(headers),
        First::Rigid => Kind::Rigid,
        First::Affine => Kind::Affine,
    };
    let Compute { backend, .. } = arguments.compute;
    let options =
        registration::Options { dof: kind, backend, threads: arguments.compute.threads(), ..Default::default() };
    let found = mireg::register(fixed, moving, &options, progress)?;
    let doubt = |text| Doubt { name: "start", text, grave: false };
    let (name, texts) = (kind.name(), found.doubts.iter().map(|doubt| &doubt.text));
    if found.trusted() {
        let doubts = texts.map(|text| doubt(format!("of the {name} registration: {text}"))).collect();
        let article = if kind == Kind::Affine { "an" } else { "a" };
        return Ok(Begin { transform: found.transform, from: format!("{article} {name} registration"), doubts });
    }
    let why = texts.cloned().collect::<Vec<_>>().join("; ");
    let text = format!("the {name} registration should not be used ({why}): starting as the headers place the images");
    Ok(Begin { doubts: vec![doubt(text)], ..headers })
}

/// What came out, a line a fact.
fn summary(report: &Report<Facts>, start: &Linear, moving: &Path, out: &Path) -> String {
    let (head, facts) = (&report.head, &report.facts);
    let (moved, back, seconds) = (&facts.displacement, &facts.inverse_consistency, &facts.seconds);
    let [low, high] = facts.jacobian_range;
    let lines = [
        ("initial", report::began(&facts.start, start)),
        (
            "displacement",
            format!(
                "mean {:.2} mm after the initial transform, 95th percentile {:.2} mm, maximum {:.2} mm",
                moved.mean_mm, moved.percentile_95_mm, moved.largest_mm
            ),
        ),
        (
            "metric",
            format!(
                "{} {:.5} -> {:.5} at the finest level",
                report::metric_of(facts.force),
                facts.values.before,
                facts.values.after
            ),
        ),
        (
            "Jacobian",
            format!(
                "determinant {low:.3} to {high:.3}; inverse consistency error: mean {:.3} mm, maximum {:.2} mm",
                back.mean_mm, back.worst_mm
            ),
        ),
        (
            "time",
            format!(
                "{:.2} s, of which linear registration {:.2} s, deformation {:.2} s",
                seconds.total, seconds.linear, seconds.parts.register
            ),
        ),
        ("computed on", format!("{} ({})", head.backend, head.device)),
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
