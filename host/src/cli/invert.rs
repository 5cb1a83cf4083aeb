//! `mireg invert`.

use std::path::PathBuf;

use clap::Args;
use mireg::Result;
use mireg::io::transform;

use super::grids::{Files, Images, keep_inputs};

pub const EXAMPLES: &str = "\
Where IN takes a point of FIXED to MOVING, FILE takes one of MOVING to FIXED. --fixed
and --moving are those of IN.

Examples:
  mireg invert ct_to_mr.tfm --out mr_to_ct.tfm
  mireg invert ct_to_mr.mat --fixed ct.nii.gz --moving mr.nii.gz --out mr_to_ct.mat";

#[derive(Args)]
pub struct Invert {
    /// The transform that is read
    #[arg(value_name = "IN")]
    pub input: PathBuf,
    /// The file that is written
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    #[command(flatten)]
    pub files: Files,
}

/// Reads a transform and writes the way back.
pub fn run(arguments: &Invert) -> Result<()> {
    let Invert { input, out, files } = arguments;
    keep_inputs(out, std::slice::from_ref(input), &files.reading)?;
    let images = Images::read(&files.reading)?;
    let inverse = transform::read(input, files.reading.from, &images.grids())?.inverse();
    transform::write(out, files.to, &inverse, &images.grids().swapped())
}
