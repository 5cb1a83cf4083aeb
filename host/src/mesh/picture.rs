//! A pair of pictures on the grids of all levels.

use super::build;
use super::contrast::{self, REACH};
use crate::error::Setting;
use crate::image::{self, Geometry, StoredImage, pyramid};
use crate::{Result, Volume};
use glam::DVec2;
use std::borrow::Cow;

/// The sigma of the neighbourhoods in which brightness and contrast are made even, as a part of the fixed picture's longer side: some
/// times the width of the widest vessels.
const NEIGHBOURHOOD: f64 = 0.02;

/// A picture at each level, fine to coarse.
pub struct Picture<'a> {
    which: Setting,
    levels: Vec<Cow<'a, Volume>>,
    masks: Option<Vec<Cow<'a, Volume>>>,
    /// The sigma of neighbourhoods, mm.
    neighbourhood: f64,
}

/// A picture of one level, with even contrast.
pub struct Even {
    /// 0 but for pixels that are `inner`; -[`REACH`] to [`REACH`].
    pub picture: Volume,
    /// Which pixels are image.
    pub inner: Vec<bool>,
}

/// The same, ready for a backend.
pub struct Packed {
    pub stored: StoredImage,
    pub geometry: Geometry,
    /// Which pixels are image.
    pub inner: Vec<bool>,
}

/// Stored values of a local standard deviation.
pub const DEVIATION: f64 = gpu::math::bin::FULL as f64 / (2.0 * REACH as f64);

impl<'a> Picture<'a> {
    /// On grids of about these spacings, mm, each at least as fine as the next.
    pub fn new(which: Setting, picture: &'a image::Prepared<'a>, spacings: &[f64], neighbourhood: f64) -> Self {
        let levels = pyramid::levels(&picture.image, spacings);
        let masks = picture.mask().map(|mask| pyramid::levels(mask, spacings));
        Self { which, levels, masks, neighbourhood }
    }

    /// Of a level.
    ///
    /// # Errors
    /// Those of [`contrast::normalised`].
    pub fn even(&self, level: usize) -> Result<Even> {
        let picture = &*self.levels[level];
        let area = match &self.masks {
            Some(masks) => masks[level].voxels.iter().map(|&pixel| pixel >= 0.5).collect(),
            None => build::bright(&picture.voxels),
        };
        let inner = contrast::inner(picture, &area, self.neighbourhood)?;
        let picture = contrast::normalised(picture, &inner, self.neighbourhood, self.which)?;
        Ok(Even { picture, inner })
    }

    /// Of a level.
    ///
    /// # Errors
    /// Those of [`contrast::normalised`].
    pub fn prepared(&self, level: usize) -> Result<Packed> {
        let Even { picture, inner } = self.even(level)?;
        // With as many bins as there may be, all 16 bits are used.
        let stored = StoredImage::new(&picture, (-REACH, REACH), 1024);
        Ok(Packed { stored, geometry: picture.geometry, inner })
    }
}

impl Even {
    /// 1 where the picture is image, else 0.
    pub fn mask(&self) -> Volume {
        let voxels = self.inner.iter().map(|&inner| f32::from(u8::from(inner))).collect();
        Volume { voxels, ..self.picture.clone() }
    }
}

/// The longer side of a picture, mm.
pub fn longer_side(grid: &Geometry) -> f64 {
    let [width, height, _] = grid.size;
    (width as f64 * grid.spacing.x).max(height as f64 * grid.spacing.y)
}

/// The sigma of neighbourhoods of a picture, mm.
pub fn neighbourhood(grid: &Geometry) -> f64 {
    NEIGHBOURHOOD * longer_side(grid)
}

impl Packed {
    /// A point, LPS mm, in pixels.
    pub fn pixel(&self, point: DVec2) -> DVec2 {
        self.geometry.world_to_index().transform_point3(point.extend(0.0)).truncate()
    }

    /// The number of the pixel nearest to a place in pixels, where that is image.
    pub fn nearest(&self, place: DVec2) -> Option<usize> {
        let [width, height, _] = self.geometry.size;
        let nearest = (place + 0.5).floor();
        let inside = nearest.min_element() >= 0.0 && nearest.x < width as f64 && nearest.y < height as f64;
        let number = inside.then(|| nearest.x as usize + width * nearest.y as usize)?;
        self.inner[number].then_some(number)
    }
}
