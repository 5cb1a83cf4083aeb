//! The program `mireg`.

use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    let started = Instant::now();
    mireg_cli::fault::guard(move || mireg_cli::run(started, std::env::args_os().collect())).into()
}
