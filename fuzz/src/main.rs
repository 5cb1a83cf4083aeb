//! Damages files of every format and looks at what mireg makes of them: a volume, a transform, or one line that says what is wrong with
//! which file. All else is a find: a panic, a hang, memory that the file cannot need, and an error of another form.

mod arguments;
mod case;
mod damage;
mod parse;
mod random;
mod samples;
mod tree;
mod watch;
mod worker;

#[path = "../../tests/support/allocator.rs"]
mod allocator;
#[path = "../../host/src/io/hdf5/checksum.rs"]
mod checksum;
#[path = "../../tests/io/dicom_file.rs"]
mod dicom_file;
#[path = "../../tests/support/landmarks.rs"]
mod landmarks;
#[path = "../../tests/io/nifti_file.rs"]
mod nifti_file;
#[path = "../../tests/io/tiff_file.rs"]
mod tiff_file;

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Parser;

use allocator::Noting;
use arguments::Arguments;
use case::Cases;
use worker::Share;

/// Refuses a single allocation of more than this, so that no find takes the machine down.
#[global_allocator]
static ALLOCATOR: Noting<{ 1 << 30 }> = Noting;

fn main() -> ExitCode {
    let mut arguments = Arguments::parse();
    if arguments.cases.is_none() {
        arguments.seconds.get_or_insert(60.0);
    }
    let outcome = match (arguments.case, arguments.worker, &arguments.progress) {
        (Some((seed, case)), ..) => one(&arguments, seed, case),
        (_, Some((first, step)), Some(progress)) => {
            let time = arguments.seconds.map(Duration::from_secs_f64);
            let share = Share { first, step, end: arguments.cases.unwrap_or(u64::MAX), time };
            share_of(&arguments, &share, progress)
        }
        _ => all(&arguments),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(says) => {
            eprintln!("{says}");
            ExitCode::FAILURE
        }
    }
}

/// Creates a temporary folder, in memory if the system has a file system for that.
fn folder() -> Result<tempfile::TempDir, String> {
    let memory = Path::new("/dev/shm");
    let parent = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    tempfile::Builder::new().prefix("mireg-fuzz-").tempdir_in(parent).map_err(|e| e.to_string())
}

/// Creates the cases. This thread alone reads them, so that its allocations are all that there are.
fn cases(arguments: &Arguments, folder: &Path, seed: u64) -> Result<Cases, String> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread();
    pool.build_global().map_err(|e| e.to_string())?;
    let cases = Cases::new(folder, seed, &arguments.format);
    if cases.kinds() == 0 { Err(format!("no file has \"{}\" in its name", arguments.format)) } else { Ok(cases) }
}

fn share_of(arguments: &Arguments, share: &Share, progress: &Path) -> Result<(), String> {
    // The process that watches removes this folder, however this one ends.
    let cases = cases(arguments, &progress.with_extension("folder"), arguments.seed)?;
    worker::run(&cases, share, progress)
}

fn one(arguments: &Arguments, seed: u64, case: u64) -> Result<(), String> {
    let folder = folder()?.keep();
    let cases = cases(arguments, &folder, seed)?;
    println!("{}", cases.name(case));
    println!("{}", cases.run(case)?);
    Ok(())
}

fn all(arguments: &Arguments) -> Result<(), String> {
    let folder = folder()?;
    cases(arguments, folder.path(), arguments.seed)?.check()?;
    let start = Instant::now();
    let (count, finds) = watch::watch(arguments, folder.path()).map_err(|e| e.to_string())?;
    println!("{count} cases in {:.1} s", start.elapsed().as_secs_f64());
    if finds.is_empty() { Ok(()) } else { Err(finds.table().join("\n")) }
}
