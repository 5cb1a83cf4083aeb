//! Reads the two images of a registration, and its options.

use std::path::Path;
use std::time::Instant;

use mireg::io::transform::Grids;
use mireg::{Geometry, Result, Volume, resample};

use crate::arguments::images::Images;
use crate::files::{self, MOST_PIXELS};

/// The images of a registration, and its options.
pub struct Loaded<O> {
    pub fixed: Volume,
    pub moving: Volume,
    /// The grids of both images as they are in their files, if one of the images was subsampled.
    pub whole: Option<[Geometry; 2]>,
    pub options: O,
    /// Notes on how the images were read, one line each.
    pub notes: Vec<String>,
    /// Seconds that reading took.
    pub seconds: f64,
}

impl<O> Loaded<O> {
    /// Reads the images that are not `held`, and then the options, for which `options` gets the grids of both images.
    /// Pictures of more than [`MOST_PIXELS`] are subsampled.
    ///
    /// # Errors
    /// As [`files::read`], those of `options`, and [`mireg::Error::Option`] for subsampled images that are too large to
    /// be resampled with all of their pixels.
    pub fn read(
        paths: [&Path; 2],
        images: &Images,
        held: [Option<Volume>; 2],
        options: impl FnOnce(&Grids) -> Result<O>,
    ) -> Result<Self> {
        let reading = Instant::now();
        let (images, notes) = files::read(paths, images, Some(MOST_PIXELS), held)?;
        let grids = images.each_ref().map(|image| image.whole.unwrap_or(image.volume.geometry));
        let options = options(&Grids::of(&grids[0], &grids[1]))?;
        let whole = images.iter().any(|image| image.whole.is_some()).then_some(grids);
        if let Some([fixed, moving]) = &whole {
            resample::check(moving, fixed)?;
        }
        let [fixed, moving] = images.map(|image| image.volume);
        Ok(Self { fixed, moving, whole, options, notes, seconds: reading.elapsed().as_secs_f64() })
    }
}
