//! Transforms named on the command line.

use std::path::{Path, PathBuf};

use glam::DAffine3;
use mireg::Result;
use mireg::io::transform::{self, Format, Grids};

/// The transform in a file between images of these grids: fixed point to moving point, LPS mm.
pub fn read(path: &Path, format: Option<Format>, grids: &Grids) -> Result<DAffine3> {
    Ok(transform::read(path, format, grids)?.to_affine())
}

/// The transforms of several files, applied in this order to a point; then backwards where `invert` says. `grids` are those that the
/// whole lies between: of several transforms none can be in a format that needs both.
pub fn chain(paths: &[PathBuf], format: Option<Format>, grids: &Grids, invert: bool) -> Result<DAffine3> {
    let one = if paths.len() == 1 { *grids } else { Grids::default() };
    let next = |first, path: &PathBuf| read(path, format, &one).map(|next| next * first);
    let map = paths.iter().try_fold(DAffine3::IDENTITY, next)?;
    Ok(if invert { map.inverse() } else { map })
}
