//! Two images, and where the results go.

use std::path::PathBuf;

use clap::Args;

use super::images::Images;

#[derive(Args)]
pub struct Pair {
    /// Fixed image (the reference)
    pub fixed: PathBuf,
    /// Moving image
    pub moving: PathBuf,
    #[command(flatten)]
    pub images: Images,
    /// Output folder
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub out: PathBuf,
    /// Print errors and warnings only
    #[arg(long, short, help_heading = "Output")]
    pub quiet: bool,
}
