//! `mireg register`.

use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::report::{Report, Run, Warning};
use clap::Args;
use mireg::io::OutputFolder;
use mireg::io::transform::Grids;
use mireg::registration::{Options, Registration};
use mireg::{Engine, Error, Result, Volume};

use crate::arguments::compute::Compute;
use crate::arguments::metric::Maximised;
use crate::arguments::search::Search;
use crate::interrupt::{self, Held};
use crate::progress::Progress;
use crate::summary;

pub const EXAMPLES: &str = "\
DIR gets all of these or, where something fails, none; files of these names are replaced:
  transform.tfm  ITK text: takes a point of FIXED to the point of MOVING, LPS mm
  moved.nii.gz   MOVING on the grid of FIXED; moved.png where MOVING is PNG, JPEG or TIFF
  report.json    metric before and after, transform, levels, warnings, seconds
  report.html    the same with pictures: open it and look

Exit codes:
  0   done; the warnings, if any, are on stderr and in the report
  1   the result should not be used: it is written for the eye, and `trust` in the report says why
  2   something is wrong with the input or the device; the line on stderr says what to do
  70  a fault in mireg itself

Examples:
  mireg register ct.nii.gz mr.nii.gz --out out
      a rigid motion, from wherever the scans are
  mireg register t1.nii.gz pet.nii.gz --out out --dof affine --levels 8mm,4mm,2mm \\
      --fixed-mask t1_brain.nii.gz
      scales and shears too, on three levels, by the voxels of a mask alone
  mireg register ct.nii.gz mr.nii.gz --out out --init flirt.mat --levels 2mm,1mm
      from what another program found, to improve it";

#[derive(Args)]
pub struct Register {
    /// The image that stays in place
    pub fixed: PathBuf,
    /// The image that is aligned with it
    pub moving: PathBuf,
    /// Folder for the results
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub out: PathBuf,
    #[command(flatten)]
    pub search: Search,
    #[command(flatten)]
    pub maximised: Maximised,
    #[command(flatten)]
    pub compute: Compute,
    /// Print errors and warnings only
    #[arg(long, short, help_heading = "Output")]
    pub quiet: bool,
}

/// Reads two images, registers them, writes the results and prints a summary.
pub fn run(arguments: &Register, started: Instant) -> Result<()> {
    let Register { fixed, moving, out, .. } = arguments;
    crate::keep_inputs(&out.join(crate::report::moved(moving)), [fixed, moving])?;
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
    let read = reading.elapsed().as_secs_f64() - engine.opening_seconds();
    let run = Run { started, fixed, moving, read, open: engine.opening_seconds(), options: &options };
    let (registration, report) = align(&engine, [&images.0, &images.1], &run, &folder, &progress)?;
    interrupt::proceed()?;
    folder.commit()?;
    progress.finish();
    warn(&report.warnings);
    if !arguments.quiet {
        crate::print(&summary::registration(&registration, &report, moving, out));
    }
    trusted(&report.warnings, out)
}

impl Register {
    /// What the library wants to know about images on these grids; reads masks and a transform to start from.
    fn options(&self, grids: &Grids) -> Result<Options> {
        let [fixed_mask, moving_mask] = self.maximised.histogram.masks()?;
        let metric = self.maximised.metric(&self.search)?;
        self.search.options(Options { metric, fixed_mask, moving_mask, ..Options::default() }, grids)
    }
}

/// The results are there for the eye, but a script is to stop here.
pub fn trusted(warnings: &[Warning], out: &Path) -> Result<()> {
    let grave: Vec<_> = warnings.iter().filter(|warning| warning.grave).map(|warning| warning.check.name()).collect();
    match grave[..] {
        [] => Ok(()),
        _ => Err(Error::untrusted(format!(
            "the result should not be used ({}); look at {}",
            grave.join(", "),
            out.join(crate::report::REPORT).display()
        ))),
    }
}

/// Registers and puts the results into `folder`.
pub fn align(
    engine: &Engine,
    images: [&Volume; 2],
    run: &Run,
    folder: &OutputFolder,
    progress: &Progress,
) -> Result<(Registration, Report)> {
    let registration = engine.register(images[0], images[1], run.options, progress)?;
    progress.step("writing");
    let report = engine.install(|| run.write(images, &registration, folder))?;
    Ok((registration, report))
}

/// Says what speaks against a result. `--quiet` does not silence it.
pub fn warn(warnings: &[Warning]) {
    warnings.iter().for_each(|warning| crate::say(&format!("mireg: warning: {}", warning.text)));
}
