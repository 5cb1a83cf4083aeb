//! `mireg register`.

use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::arguments::choice::choice;
use crate::invocation::Invocation;
use crate::report::registration::{Facts, Registered};
use crate::report::{Report, Run};
use clap::Args;
use mireg::io::OutputFolder;
use mireg::io::transform::Grids;
use mireg::metric::MetricKind;
use mireg::registration::{Doubt, Options, Registration};
use mireg::{Error, Result};

use crate::arguments::compute::Compute;
use crate::arguments::gaussian::Gaussian;
use crate::arguments::histogram::Histogram;
use crate::arguments::search::Search;
use crate::progress::Progress;
use crate::summary;

pub const EXAMPLES: &str = "\
Output files in DIR. Existing files of these names are replaced. If anything fails, none is written:
  transform.tfm  ITK transform from points of FIXED to points of MOVING, LPS mm
  moved.nii.gz   MOVING resampled on the grid of FIXED; moved.png if MOVING is PNG, JPEG or TIFF
  report.json    metric before and after, transform, levels, warnings, timing
  report.html    the same with pictures, for visual inspection

Exit codes:
  0   done; warnings, if any, are on stderr and in the report
  1   the result should not be used; it is written for inspection, and the report says why
  2   bad input or device; the line on stderr says what is wrong and what to do
  70  a fault in mireg itself

Examples:
  mireg register ct.nii.gz mr.nii.gz --out out
      rigid registration with automatic initialisation
  mireg register t1.nii.gz pet.nii.gz --out out --dof affine --levels 8mm,4mm,2mm \\
      --fixed-mask t1_brain.nii.gz
      affine registration on three levels, sampled inside a mask
  mireg register ct.nii.gz mr.nii.gz --out out --init flirt.mat --levels 2mm,1mm
      refines a transform found by another program";

#[derive(Args)]
pub struct Register {
    /// Fixed image (the reference)
    pub fixed: PathBuf,
    /// Moving image
    pub moving: PathBuf,
    /// Output folder
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub out: PathBuf,
    #[command(flatten)]
    pub search: Search,
    /// Similarity metric [default: mattes; nmi with --interpolation, --histogram or fewer than 5 bins]
    #[arg(long, value_parser = choice::<MetricKind>(), help_heading = "Metric")]
    pub metric: Option<MetricKind>,
    #[command(flatten)]
    pub histogram: Histogram,
    #[command(flatten)]
    pub gaussian: Gaussian,
    #[command(flatten)]
    pub compute: Compute,
    /// Print errors and warnings only
    #[arg(long, short, help_heading = "Output")]
    pub quiet: bool,
}

/// Reads two images, registers them, writes the results and prints a summary.
pub fn run(arguments: &Register, invocation: &Invocation) -> Result<()> {
    let Register { fixed, moving, out, .. } = arguments;
    crate::keep_inputs(&out.join(crate::report::moved(moving)), [fixed, moving])?;
    let folder = OutputFolder::create(out)?;
    let progress = Progress::new(arguments.quiet);
    progress.step("reading");
    let reading = Instant::now();
    let (fixed_volume, moving_volume) = crate::read(fixed, moving)?;
    let others = arguments.histogram.options(arguments.metric, &arguments.compute)?;
    let viola = arguments.gaussian.options(arguments.metric)?;
    let others = Options { viola, ..others };
    let options = arguments.search.options(others, &Grids::of(&fixed_volume.geometry, &moving_volume.geometry))?;
    let images = [&fixed_volume, &moving_volume];
    let run = Run { invocation, fixed, moving, images, read: reading.elapsed().as_secs_f64() };
    let (registration, report) = align(&run, &options, &folder, &progress)?;
    folder.commit()?;
    progress.finish();
    warn(&report.warnings);
    if !arguments.quiet {
        crate::print(&summary::registration(&registration, &report, moving, out));
    }
    trusted(&registration.doubts, out)
}

/// The results are there for the eye, but a script is to stop here.
pub fn trusted(doubts: &[Doubt], out: &Path) -> Result<()> {
    let grave: Vec<_> = doubts.iter().filter(|doubt| doubt.grave).map(|doubt| doubt.name).collect();
    match grave[..] {
        [] => Ok(()),
        _ => Err(Error::Untrusted(format!(
            "the result should not be used ({}); look at {}",
            grave.join(", "),
            out.join(crate::report::REPORT).display()
        ))),
    }
}

/// Registers and puts the results into `folder`.
pub fn align(
    run: &Run,
    options: &Options,
    folder: &OutputFolder,
    progress: &Progress,
) -> Result<(Registration, Report<Facts>)> {
    let [fixed, moving] = run.images;
    let registration = mireg::register(fixed, moving, options, progress)?;
    progress.step("writing");
    let report = run.write(&Registered { found: &registration, options }, folder)?;
    Ok((registration, report))
}

/// Says what speaks against a result. `--quiet` does not silence it.
pub fn warn(doubts: &[Doubt]) {
    doubts.iter().for_each(|warning| crate::say(&format!("mireg: warning: {}", warning.text)));
}
