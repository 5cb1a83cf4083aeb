//! The two images of a registration, and its options between them.

use std::path::Path;
use std::time::Instant;

use mireg::io::transform::Grids;
use mireg::{Geometry, Result, Volume, resample};

use crate::arguments::images::Images;
use crate::files::{self, MOST_PIXELS};

/// What was read.
pub struct Loaded<O> {
    pub fixed: Volume,
    pub moving: Volume,
    /// The grids of both as they are in their files, where either was thinned.
    pub whole: Option<[Geometry; 2]>,
    pub options: O,
    /// What is to be said of how the images were read, a line each.
    pub notes: Vec<String>,
    /// Seconds that it took.
    pub seconds: f64,
}

impl<O> Loaded<O> {
    /// Reads the images that are not `held`, pictures of more pixels thinned to [`MOST_PIXELS`], and options between images on their grids.
    ///
    /// # Errors
    /// As [`files::read`], those of `options`, and [`mireg::Error::Option`] for thinned images that could not be moved as a whole.
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
