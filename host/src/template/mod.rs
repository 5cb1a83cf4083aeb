//! The unbiased mean of several images in shape and intensity.
//!
//! The affine mean comes first; then, in each round, every image is registered to the mean by a deformation, and the mean of all
//! displacements is taken away, so that the template is an image in the middle of them (Guimond, Meunier & Thirion 2000; Avants & Gee 2004).
//! No image is preferred: the first one gives the grid, and the place to within the mean rotation and translation.

mod affine;
mod intensity;
mod kept;
mod memory;
mod rounds;
mod shape;

use std::path::Path;

use crate::backend::Chosen;
use crate::error::Setting;
use crate::transform::{Field, Linear};
use crate::{Doubt, Error, Geometry, Observer, Result, Volume, deform};
use intensity::Intensity;
use kept::Kept;
use serde::{Deserialize, Serialize};

/// What [`Engine::template`](crate::Engine::template) is to do.
#[derive(Debug, Clone)]
pub struct Options {
    /// The template's grid; `None` for that of the first image.
    pub grid: Option<Geometry>,
    /// Rounds of deformations, 1 or more.
    pub rounds: usize,
    /// Of the deformations. Their start is that of the affine mean, whatever is said here.
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
    /// The mean, f32, in the mean of the images' ranges.
    pub mean: Volume,
    /// The mean of the images as affine transforms place them, with which the first round began.
    pub affine_mean: Volume,
    /// Of each image: from points of the template to points of the image.
    pub images: Vec<Member>,
    pub rounds: Vec<Round>,
    /// The mean gradient of the affine mean, as of [`Round::sharpness`].
    pub affine_sharpness: f64,
    /// What speaks against it.
    pub doubts: Vec<Doubt>,
    /// Steps that an earlier run had finished.
    pub resumed: usize,
    /// `cpu`, `cuda` or `emulated`.
    pub backend: &'static str,
    /// The device's own name.
    pub device: String,
}

/// An image of a template.
#[derive(Debug, Clone)]
pub struct Member {
    /// From the affine mean to the image.
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

/// What a round did.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// The mean displacement of all images, which the round took away: its mean and largest length over the grid.
    pub mean_displacement_mm: f64,
    pub largest_displacement_mm: f64,
    /// The mean gradient of the new template, as a part of the range per mm.
    pub sharpness: f64,
}

impl Template {
    /// Whether nothing grave speaks against it.
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
    let (backend, asked) = (chosen.soonest(observer)?, chosen.asked());
    memory::check(images, &grid, &options.deform, backend.free_memory().is_some())?;
    let kept = Kept::open(folder, kept::key(images, options), grid)?;
    let (intensities, kept) = (&intensities[..], &kept);
    rounds::Run { images, intensities, grid, options, kept, backend, asked, observer }.template(each)
}
