//! `mireg convert`.

use std::path::PathBuf;

use clap::Args;
use mireg::io::transform;
use mireg::transform::Transform;
use mireg::{Error, Result};

use crate::arguments::grids::{Files, ImageGrids, keep_inputs};
use crate::interrupt::SignalGuard;

pub const EXAMPLES: &str = "\
In every format the transform maps points of FIXED to points of MOVING. Files of FLIRT,
FreeSurfer and MINC, which map from MOVING to FIXED, are inverted when read and written.
Displacement fields are converted between .nii.gz, .mha, .nrrd and ITK's .h5, which also
holds composites.

Examples:
  mireg convert out/transform.tfm flirt.mat --fixed ct.nii.gz --moving mr.nii.gz
  mireg convert flirt.mat transform.tfm --fixed ct.nii.gz --moving mr.nii.gz
  mireg convert greedy.txt transform.tfm --from matrix-ras
  mireg convert transform.tfm 0GenericAffine.mat --to ants
  mireg convert transform.tfm TransformParameters.0.txt --fixed ct.nii.gz
  mireg convert from-T1w_to-MNI_xfm.h5 from-T1w_to-MNI_xfm.tfm";

#[derive(Args)]
pub struct Convert {
    /// Transform to read
    #[arg(value_name = "IN")]
    pub input: PathBuf,
    /// Output file
    #[arg(value_name = "OUT")]
    pub out: PathBuf,
    #[command(flatten)]
    pub files: Files,
}

/// Reads a transform and writes it in another format.
pub fn run(arguments: &Convert) -> Result<()> {
    let Convert { input, out, files } = arguments;
    keep_inputs(out, std::slice::from_ref(input), &files.reading)?;
    let images = ImageGrids::read(&files.reading)?;
    let grids = images.grids();
    let _guard = SignalGuard::new();
    match transform::read(input, files.reading.from, &grids)? {
        // A chain of linear transforms is read again as one linear transform. A mesh is refused there.
        read if read.to_linear().is_some() || matches!(read, Transform::Mesh(_)) => {
            let linear = transform::read_linear(input, files.reading.from, &grids)?;
            transform::write_linear(out, files.to, &linear, &grids)
        }
        read @ Transform::Field(_) => transform::write(out, files.to, &read, &grids),
        read if transform::holds_chains(out, files.to) => transform::write(out, files.to, &read, &grids),
        _ => Err(Error::file(input, "holds fields among other transforms; `mireg compose` makes one field of them")),
    }
}
