//! RAS, the axes of NIfTI and FreeSurfer, and LPS, those of DICOM and of this library.

use glam::{DMat3, DVec3};

/// RAS from LPS and back.
pub const FLIP: DMat3 = DMat3::from_cols(DVec3::NEG_X, DVec3::NEG_Y, DVec3::Z);
