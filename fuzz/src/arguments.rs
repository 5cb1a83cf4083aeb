//! What is asked for on the command line.

use std::path::PathBuf;

use clap::Parser;

/// Damages small files of every format and reads them. Prints finds, each with the case that shows it; the exit code is 1 if there are any.
#[derive(Parser)]
pub struct Arguments {
    /// Stop after so many seconds [default: 60, unless --cases is given]
    #[arg(long)]
    pub seconds: Option<f64>,
    /// Stop after so many cases
    #[arg(long)]
    pub cases: Option<u64>,
    /// Other seeds have other cases
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Only files with this in their names, such as dicom or transform-lta
    #[arg(long, default_value = "")]
    pub format: String,
    /// Processes at a time [default: one per core]
    #[arg(long)]
    pub workers: Option<u64>,
    /// Run one case, SEED:NUMBER, with the --format with which it was found, and keep its files
    #[arg(long, value_parser = pair)]
    pub case: Option<(u64, u64)>,
    /// The cases of a process, FIRST:STEP
    #[arg(long, value_parser = pair, hide = true, requires = "progress")]
    pub worker: Option<(u64, u64)>,
    /// Where it writes down which case it is in
    #[arg(hide = true)]
    pub progress: Option<PathBuf>,
}

fn pair(text: &str) -> Result<(u64, u64), String> {
    let numbers = text.split_once(':').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    numbers.ok_or_else(|| "two numbers with a colon between are needed".into())
}
