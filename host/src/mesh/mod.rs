//! Registers two pictures (2-D images) by a triangle mesh, each triangle with an affine map: Lin & Medioni, section 4.
//! The vertices of the mesh are called corners.

mod align;
mod build;
mod climb;
mod confidence;
mod links;
mod objective;
mod options;
mod picture;
mod register;
mod samples;
mod search;
mod shifts;
mod trust;

pub use options::{Climbed, Found, LevelFound, Options, Start};
pub(crate) use register::mesh;
use samples::Samples;
