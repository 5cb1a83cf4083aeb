//! `mireg register`.

use std::path::Path;
use std::time::Instant;

use mireg::io::OutputFolder;
use mireg::registration::Registration;
use mireg::report::{Report, Run};
use mireg::{Error, Result, Volume};

use super::arguments::Register;
use super::progress::Progress;
use super::summary;

/// Reads two images, registers them, writes the results and prints a summary.
pub fn run(arguments: &Register, started: Instant) -> Result<()> {
    let Register { fixed, moving, out, .. } = arguments;
    super::keep_inputs(&out.join(mireg::report::moved(moving)), [fixed, moving])?;
    let folder = OutputFolder::create(out)?;
    let progress = Progress::new(arguments.quiet);
    progress.step("reading");
    let reading = Instant::now();
    let (fixed_volume, moving_volume) = super::read(fixed, moving)?;
    let others = arguments.histogram.options(arguments.metric, &arguments.compute)?;
    let options = arguments.search.options(others)?;
    let run = Run { started, fixed, moving, read: reading.elapsed().as_secs_f64(), options: &options };
    let (registration, report) = align(&fixed_volume, &moving_volume, &run, &folder, &progress)?;
    folder.commit()?;
    progress.finish();
    warn(&report);
    if !arguments.quiet {
        super::print(&summary::registration(&registration, &report, moving, out));
    }
    trusted(&registration, out)
}

/// The results are there for the eye, but a script is to stop here.
pub fn trusted(registration: &Registration, out: &Path) -> Result<()> {
    let grave: Vec<_> = registration.doubts.iter().filter(|doubt| doubt.grave).map(|doubt| doubt.name).collect();
    match grave[..] {
        [] => Ok(()),
        _ => Err(Error::Untrusted(format!(
            "the result should not be used ({}); look at {}",
            grave.join(", "),
            out.join(mireg::report::REPORT).display()
        ))),
    }
}

/// Registers and puts the results into `folder`.
pub fn align(
    fixed: &Volume,
    moving: &Volume,
    run: &Run,
    folder: &OutputFolder,
    progress: &Progress,
) -> Result<(Registration, Report)> {
    let registration = mireg::register(fixed, moving, run.options, progress)?;
    progress.step("writing");
    let report = run.write([fixed, moving], &registration, folder)?;
    Ok((registration, report))
}

/// Says what speaks against a result. `--quiet` does not silence it.
pub fn warn(report: &Report) {
    report.warnings.iter().for_each(|warning| super::say(&format!("mireg: warning: {}", warning.text)));
}
