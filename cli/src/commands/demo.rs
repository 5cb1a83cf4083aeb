//! `mireg demo`.

use std::path::PathBuf;

use clap::Args;
use glam::DAffine3;
use mireg::io::transform::{self, Grids};
use mireg::io::{self, OutputFolder};
use mireg::registration::Options;
use mireg::{Error, Result, Volume};

use crate::arguments::compute::Compute;
use crate::arguments::images::Images;
use crate::arguments::number::whole;
use crate::arguments::pair::Pair as Files;
use crate::demo::{Misplacement, Pair, picture};
use crate::files;
use crate::invocation::Invocation;
use crate::job::{self, Job};
use crate::report::motion;
use crate::report::outputs::Outputs;
use crate::report::registration::Registered;
use crate::terminal::line;

pub const EXAMPLES: &str = "\
Simulates a CT and an MR scan of a synthetic head with a known motion between them,
registers them, and prints the mean registration error over the brain. The exit code is
1 if the error is larger than 1 mm. The output folder gets ct.nii.gz, mr.nii.gz,
truth.tfm, demo.png and the files of `mireg register`.";

#[derive(Args)]
pub struct Demo {
    /// Output folder for the scans and the results
    #[arg(long, value_name = "DIR", default_value = "mireg-demo")]
    pub out: PathBuf,
    /// Seed: each number gives a different head and a different motion
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole::<u64>(..), allow_negative_numbers = true)]
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
/// The demo fails if its mean error is larger than this, mm.
const TOLERANCE_MM: f64 = 1.0;

/// Makes a patient, registers the two scans, writes everything and prints the error.
pub fn run(arguments: &Demo, invocation: &Invocation) -> Result<()> {
    let Demo { out, seed, quiet, .. } = arguments;
    let files =
        Files { fixed: out.join(CT), moving: out.join(MR), out: out.clone(), quiet: *quiet, images: Images::default() };
    let outputs = Outputs::default();
    let job = Job::open::<Registered>(&files, outputs.clone(), &[], &arguments.compute, invocation)?;
    let final_path = |error| files::with_final_path(error, job.folder.temporary(), out);
    job.progress.step(&format!("simulating patient {seed}"));
    let simulated = job.engine.install(|| {
        let pair = Pair::new(*seed, 1.0);
        let making = invocation.started.elapsed().as_secs_f64();
        let scans = write_scans(&pair, &job.folder)?;
        Ok((pair, making, scans))
    });
    let (pair, making, [ct, mr]) = simulated.map_err(final_path)?;

    // The scans are read from their files again, so that `mireg register` on these files finds the same.
    let loaded = job.read_from(&ct, &mr, |_| Ok(Options::default()))?;
    let options = &loaded.options;
    let found = &job.engine.register(&loaded.fixed, &loaded.moving, options, &job.progress)?;
    let registered = Registered { found, options };
    let report = job.write(&loaded, &registered, None)?;
    let found = found.transform.to_affine();
    let before = pair.misplacement(&DAffine3::IDENTITY);
    let after = pair.misplacement(&found);
    let checkerboards = picture::checkerboards(&pair.ct, &pair.mr, &[DAffine3::IDENTITY, found]);
    picture::save(&checkerboards, &job.folder.path("demo.png")).map_err(final_path)?;
    let summary = job::summary(&files, &outputs, &registered, &report);
    let text = [patient(&pair, *seed, making), summary, errors(before, after, arguments)].concat();
    job.commit(&report, &text)?;
    trusted(after)
}

/// Writes the scans and the true motion. Returns the paths of the scans in the temporary folder.
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
        line("patient", &format!("seed {seed}, simulated in {seconds:.2} s")),
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
            &format!("{mean_mm:.3} mm mean over the brain, {max_mm:.3} mm maximum; {before:.2} mm mean before"),
        ),
        line("inspect", &format!("{out}/demo.png, or {out}/{CT} and {out}/moved.nii.gz in any viewer")),
    ]
    .concat()
}

fn trusted(after: Misplacement) -> Result<()> {
    if after.mean_mm <= TOLERANCE_MM {
        return Ok(());
    }
    Err(Error::untrusted(format!("the error is {:.2} mm, more than {TOLERANCE_MM} mm: the demo failed", after.mean_mm)))
}
