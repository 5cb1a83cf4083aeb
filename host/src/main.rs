//! The command line.

mod cli;

use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    let started = Instant::now();
    cli::fault::guard(move || cli::run(started))
}
