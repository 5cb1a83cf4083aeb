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
//! # let [ct, mr, out] = ["ct.nii", "mr.nii", "transform.tfm"].map(|name| folder.path().join(name));
//! # let grid = mireg::Geometry::axis_aligned([40; 3], glam::DVec3::splat(4.0), glam::DVec3::ZERO);
//! # let scan = |shift_mm: f64, invert: bool| {
//! #     let brightness = |n: usize| {
//! #         let [x, y, z] = [n % 40, n / 40 % 40, n / 1600].map(|i| i as f64 * 4.0 - 80.0);
//! #         let inside = ((x - shift_mm) / 60.0).powi(2) + (y / 50.0).powi(2) + (z / 40.0).powi(2) < 1.0;
//! #         let tissue = 500.0 + 200.0 * ((x - shift_mm) / 9.0).sin() + 150.0 * (y / 8.0).cos() + 100.0 * (z / 11.0).sin();
//! #         if inside { if invert { 1200.0 - tissue } else { tissue } } else { 0.0 }
//! #     };
//! #     let voxels = (0..64_000).map(|n| brightness(n) as f32).collect();
//! #     mireg::Volume { geometry: grid, voxels, pixel: mireg::PixelType::F32 }
//! # };
//! # io::write(&ct, &scan(0.0, false))?;
//! # io::write(&mr, &scan(6.0, true))?;
//! let (fixed, moving) = (io::read(&ct)?, io::read(&mr)?);
//! let found = register(&fixed, &moving, &Options::default())?;
//! if found.trusted() {
//!     transform::write_linear(&out, None, &found.transform, &Grids::default())?;
//!     let there = found.transform.to_affine().transform_point3(fixed.geometry.centre());
//!     println!("the middle of the fixed image is at {there} mm in the moving one");
//! }
//! # let moved = found.transform.to_affine().transform_point3(glam::DVec3::splat(80.0));
//! # assert!(out.exists() && moved.distance(glam::DVec3::new(86.0, 80.0, 80.0)) < 0.5, "{moved}");
//! # Ok::<(), mireg::Error>(())
//! ```

pub mod backend;
mod cost;
pub mod deform;
mod doubt;
mod engine;
pub mod error;
pub mod image;
pub mod io;
pub mod labels;
pub mod mesh;
pub mod metric;
mod observer;
pub mod optimizer;
mod plane;
pub mod random;
pub mod reference;
pub mod registration;
pub mod resample;
mod slices;
pub mod template;
pub mod threads;
pub mod transform;
pub mod tre;

pub use doubt::{Check, Doubt};
pub use engine::{Engine, deform, mesh, register};
pub use error::{Error, Result};
pub use image::{Geometry, PixelType, Volume};
pub use observer::{Observer, Silent};
pub use registration::{Options, Registration};
pub use resample::{Resampled, Resampling, resample_through};
