//! A picture on the grids of all levels, with its local contrast.

use crate::error::Setting;
use crate::image::{self, Geometry, StoredImage, pyramid};
use crate::plane::local_contrast::LocalContrast;
use crate::plane::normalise::REACH;
use crate::{Result, Volume};
use glam::DVec2;
use std::borrow::Cow;

/// A picture at each level, fine to coarse.
pub struct Picture<'a> {
    which: Setting,
    levels: Vec<Cow<'a, Volume>>,
    masks: Option<Vec<Cow<'a, Volume>>>,
    /// The sigma of neighbourhoods, mm.
    neighbourhood: f64,
}

/// The local contrast of a picture on one level, as backends take it.
pub struct Packed {
    pub stored: StoredImage,
    pub geometry: Geometry,
    /// Which pixels are foreground.
    pub foreground: Vec<bool>,
}

/// One local standard deviation in stored values.
pub const DEVIATION: f64 = gpu::math::bin::FULL as f64 / (2.0 * REACH as f64);

impl<'a> Picture<'a> {
    /// Reduces a picture to grids of about these spacings, mm, each at least as fine as the next.
    pub fn new(which: Setting, picture: &'a image::Prepared<'a>, spacings: &[f64], neighbourhood: f64) -> Self {
        let levels = pyramid::levels(&picture.image, spacings);
        let masks = picture.mask().map(|mask| pyramid::levels(mask, spacings));
        Self { which, levels, masks, neighbourhood }
    }

    /// Computes the local contrast on a level.
    ///
    /// # Errors
    /// Those of [`LocalContrast::new`].
    pub fn local_contrast(&self, level: usize) -> Result<LocalContrast> {
        let mask = self.masks.as_ref().map(|masks| &*masks[level]);
        LocalContrast::new(self.which, &self.levels[level], mask, self.neighbourhood)
    }

    /// Computes the local contrast on a level, and packs it for a backend.
    ///
    /// # Errors
    /// Those of [`LocalContrast::new`].
    pub fn prepared(&self, level: usize) -> Result<Packed> {
        let LocalContrast { picture, foreground } = self.local_contrast(level)?;
        // With the largest number of bins, all 16 bits are kept.
        let stored = StoredImage::new(&picture, (-REACH, REACH), 1024);
        Ok(Packed { stored, geometry: picture.geometry, foreground })
    }
}

impl Packed {
    /// Converts a point, LPS mm, to pixels.
    pub fn pixel(&self, point: DVec2) -> DVec2 {
        self.geometry.world_to_index().transform_point3(point.extend(0.0)).truncate()
    }

    /// Returns the index of the pixel nearest to a position in pixels, if that pixel is foreground.
    pub fn nearest(&self, place: DVec2) -> Option<usize> {
        let [width, height, _] = self.geometry.size;
        let nearest = (place + 0.5).floor();
        let inside = nearest.min_element() >= 0.0 && nearest.x < width as f64 && nearest.y < height as f64;
        let number = inside.then(|| nearest.x as usize + width * nearest.y as usize)?;
        self.foreground[number].then_some(number)
    }
}
