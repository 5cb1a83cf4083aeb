//! mireg registers medical images by mutual information, with the same bits on CPU and GPU.
//!
//! Points and vectors are in millimetres in the LPS frame of DICOM and ITK (x to the patient's left, y to the back,
//! z to the head) unless a name says `voxel`. A [`transform`] maps a point of the fixed image to the corresponding
//! point of the moving image.
//!
//! ```
//! use mireg::io::transform::{self, Grids};
//! use mireg::{Options, io, register};
//!
//! # let folder = tempfile::tempdir().unwrap();
//! # let pair = mireg::demo::Pair::new(3, 5.0);
//! # let [ct, mr, out] = ["ct.nii", "mr.nii", "transform.tfm"].map(|name| folder.path().join(name));
//! # io::write(&ct, &pair.ct)?;
//! # io::write(&mr, &pair.mr)?;
//! let (fixed, moving) = (io::read(&ct)?, io::read(&mr)?);
//! let found = register(&fixed, &moving, &Options::default(), &())?;
//! if found.trusted() {
//!     transform::write(&out, None, &found.transform, &Grids::default())?;
//!     let there = found.transform.to_affine().transform_point3(fixed.geometry.centre());
//!     println!("the middle of the fixed image is at {there} mm in the moving one");
//! }
//! # assert!(out.exists() && pair.misplacement(&found.transform.to_affine()).mean_mm < 1.5);
//! # Ok::<(), mireg::Error>(())
//! ```

pub mod backend;
pub mod deform;
pub mod demo;
pub mod error;
pub mod image;
pub mod io;
pub mod mesh;
pub mod metric;
mod observer;
pub mod optimizer;
mod random;
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
pub use resample::{Resampled, Resampling, resample, resample_through};
