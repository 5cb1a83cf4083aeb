//! `mireg compose`.

use std::path::PathBuf;

use clap::Args;
use glam::DVec3;
use mireg::io::transform::{self, Grids};
use mireg::transform::{Dimension, Kind, Linear};
use mireg::{Error, Result};

use super::grids::{Files, Images, keep_inputs};

pub const EXAMPLES: &str = "\
A point goes through the files in the order in which they are named: through A, then
through B. So the first starts from the fixed image of the whole, and the last ends
in its moving image.

Examples:
  mireg compose ct_to_t1.tfm t1_to_t2.tfm --out ct_to_t2.tfm
      ct_to_t1.tfm is what `mireg register ct t1` found, t1_to_t2.tfm that of
      `mireg register t1 t2`; `mireg apply` moves t2 onto ct with the result.";

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

/// Reads transforms and writes the one that does what they do one after the other.
pub fn run(arguments: &Compose) -> Result<()> {
    let Compose { inputs, out, files } = arguments;
    keep_inputs(out, inputs, &files.reading)?;
    let images = Images::read(&files.reading)?;
    // What lies between the first and the last is not known, so formats that need both grids are refused.
    let grids = Grids { moving: None, ..images.grids() };
    let none = Linear::identity(Kind::Translation, Dimension::Two, DVec3::ZERO);
    let whole = inputs.iter().try_fold(none, |whole, input| {
        let next = transform::read(input, files.reading.from, &grids)?;
        Ok::<_, Error>(whole.then(&next))
    })?;
    transform::write(out, files.to, &whole, &images.grids())
}
