//! The images that `mireg convert`, `compose` and `invert` are told of.

use std::path::{Path, PathBuf};

use mireg::io::transform::Grids;
use mireg::{Error, Geometry, Result, io};

use super::arguments::Files;

/// The grids of the images that were named.
pub struct Images {
    fixed: Option<Geometry>,
    moving: Option<Geometry>,
}

impl Images {
    pub fn read(files: &Files) -> Result<Self> {
        let grid = |path: &Option<PathBuf>| path.as_deref().map(io::geometry).transpose();
        Ok(Self { fixed: grid(&files.fixed)?, moving: grid(&files.moving)? })
    }

    pub fn grids(&self) -> Grids<'_> {
        Grids { fixed: self.fixed.as_ref(), moving: self.moving.as_ref() }
    }
}

/// Refuses an output file that would replace an input.
pub fn keep_inputs(out: &Path, inputs: &[PathBuf], files: &Files) -> Result<()> {
    let there = out.canonicalize().ok();
    let mut inputs = inputs.iter().chain(&files.fixed).chain(&files.moving);
    match inputs.find(|input| there.is_some() && input.canonicalize().ok() == there) {
        Some(input) => Err(Error::file(input, "the result would replace this input; choose another name for it")),
        None => Ok(()),
    }
}
