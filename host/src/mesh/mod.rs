//! Finds the triangle mesh that takes one picture to another: Lin & Medioni, section 4.

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
