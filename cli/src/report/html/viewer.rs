//! Draws slices of both images, before and after, for the viewer of the page.

use super::strip::{self, Window};
use super::view::View;
use glam::DAffine3;
use image::{GrayImage, ImageResult};
use mireg::Volume;
use rayon::prelude::*;

/// Numbers of slices per view and qualities of JPEGs that are tried, until the slices fit into [`BUDGET`].
const ATTEMPTS: [(usize, &[u8]); 3] = [(7, &[80, 50]), (3, &[50]), (1, &[50])];
/// The most bytes of all slices in the file, which should be small enough to be mailed.
const BUDGET: usize = 900_000;

/// The slices of a view as `data:` URIs.
pub struct Plane {
    pub view: View,
    pub fixed: String,
    pub before: String,
    pub after: String,
}

/// A volume, its window, and a map of points of the fixed image to its own.
pub type Shown<'a> = ((&'a Volume, Window), DAffine3);

/// Draws slices of the fixed image and of the moving one before and after, as many and in as high a quality as the
/// budget allows.
///
/// # Errors
/// Where a picture cannot be encoded.
pub fn planes(shown: [Shown; 3]) -> ImageResult<Vec<Plane>> {
    let mut planes = Vec::new();
    for (slices, qualities) in ATTEMPTS {
        let views = View::all(&shown[0].0.0.geometry, slices);
        let drawn: Vec<_> = views.into_par_iter().map(|view| Drawn::new(view, shown)).collect();
        for &quality in qualities {
            planes = drawn.par_iter().map(|drawn| drawn.encode(quality)).collect::<ImageResult<Vec<_>>>()?;
            if planes.iter().map(Plane::bytes).sum::<usize>() <= BUDGET {
                return Ok(planes);
            }
        }
    }
    Ok(planes)
}

/// The slices of a view as pictures: fixed, before and after.
struct Drawn {
    view: View,
    pictures: [GrayImage; 3],
}

impl Drawn {
    fn new(view: View, shown: [Shown; 3]) -> Self {
        let pictures = shown.map(|((volume, window), map)| strip::draw(&view, volume, window, &map));
        Self { view, pictures }
    }

    fn encode(&self, quality: u8) -> ImageResult<Plane> {
        let [fixed, before, after] = self.pictures.each_ref().map(|picture| strip::data_uri(picture, quality));
        Ok(Plane { fixed: fixed?, before: before?, after: after?, view: self.view.clone() })
    }
}

impl Plane {
    fn bytes(&self) -> usize {
        self.fixed.len() + self.before.len() + self.after.len()
    }

    /// Returns the number of the slice that is shown first.
    pub fn middle(&self) -> usize {
        self.view.offsets.len() / 2
    }

    /// Returns the positions of the slices for the script: mm, separated by commas.
    pub fn offsets(&self) -> String {
        self.view.offsets.iter().map(|mm| format!("{mm:.1}")).collect::<Vec<_>>().join(",")
    }
}
