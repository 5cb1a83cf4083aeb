//! mireg registers medical images by mutual information, with the same bits on CPU and GPU.
//!
//! Points and vectors are in millimetres in the LPS frame of DICOM and ITK (x to the patient's left, y to the back,
//! z to the head) unless a name says `voxel`. A [`transform`] maps a point of the fixed image to the corresponding
//! point of the moving image.

pub mod backend;
pub mod demo;
pub mod error;
pub mod image;
pub mod io;
pub mod metric;
mod observer;
pub mod optimizer;
pub mod reference;
pub mod registration;
pub mod report;
mod resample;
pub mod threads;
pub mod transform;
pub mod tre;

pub use error::{Error, Result};
pub use image::{Geometry, PixelType, Volume};
pub use observer::Observer;
pub use registration::{Options, Registration, register};
pub use resample::{Resampled, Resampling, resample};
