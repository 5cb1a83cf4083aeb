//! What files of transforms do not say themselves.

use std::path::{Path, PathBuf};

use clap::Args;
use mireg::io::transform::{Format, Grids};
use mireg::{Error, Geometry, Result, io};

use super::choice::choice;

/// Of a transform that is read and written.
#[derive(Args)]
pub struct Files {
    #[command(flatten)]
    pub reading: Reading,
    /// Format of what is written, one of the same [default: by the end of its name: .tfm, .txt, .json, .mat for fsl, .standard]
    #[arg(long, value_parser = choice::<Format>(), value_name = "FORMAT", help_heading = "Formats", hide_possible_values = true)]
    pub to: Option<Format>,
}

/// Of a transform that is read.
#[derive(Args)]
pub struct Reading {
    /// Format of what is read [default: what the content looks like]
    #[arg(long, value_parser = choice::<Format>(), value_name = "FORMAT", help_heading = "Formats")]
    pub from: Option<Format>,
    /// The fixed image, for formats that need it; only its header counts
    #[arg(long, value_name = "IMAGE", help_heading = "Formats")]
    pub fixed: Option<PathBuf>,
    /// The moving image, for formats that need it; only its header counts
    #[arg(long, value_name = "IMAGE", help_heading = "Formats")]
    pub moving: Option<PathBuf>,
}

/// The grids of the images that were named.
pub struct ImageGrids {
    fixed: Option<Geometry>,
    moving: Option<Geometry>,
}

impl ImageGrids {
    pub fn read(reading: &Reading) -> Result<Self> {
        let grid = |path: &Option<PathBuf>| path.as_deref().map(io::geometry).transpose();
        Ok(Self { fixed: grid(&reading.fixed)?, moving: grid(&reading.moving)? })
    }

    pub fn grids(&self) -> Grids<'_> {
        Grids { fixed: self.fixed.as_ref(), moving: self.moving.as_ref() }
    }
}

/// Refuses an output file that would replace an input.
pub fn keep_inputs(out: &Path, inputs: &[PathBuf], reading: &Reading) -> Result<()> {
    match crate::replaced(out, inputs.iter().chain(&reading.fixed).chain(&reading.moving)) {
        Some(input) => Err(Error::file(input, "the result would replace this input; choose another name for it")),
        None => Ok(()),
    }
}
