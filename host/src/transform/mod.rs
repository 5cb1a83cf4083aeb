//! Maps from points of the fixed image to points of the moving image.

mod rigid;

pub use rigid::Rigid;
