//! `mireg demo`.

use std::time::Instant;

use glam::DAffine3;
use mireg::demo::{Misplacement, Pair, picture};
use mireg::io::{self, OutputFolder};
use mireg::metric::MetricKind;
use mireg::registration::Options;
use mireg::report::Run;
use mireg::{Error, Result, Volume};

use super::arguments::{DEFAULT_BINS, Demo};
use super::progress::Progress;
use super::summary::{self, line};

/// A demo that is off by more than this has failed, mm.
const TOLERANCE_MM: f64 = 1.0;

/// Makes a patient, registers the two scans, writes everything and prints the error.
pub fn run(arguments: &Demo, started: Instant) -> Result<()> {
    let folder = OutputFolder::create(&arguments.out)?;
    let progress = Progress::new(arguments.quiet);
    progress.step(&format!("making patient {}", arguments.seed));
    let pair = Pair::new(arguments.seed, 1.0);
    let making = started.elapsed().as_secs_f64();
    write_scans(&pair, &folder)?;

    let (fixed, moving) = (arguments.out.join("ct.nii.gz"), arguments.out.join("mr.nii.gz"));
    let options = Options {
        metric: MetricKind::Nmi,
        bins: DEFAULT_BINS,
        backend: arguments.compute.backend,
        threads: arguments.compute.threads(),
    };
    let run = Run { started, fixed: &fixed, moving: &moving, read: 0.0, options: &options };
    let (registration, report) = super::register::align(&pair.ct, &pair.mr, &run, &folder, &progress)?;
    let found = registration.transform.to_affine();
    let before = pair.misplacement(&DAffine3::IDENTITY);
    let after = pair.misplacement(&found);
    let checkerboards = picture::checkerboards(&pair.ct, &pair.mr, &[DAffine3::IDENTITY, found]);
    picture::save(&checkerboards, &folder.path("demo.png"))?;
    folder.commit()?;
    progress.finish();

    super::register::warn(&report);
    if !arguments.quiet {
        super::print(&patient(&pair, arguments.seed, making));
        super::print(&summary::registration(&registration, &report, &arguments.out));
        super::print(&errors(before, after, arguments));
    }
    trusted(after)
}

fn write_scans(pair: &Pair, folder: &OutputFolder) -> Result<()> {
    let (ct, mr) = rayon::join(
        || io::write(&folder.path("ct.nii.gz"), &pair.ct),
        || io::write(&folder.path("mr.nii.gz"), &pair.mr),
    );
    ct.and(mr)?;
    io::transform::write_itk(&folder.path("truth.tfm"), &pair.truth)
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
        line("truth", &summary::motion(&pair.truth)),
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
        line("look at", &format!("{out}/demo.png, or at {out}/ct.nii.gz and {out}/moved.nii.gz in any viewer")),
    ]
    .concat()
}

fn trusted(after: Misplacement) -> Result<()> {
    if after.mean_mm <= TOLERANCE_MM {
        return Ok(());
    }
    Err(Error::Untrusted(format!("the error is {:.2} mm, more than {TOLERANCE_MM} mm: the demo failed", after.mean_mm)))
}
