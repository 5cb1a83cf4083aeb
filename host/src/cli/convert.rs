//! `mireg convert`.

use mireg::Result;
use mireg::io::transform;

use super::arguments::Convert;
use super::grids::{Images, keep_inputs};

/// Reads a transform and writes it in another format.
pub fn run(arguments: &Convert) -> Result<()> {
    let Convert { input, out, files } = arguments;
    keep_inputs(out, std::slice::from_ref(input), files)?;
    let images = Images::read(files)?;
    let transform = transform::read(input, files.from, &images.grids())?;
    transform::write(out, files.to, &transform, &images.grids())
}
