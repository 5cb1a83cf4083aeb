//! Arguments of the commands that work on transforms alone.

use std::path::PathBuf;

use clap::Args;
use mireg::io::transform::Format;

pub const CONVERT_EXAMPLES: &str = "\
Whatever the format, IN takes a point of FIXED to the point of MOVING; FLIRT's
matrices, which say the reverse, are turned round on the way. OUT appears whole or
not at all.

Examples:
  mireg convert out/transform.tfm flirt.mat --fixed ct.nii.gz --moving mr.nii.gz
  mireg convert flirt.mat transform.tfm --fixed ct.nii.gz --moving mr.nii.gz
  mireg convert greedy.txt transform.tfm --from matrix-ras
  mireg convert transform.tfm 0GenericAffine.mat --to ants
  mireg convert transform.tfm TransformParameters.0.txt --fixed ct.nii.gz";

pub const COMPOSE_EXAMPLES: &str = "\
A point goes through the files in the order in which they are named: through A, then
through B. So the first starts from the fixed image of the whole, and the last ends
in its moving image.

Examples:
  mireg compose ct_to_t1.tfm t1_to_t2.tfm --out ct_to_t2.tfm
      ct_to_t1.tfm is what `mireg register ct t1` found, t1_to_t2.tfm that of
      `mireg register t1 t2`; `mireg apply` moves t2 onto ct with the result.";

pub const INVERT_EXAMPLES: &str = "\
Where IN takes a point of FIXED to MOVING, FILE takes one of MOVING to FIXED. --fixed
and --moving are those of IN.

Examples:
  mireg invert ct_to_mr.tfm --out mr_to_ct.tfm
  mireg invert ct_to_mr.mat --fixed ct.nii.gz --moving mr.nii.gz --out mr_to_ct.mat";

#[derive(Args)]
pub struct Convert {
    /// The transform that is read
    #[arg(value_name = "IN")]
    pub input: PathBuf,
    /// The file that is written
    #[arg(value_name = "OUT")]
    pub out: PathBuf,
    #[command(flatten)]
    pub files: Files,
}

#[derive(Args)]
pub struct Compose {
    /// The transform that comes first, those after it in their order
    #[arg(value_name = "TRANSFORM", num_args = 2.., required = true)]
    pub inputs: Vec<PathBuf>,
    /// The file that is written
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    #[command(flatten)]
    pub files: Files,
}

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

/// What files of transforms do not say themselves.
#[derive(Args)]
pub struct Files {
    /// Format of what is read [default: what the content looks like]
    #[arg(long, value_enum, value_name = "FORMAT", help_heading = "Formats")]
    pub from: Option<Format>,
    /// Format of what is written [default: what the end of its name says: .tfm, .txt, .json, .mat for fsl, .standard]
    #[arg(long, value_enum, value_name = "FORMAT", help_heading = "Formats")]
    pub to: Option<Format>,
    /// The fixed image; only its header counts
    #[arg(long, value_name = "IMAGE", help_heading = "Formats")]
    pub fixed: Option<PathBuf>,
    /// The moving image; only its header counts
    #[arg(long, value_name = "IMAGE", help_heading = "Formats")]
    pub moving: Option<PathBuf>,
}
