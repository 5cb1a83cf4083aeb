//! The unbiased mean of several images in shape and intensity.
//!
//! The affine mean comes first. Then, in each round, every image is deformed to the mean, and the mean of all
//! displacements is removed, so that the template lies in the middle of the images (Guimond, Meunier & Thirion 2000;
//! Avants & Gee 2004). No image is preferred: the first one gives the grid and, up to the mean rotation and
//! translation, the place.

mod affine;
mod checkpoints;
mod intensity;
mod memory;
mod rounds;
mod shape;

use std::path::Path;

use crate::backend::Chosen;
use crate::error::Setting;
use crate::transform::{Field, Linear};
use crate::{Doubt, Error, Geometry, Observer, Result, Volume, deform};
use checkpoints::Checkpoints;
use intensity::Intensity;
use serde::{Deserialize, Serialize};

/// Options of [`Engine::template`](crate::Engine::template).
#[derive(Debug, Clone)]
pub struct Options {
    /// The template's grid; `None` for that of the first image.
    pub grid: Option<Geometry>,
    /// Rounds of deformations, 1 or more.
    pub rounds: usize,
    /// Options of the deformations. Their `start` is ignored: each image starts from its transform to the affine mean.
    pub deform: deform::Options,
}

impl Default for Options {
    fn default() -> Self {
        Self { grid: None, rounds: 4, deform: deform::Options::default() }
    }
}

/// A template that was made.
#[derive(Debug, Clone)]
pub struct Template {
    /// The mean image, f32, with the mean of the images' intensity ranges.
    pub mean: Volume,
    /// The mean of the images after the affine registrations, with which the first round began.
    pub affine_mean: Volume,
    /// One for each image, in their order.
    pub images: Vec<Member>,
    pub rounds: Vec<Round>,
    /// The mean gradient of the affine mean: see [`Round::sharpness`].
    pub affine_sharpness: f64,
    /// Doubts about the template.
    pub doubts: Vec<Doubt>,
    /// The number of steps that an earlier run had finished.
    pub resumed: usize,
    /// `cpu`, `cuda` or `emulated`.
    pub backend: &'static str,
    /// The device's own name.
    pub device: String,
}

/// An image of a template.
#[derive(Debug, Clone)]
pub struct Member {
    /// The map from points of the affine mean to points of the image.
    pub affine: Linear,
    /// The metric before and after the last deformation.
    pub values: [f64; 2],
    /// Smallest and largest determinant of the Jacobian of its field from the template, the affine part included.
    pub jacobian_range: [f64; 2],
}

/// What is kept of a deformation beside its field.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Fit {
    /// The metric before and after.
    values: [f64; 2],
}

/// The result of a round.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// The mean displacement of all images, which the round removed: its mean and its largest length over the grid.
    pub mean_displacement_mm: f64,
    pub largest_displacement_mm: f64,
    /// The mean gradient of the new template, as a fraction of the range per mm.
    pub sharpness: f64,
}

impl Template {
    /// Returns whether the template may be used: none of its doubts is grave.
    pub fn trusted(&self) -> bool {
        self.doubts.iter().all(|doubt| !doubt.grave)
    }
}

/// Makes a template: see [`Engine::template`](crate::Engine::template).
pub(crate) fn template(
    images: &[Volume],
    options: &Options,
    folder: &Path,
    each: &mut dyn FnMut(usize, &Field) -> Result<()>,
    chosen: Chosen,
    observer: &dyn Observer,
) -> Result<Template> {
    let refused = |text: &str| Err(Error::option(Setting::Fixed, text));
    let [first, _, ..] = images else { return refused("a template takes two images or more") };
    let grid = options.grid.unwrap_or(first.geometry);
    if images.iter().any(|image| image.geometry.is_flat() != grid.is_flat()) {
        return refused(
            "some of the images are two-dimensional and others, or the grid, are not: a template takes images of one kind",
        );
    }
    let range = options.deform.moving_range;
    let intensities: Vec<_> =
        images.iter().enumerate().map(|(number, image)| Intensity::of(number, image, range)).collect::<Result<_>>()?;
    let (backend, asked) = (chosen.fastest(observer)?, chosen.requested());
    memory::check(images, &grid, &options.deform, backend.free_memory().is_some())?;
    let checkpoints = Checkpoints::open(folder, checkpoints::fingerprint(images, options), grid)?;
    let (intensities, checkpoints) = (&intensities[..], &checkpoints);
    rounds::Run { images, intensities, grid, options, checkpoints, backend, asked, observer }.template(each)
}
