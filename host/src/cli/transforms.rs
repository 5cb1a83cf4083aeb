//! Transforms named on the command line.

use std::path::Path;

use glam::DAffine3;
use mireg::{Geometry, Result, io};

/// Reads a map from points of the fixed to points of the moving image, LPS mm.
pub fn read(path: &Path, _fixed: &Geometry, _moving: &Geometry) -> Result<DAffine3> {
    io::transform::read_itk(path)
}
