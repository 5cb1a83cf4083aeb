//! `mireg compose`.

use glam::DVec3;
use mireg::io::transform::{self, Grids};
use mireg::transform::{Dimension, Kind, Linear};
use mireg::{Error, Result};

use super::arguments::Compose;
use super::grids::{Images, keep_inputs};

/// Reads transforms and writes the one that does what they do one after the other.
pub fn run(arguments: &Compose) -> Result<()> {
    let Compose { inputs, out, files } = arguments;
    keep_inputs(out, inputs, files)?;
    let images = Images::read(files)?;
    // What lies between the first and the last is not known, so formats that need both grids are refused.
    let grids = Grids { moving: None, ..images.grids() };
    let none = Linear::identity(Kind::Translation, Dimension::Two, DVec3::ZERO);
    let whole = inputs.iter().try_fold(none, |whole, input| {
        let next = transform::read(input, files.from, &grids)?;
        Ok::<_, Error>(whole.then(&next))
    })?;
    transform::write(out, files.to, &whole, &images.grids())
}
