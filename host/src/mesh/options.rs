//! What [`Engine::mesh`](crate::Engine::mesh) may be told, and what it tells.

use crate::Volume;
use crate::backend::Exponentials;
use crate::doubt::Doubt;
use crate::image::{Intensities, IntensityRange};
use crate::optimizer::Stopped;
use crate::registration::{Init, LinearStart, Place};
use crate::transform::{Linear, Mesh};
use serde::Serialize;

/// How a mesh is registered.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where the mesh starts.
    pub start: Start,
    /// The side of a mesh's cell, pixels of the fixed picture; `None` for what [`Mesh::build`] chooses.
    pub spacing: Option<f64>,
    /// Of the climb, at most.
    pub iterations: usize,
    /// Sigmas of the Gaussian windows of the fixed and the moving picture, in local standard deviations of their intensities; `None` for
    /// those under which samples are most likely, each left out in turn.
    pub sigmas: Option<[f64; 2]>,
    /// How the windows' exponentials are computed.
    pub exponentials: Exponentials,
    /// On the fixed picture's grid: pixels of less than 0.5 are no image. Without it, those nearly as dark as the darkest are none.
    pub fixed_mask: Option<Volume>,
    /// The intensities that are looked at, of each picture.
    pub fixed_range: IntensityRange,
    pub moving_range: IntensityRange,
}

/// Where a mesh starts.
#[derive(Debug, Clone, PartialEq)]
pub enum Start {
    /// With [`Init::Auto`] from what [`Engine::register`](crate::Engine::register) finds by default: affine or, where that should not be used and
    /// a rigid one may be, rigid. Else from an affine registration of the pictures with even contrast that starts there.
    Register(Init),
    /// From a transform, fixed point to moving point, LPS mm, near enough for what shall meet to overlap at a twentieth of the resolution.
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

/// A registered mesh, and how it came about.
#[derive(Debug, Clone)]
pub struct Found {
    /// What of the fixed and of the moving picture's intensities was looked at.
    pub intensities: [Intensities; 2],
    /// The affine transform that the mesh started from.
    pub start: LinearStart,
    /// As the start places it.
    pub before: Mesh,
    /// The result.
    pub after: Mesh,
    /// Coarse to fine.
    pub levels: Vec<LevelFound>,
    pub climbed: Climbed,
    /// Of each triangle, 0 to 1: what part of the mutual information of its neighbourhood is lost where that is moved by a fifth of a cell.
    pub confidence: Vec<f64>,
    /// Whether the pictures agree more through the mesh than around it; none where too little of them is image.
    pub place: Option<Place>,
    /// Moving the corners.
    pub seconds: f64,
    /// `cpu`, `cuda` or `emulated`.
    pub backend: &'static str,
    /// The device's own name.
    pub device: String,
    /// What speaks against the result and its start.
    pub doubts: Vec<Doubt>,
}

impl Found {
    /// The mean confidence of the triangles, 0 to 1.
    pub fn mean_confidence(&self) -> f64 {
        self.confidence.iter().sum::<f64>() / self.confidence.len().max(1) as f64
    }
}

/// One level of the search.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LevelFound {
    /// The side of the mesh's cells, mm.
    pub spacing_mm: f64,
    /// About the side of the fixed picture's pixels, mm.
    pub pixel_mm: f64,
    /// Triangles of the level's mesh.
    pub triangles: usize,
    /// How far the level moved corners, as the root of the mean square.
    pub moved_mm: f64,
}

/// The climb with the finest mesh, after the search.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Climbed {
    /// The side of the fixed picture's pixels, mm.
    pub pixel_mm: f64,
    /// Triangles with samples.
    pub patches: usize,
    /// Samples of all triangles together.
    pub samples: usize,
    /// Of the windows, in local standard deviations of the fixed and of the moving picture.
    pub sigmas: [f64; 2],
    /// Steps that were taken.
    pub iterations: usize,
    /// The mean mutual information of the triangles before the first step, nats.
    pub before: f64,
    /// At the end.
    pub after: f64,
    /// The same after each iteration, beginning with `before`.
    pub trace: Vec<f64>,
    /// Why no more steps were taken.
    pub stopped: Stopped,
}
