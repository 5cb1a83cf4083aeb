//! Slices of both images, before and after, for the viewer of the page.

use super::strip::{self, Window};
use super::view::View;
use glam::DAffine3;
use image::ImageResult;
use mireg::Volume;
use rayon::prelude::*;

/// Slices per view and quality of JPEGs, until the slices keep to [`BUDGET`].
const ATTEMPTS: [(usize, u8); 4] = [(7, 80), (7, 50), (3, 50), (1, 50)];
/// Bytes of all slices in the file, so that it can be mailed.
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

/// Slices of the fixed image, of the moving one before and of the moving one after, as many and as good as the budget allows.
///
/// # Errors
/// Where a picture cannot be encoded.
pub fn planes(shown: [Shown; 3]) -> ImageResult<Vec<Plane>> {
    let mut planes = Vec::new();
    for (slices, quality) in ATTEMPTS {
        let views = View::all(&shown[0].0.0.geometry, slices);
        planes = views.into_par_iter().map(|view| Plane::new(view, shown, quality)).collect::<ImageResult<Vec<_>>>()?;
        if planes.iter().map(Plane::bytes).sum::<usize>() <= BUDGET {
            break;
        }
    }
    Ok(planes)
}

impl Plane {
    fn new(view: View, shown: [Shown; 3], quality: u8) -> ImageResult<Self> {
        let encode =
            |((volume, window), map): Shown| strip::data_uri(&strip::draw(&view, volume, window, &map), quality);
        let [fixed, before, after] = shown.map(encode);
        Ok(Self { fixed: fixed?, before: before?, after: after?, view })
    }

    fn bytes(&self) -> usize {
        self.fixed.len() + self.before.len() + self.after.len()
    }

    /// The slice that is shown first.
    pub fn middle(&self) -> usize {
        self.view.offsets.len() / 2
    }

    /// Where the slices are, for the script: mm with commas between.
    pub fn offsets(&self) -> String {
        self.view.offsets.iter().map(|mm| format!("{mm:.1}")).collect::<Vec<_>>().join(",")
    }
}
