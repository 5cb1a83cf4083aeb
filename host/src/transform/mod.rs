//! Maps from points of the fixed image to points of the moving image, LPS mm.
//!
//! A [`Transform`] is any of them: linear, a displacement field, a triangle mesh, or several one after the other. Each
//! maps points in both directions, can be sampled as a [`Field`] on a grid, and can be passed to
//! [`resample`](crate::resample). [`io::transform`](crate::io::transform) reads and writes them.
//!
//! A two-dimensional image lies in the plane z = 0, and its transforms leave z unchanged.
//!
//! ```
//! use glam::{DAffine3, DVec3};
//! use mireg::Geometry;
//! use mireg::transform::{Dimension, Field, Kind, Linear, Transform};
//!
//! let shift = DAffine3::from_translation(DVec3::new(3.0, 0.0, -1.0));
//! let shift = Transform::from(Linear::new(Kind::Rigid, Dimension::Three, DVec3::ZERO, &shift));
//! let grid = Geometry::axis_aligned([8, 8, 8], DVec3::splat(2.0), DVec3::ZERO);
//! let wave = Transform::from(Field::of(&grid, |point| point + DVec3::X * (point.y / 5.0).sin()));
//!
//! let both = shift.then(wave);
//! let there = both.map().transform_point3(DVec3::splat(5.0));
//! let back = both.inverse_map().transform_point3(there);
//! assert!(back.distance(DVec3::splat(5.0)) < 1e-6);
//! ```

mod affine;
mod any;
mod field;
mod kind;
mod linear;
mod map;
pub(crate) mod mesh;
mod rigid;
pub(crate) mod rotation;
mod step;

pub(crate) use affine::nearest_linear;
pub use any::Transform;
pub use field::{Field, FieldMap};
pub use kind::{Dimension, Kind};
pub use linear::Linear;
pub use map::TransformMap;
pub use mesh::{Mesh, MeshMap};
pub use rigid::Rigid;
pub use rotation::angle;
pub(crate) use rotation::exponential;
pub(crate) use rotation::plane;
pub use rotation::{euler_angles, nearest};
pub use step::{Steps, distance};
