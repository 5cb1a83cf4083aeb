//! Non-rigid registration by flows of diffeomorphisms (Ledig & Chefd'hotel, section 3.2, after Chefd'hotel 2002): a displacement field
//! that grows by composing small, smoothed steps along the gradient of the metric, so that it stays invertible.

mod found;
mod options;

pub use found::{Consistency, Deformation, Level, Seconds};
pub use options::{Force, Options};

use crate::{Observer, Result, Volume};
use glam::DAffine3;

/// Deforms the moving image onto the fixed one, from `start`, a map of points of the fixed image to points of the moving image, LPS mm.
///
/// # Errors
/// [`crate::Error::Input`] for options or volumes that cannot be registered, [`crate::Error::Device`] where the backend is not there or
/// memory is short.
pub fn deform(
    _fixed: &Volume,
    _moving: &Volume,
    _start: &DAffine3,
    _options: &Options,
    _observer: &dyn Observer,
) -> Result<Deformation> {
    todo!()
}
