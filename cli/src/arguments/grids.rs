//! Arguments for what files of transforms do not say themselves: their format, and the grids of the images.

use std::path::{Path, PathBuf};

use clap::Args;
use mireg::io::transform::{Format, Grids};
use mireg::{Error, Geometry, Result, io};

use super::choice::choice;
use crate::files;

/// The arguments of commands that read and write transforms.
#[derive(Args)]
pub struct Files {
    #[command(flatten)]
    pub reading: Reading,
    /// Format of the output, one of those above [default: by file extension: .tfm, .txt, .json, .mat for fsl, .standard, .lta, .1D, .xfm, .h5]
    #[arg(long, value_parser = choice::<Format>(), value_name = "FORMAT", help_heading = "Formats", hide_possible_values = true)]
    pub to: Option<Format>,
}

/// The arguments of commands that read transforms.
#[derive(Args)]
pub struct Reading {
    /// Format of the input [default: detected from the content]
    #[arg(long, value_parser = choice::<Format>(), value_name = "FORMAT", help_heading = "Formats")]
    pub from: Option<Format>,
    /// Fixed image, for formats that need it; only its header is read
    #[arg(long, value_name = "IMAGE", help_heading = "Formats")]
    pub fixed: Option<PathBuf>,
    /// Moving image, for formats that need it; only its header is read
    #[arg(long, value_name = "IMAGE", help_heading = "Formats")]
    pub moving: Option<PathBuf>,
}

/// The grids of the images that `--fixed` and `--moving` name.
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
    match files::replaced(out, inputs.iter().chain(&reading.fixed).chain(&reading.moving)) {
        Some(input) => Err(Error::file(input, "the result would replace this input; choose another name for it")),
        None => Ok(()),
    }
}
