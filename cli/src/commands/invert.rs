//! `mireg invert`.

use std::path::PathBuf;

use clap::Args;
use mireg::Result;
use mireg::io::transform;

use crate::arguments::grids::{Files, ImageGrids, keep_inputs};
use crate::interrupt::SignalGuard;
use crate::transforms::{Chain, verdict};

pub const EXAMPLES: &str = "\
IN maps points of FIXED to points of MOVING; the output maps points of MOVING to points of
FIXED. --fixed and --moving are the images of IN. The inverse of a displacement field is a
displacement field on the grid of --moving, or on the grid of IN. Of a field that folds it is
written, and the exit code is 1.

Examples:
  mireg invert ct_to_mr.tfm --out mr_to_ct.tfm
  mireg invert ct_to_mr.mat --fixed ct.nii.gz --moving mr.nii.gz --out mr_to_ct.mat
  mireg invert 1Warp.nii.gz --moving mr.nii.gz --out 1InverseWarp.nii.gz";

#[derive(Args)]
pub struct Invert {
    /// Transform to invert
    #[arg(value_name = "IN")]
    pub input: PathBuf,
    /// Output file
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    #[command(flatten)]
    pub files: Files,
}

/// Reads a transform and writes its inverse.
pub fn run(arguments: &Invert) -> Result<()> {
    let Invert { input, out, files } = arguments;
    keep_inputs(out, std::slice::from_ref(input), &files.reading)?;
    let images = ImageGrids::read(&files.reading)?;
    let grids = images.grids();
    let chain = Chain::read(std::slice::from_ref(input), files.reading.from, &grids)?;
    let _guard = SignalGuard::new();
    match chain.transform.to_linear() {
        Some(linear) => transform::write_linear(out, files.to, &linear.inverse(), &grids.swapped()),
        None => {
            let (field, doubt) = chain.field(true, grids.moving)?;
            transform::write(out, files.to, &field.into(), &grids.swapped())?;
            verdict(doubt)
        }
    }
}
