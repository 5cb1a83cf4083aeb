//! Transforms named on the command line.

use std::path::{Path, PathBuf};

use glam::DAffine3;
use mireg::Result;
use mireg::io::transform::{self, Grids};

/// The transform in a file of any format that needs no images: fixed point to moving point, LPS mm.
pub fn read(path: &Path) -> Result<DAffine3> {
    Ok(transform::read(path, None, &Grids::default())?.to_affine())
}

/// The transforms of several files, applied in this order to a point; then backwards where `invert` says.
pub fn chain(paths: &[PathBuf], invert: bool) -> Result<DAffine3> {
    let map = paths.iter().try_fold(DAffine3::IDENTITY, |first, path| read(path).map(|next| next * first))?;
    Ok(if invert { map.inverse() } else { map })
}
