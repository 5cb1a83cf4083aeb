//! `mireg compose`.

use std::path::PathBuf;

use clap::Args;
use mireg::io::transform::{self, Grids};
use mireg::{Result, io};

use crate::arguments::grids::{Files, ImageGrids, keep_inputs};
use crate::interrupt::SignalGuard;
use crate::transforms::Chain;

pub const EXAMPLES: &str = "\
The transforms are applied to a point in the order given. The first maps from the fixed
image of the whole chain, the last to its moving image. This is the order of
antsApplyTransforms. Linear transforms compose to a linear transform. If one of them is a
displacement field, the result is a displacement field (.nii.gz, .mha or .nrrd) on the
grid of --fixed, or of the first field; written to .h5, it is an ITK composite that keeps
each of them.

Examples:
  mireg compose ct_to_t1.tfm t1_to_t2.tfm --out ct_to_t2.tfm
      ct_to_t1.tfm is what `mireg register ct t1` found, t1_to_t2.tfm that of
      `mireg register t1 t2`; `mireg apply` moves t2 onto ct with the result.
  mireg compose 1Warp.nii.gz 0GenericAffine.mat --fixed mni.nii.gz --out total.nii.gz";

#[derive(Args)]
pub struct Compose {
    /// Transforms, in the order in which they are applied to a point
    #[arg(value_name = "TRANSFORM", num_args = 1.., required = true)]
    pub inputs: Vec<PathBuf>,
    /// Output file
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    #[command(flatten)]
    pub files: Files,
}

/// Reads transforms and writes their composition.
pub fn run(arguments: &Compose) -> Result<()> {
    let Compose { inputs, out, files } = arguments;
    keep_inputs(out, inputs, &files.reading)?;
    let images = ImageGrids::read(&files.reading)?;
    // The grids between the first and the last transform are not known, so formats that need both grids are refused.
    let grids = Grids { moving: None, ..images.grids() };
    let chain = Chain::read_each(inputs, files.reading.from, &grids)?;
    let _guard = SignalGuard::new();
    match chain.transform.to_linear() {
        Some(whole) => transform::write_linear(out, files.to, &whole, &images.grids()),
        None if transform::holds_chains(out, files.to) => {
            transform::write(out, files.to, &chain.transform, &images.grids())
        }
        None => io::field::write(out, &chain.field(false, grids.fixed)?.0),
    }
}
