//! Options and results of [`Engine::mesh`](crate::Engine::mesh).

use crate::Volume;
use crate::backend::Exponentials;
use crate::doubt::Doubt;
use crate::image::{Intensities, IntensityRange};
use crate::optimizer::Stopped;
use crate::registration::{Init, LinearStart, Place};
use crate::transform::{Linear, Mesh};
use serde::Serialize;

/// The options of a mesh registration.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where the mesh starts.
    pub start: Start,
    /// The side of a cell, pixels of the fixed picture; `None` for what [`Mesh::build`] chooses.
    pub spacing: Option<f64>,
    /// The most iterations of the gradient ascent.
    pub iterations: usize,
    /// Sigmas of the Gaussian windows of the fixed and the moving picture, in local standard deviations of their
    /// intensities; `None` for those of the highest leave-one-out likelihood on the samples.
    pub sigmas: Option<[f64; 2]>,
    /// How the windows' exponentials are computed.
    pub exponentials: Exponentials,
    /// A mask on the fixed picture's grid: pixels where it is below 0.5 are background. Without it, pixels nearly as
    /// dark as the darkest are, and those of a uniform frame or a flat surround.
    pub fixed_mask: Option<Volume>,
    /// The range of each picture's intensities that is used. Intensities beyond it are clamped.
    pub fixed_range: IntensityRange,
    pub moving_range: IntensityRange,
}

/// Where a mesh starts.
#[derive(Debug, Clone, PartialEq)]
pub enum Start {
    /// From a registration. With [`Init::Auto`] that is [`Engine::register`](crate::Engine::register) with default
    /// options: affine or, if that result should not be used and a rigid one may be, rigid. With any other
    /// initialisation, it is an affine registration of the pictures' local contrast that starts there.
    Register(Init),
    /// From a transform that maps fixed points to moving points, LPS mm. It must be near enough for corresponding
    /// structures to overlap at a twentieth of the resolution.
    Transform(Linear),
}

impl Default for Options {
    fn default() -> Self {
        Self {
            start: Start::Register(Init::Auto),
            spacing: None,
            iterations: 50,
            sigmas: None,
            exponentials: Exponentials::Exact,
            fixed_mask: None,
            fixed_range: IntensityRange::Auto,
            moving_range: IntensityRange::Auto,
        }
    }
}

/// The result of a mesh registration, and how it was found.
#[derive(Debug, Clone)]
pub struct Found {
    /// The intensities of the fixed and of the moving picture, and the ranges of them that were used.
    pub intensities: [Intensities; 2],
    /// The linear transform that the mesh started from.
    pub start: LinearStart,
    /// The mesh as the start places it.
    pub before: Mesh,
    /// The result.
    pub after: Mesh,
    /// Coarse to fine.
    pub levels: Vec<LevelFound>,
    pub climbed: Climbed,
    /// The confidence of each triangle, 0 to 1: the fraction of its neighbourhood's mutual information that is lost at
    /// the best of the shifts by a fifth of a cell.
    pub confidence: Vec<f64>,
    /// How much better the pictures agree through the mesh than at poses around it; `None` if too little of them is
    /// foreground.
    pub place: Option<Place>,
    /// The time spent on moving the corners.
    pub seconds: f64,
    /// `cpu`, `cuda` or `emulated`.
    pub backend: &'static str,
    /// The device's own name.
    pub device: String,
    /// The checks that the result or its start did not pass.
    pub doubts: Vec<Doubt>,
}

impl Found {
    /// The mean confidence of the triangles, 0 to 1.
    pub fn mean_confidence(&self) -> f64 {
        self.confidence.iter().sum::<f64>() / self.confidence.len().max(1) as f64
    }
}

/// A level of the search.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LevelFound {
    /// The side of the mesh's cells, mm.
    pub spacing_mm: f64,
    /// About the side of the fixed picture's pixels on this level, mm.
    pub pixel_mm: f64,
    /// Triangles of this level's mesh.
    pub triangles: usize,
    /// The root mean square of how far the level moved the corners, mm.
    pub moved_mm: f64,
}

/// The gradient ascent on the finest mesh, after the search.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Climbed {
    /// The side of the fixed picture's pixels in the ascent, mm.
    pub pixel_mm: f64,
    /// Triangles with enough samples.
    pub patches: usize,
    /// Samples of all triangles together.
    pub samples: usize,
    /// The sigmas of the windows, in local standard deviations of the fixed and of the moving picture.
    pub sigmas: [f64; 2],
    /// Iterations of the ascent.
    pub iterations: usize,
    /// The mean mutual information of the triangles before the first step, nats.
    pub before: f64,
    /// The same at the end.
    pub after: f64,
    /// The same before the first step and after each iteration.
    pub trace: Vec<f64>,
    /// Why the ascent ended.
    pub stopped: Stopped,
}
