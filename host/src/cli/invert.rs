//! `mireg invert`.

use mireg::Result;
use mireg::io::transform;

use super::arguments::Invert;
use super::grids::{Images, keep_inputs};

/// Reads a transform and writes the way back.
pub fn run(arguments: &Invert) -> Result<()> {
    let Invert { input, out, files } = arguments;
    keep_inputs(out, std::slice::from_ref(input), files)?;
    let images = Images::read(files)?;
    let inverse = transform::read(input, files.from, &images.grids())?.inverse();
    transform::write(out, files.to, &inverse, &images.grids().swapped())
}
