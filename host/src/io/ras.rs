//! Conversion between RAS, the frame of NIfTI and FreeSurfer, and LPS, the frame of DICOM and of this library.

use glam::{DMat3, DVec3};

/// The matrix from LPS to RAS, and from RAS to LPS.
pub const FLIP: DMat3 = DMat3::from_cols(DVec3::NEG_X, DVec3::NEG_Y, DVec3::Z);
