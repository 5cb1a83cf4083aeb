//! `mireg demo`.

use std::path::PathBuf;
use std::time::Instant;

use crate::demo::{Misplacement, Pair, picture};
use crate::report::{Run, motion};
use clap::Args;
use glam::DAffine3;
use mireg::io::transform::{self, Grids};
use mireg::io::{self, OutputFolder};
use mireg::registration::Options;
use mireg::{Error, Result, Volume};

use crate::arguments::compute::Compute;
use crate::interrupt::{self, Held};
use crate::progress::Progress;
use crate::summary::{self, line};

pub const EXAMPLES: &str = "\
Makes a CT-like and an MR-like scan of a made-up head with a known motion between
them, registers them, and says how many mm the result is off, on average over the
brain. More than 1 mm is exit code 1. DIR gets ct.nii.gz, mr.nii.gz, truth.tfm,
demo.png and what `mireg register` writes.";

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

/// File names of the scans.
const CT: &str = "ct.nii.gz";
const MR: &str = "mr.nii.gz";
/// A demo that is off by more than this has failed, mm.
const TOLERANCE_MM: f64 = 1.0;

/// Makes a patient, registers the two scans, writes everything and prints the error.
pub fn run(arguments: &Demo, started: Instant) -> Result<()> {
    let _held = Held::new();
    let folder = OutputFolder::create(&arguments.out)?;
    let progress = Progress::new(arguments.quiet);
    progress.step(&format!("making patient {}", arguments.seed));
    let engine = arguments.compute.engine(&progress)?;
    let (pair, making, [ct, mr]) = engine.install(|| {
        let pair = Pair::new(arguments.seed, 1.0);
        interrupt::proceed()?;
        let making = started.elapsed().as_secs_f64();
        let scans = write_scans(&pair, &folder)?;
        Ok((pair, making, scans))
    })?;

    // The files are registered, not what they were made from, so that `mireg register` gives the same.
    let reading = Instant::now();
    let (fixed, moving) = engine.install(|| crate::read(&ct, &mr))?;
    let options = Options::default();
    let run = Run {
        started,
        fixed: &arguments.out.join(CT),
        moving: &arguments.out.join(MR),
        read: reading.elapsed().as_secs_f64(),
        open: engine.opening_seconds(),
        options: &options,
    };
    let (registration, report) = super::register::align(&engine, [&fixed, &moving], &run, &folder, &progress)?;
    let found = registration.transform.to_affine();
    let before = pair.misplacement(&DAffine3::IDENTITY);
    let after = pair.misplacement(&found);
    let checkerboards = picture::checkerboards(&pair.ct, &pair.mr, &[DAffine3::IDENTITY, found]);
    picture::save(&checkerboards, &folder.path("demo.png"))?;
    interrupt::proceed()?;
    folder.commit()?;
    progress.finish();

    super::register::warn(&report.warnings);
    if !arguments.quiet {
        crate::print(&patient(&pair, arguments.seed, making));
        crate::print(&summary::registration(&registration, &report, MR.as_ref(), &arguments.out));
        crate::print(&errors(before, after, arguments));
    }
    trusted(after)
}

/// Writes the scans and the true motion; returns where the scans are for now.
fn write_scans(pair: &Pair, folder: &OutputFolder) -> Result<[PathBuf; 2]> {
    let [ct, mr] = [CT, MR].map(|name| folder.path(name));
    let (ct_written, mr_written) = rayon::join(|| io::write(&ct, &pair.ct), || io::write(&mr, &pair.mr));
    ct_written.and(mr_written)?;
    transform::write_linear(&folder.path("truth.tfm"), None, &pair.truth.into(), &Grids::default())?;
    Ok([ct, mr])
}

fn patient(pair: &Pair, seed: u64, seconds: f64) -> String {
    let scan = |volume: &Volume| {
        let ([i, j, k], spacing) = (volume.geometry.size, volume.geometry.spacing);
        format!("{i} x {j} x {k} voxels of {} x {} x {} mm", spacing.x, spacing.y, spacing.z)
    };
    [
        line("patient", &format!("number {seed}, made up in {seconds:.2} s")),
        line("fixed", &format!("CT-like, {}", scan(&pair.ct))),
        line("moving", &format!("MR-like, {}", scan(&pair.mr))),
        line("truth", &motion(&pair.truth.into())),
    ]
    .concat()
}

fn errors(before: Misplacement, after: Misplacement, arguments: &Demo) -> String {
    let Misplacement { mean_mm, max_mm } = after;
    let before = before.mean_mm;
    let out = arguments.out.display();
    [
        line(
            "error",
            &format!("{mean_mm:.3} mm on average over the brain, {max_mm:.3} mm at worst; {before:.2} mm before"),
        ),
        line("look at", &format!("{out}/demo.png, or at {out}/{CT} and {out}/moved.nii.gz in any viewer")),
    ]
    .concat()
}

fn trusted(after: Misplacement) -> Result<()> {
    if after.mean_mm <= TOLERANCE_MM {
        return Ok(());
    }
    Err(Error::untrusted(format!("the error is {:.2} mm, more than {TOLERANCE_MM} mm: the demo failed", after.mean_mm)))
}
