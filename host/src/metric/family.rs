//! What a registration needs of a metric.

use super::evaluation::Evaluation;
use super::joint::Histogram;
use super::pair::{GridPair, ImagePair};
use crate::Result;
use crate::backend::Backend;
use glam::DAffine3;

/// A metric, or several that are evaluated alike. The default methods are those of a smooth one.
pub trait MetricFamily {
    /// Returns the name in text, such as `NMI`.
    fn name(&self) -> &'static str;

    /// Returns the name in options and reports, such as `nmi`.
    fn key(&self) -> &'static str;

    /// Returns a description in one line, with its source.
    fn summary(&self) -> &'static str;

    /// Returns whether the metric has a gradient.
    fn has_gradient(&self) -> bool {
        true
    }

    /// Returns the value that counts as the worst. Of the smooth metrics only Viola's falls below 0, by chance and by
    /// much less than 1.
    fn worst(&self) -> f64 {
        -1.0
    }

    /// Returns the metric's value for independent images.
    fn independent_value(&self) -> f64 {
        0.0
    }

    /// Returns how the joint histograms at full resolution are counted.
    fn histogram(&self) -> Histogram;

    /// Returns the metric's value at full resolution, if it is one of joint histograms.
    fn of(&self, _evaluation: &Evaluation) -> Option<f64> {
        None
    }

    /// Refuses options that the metric cannot use. That there are 2 to 1024 bins has been checked before.
    ///
    /// # Errors
    /// [`crate::Error::Option`] says why.
    fn check(&self) -> Result<()>;

    /// Returns the bytes that the metric needs beside images and joint histograms.
    fn bytes(&self) -> u64 {
        0
    }

    /// Prepares both images of a level for the metric.
    ///
    /// # Errors
    /// [`crate::Error::Option`] if the images have too little content for it.
    fn prepare<'v>(&self, pair: ImagePair<'v>) -> Result<Box<dyn MetricImages + 'v>>;
}

/// A pair of images ready to be loaded.
pub trait MetricImages {
    /// Returns their grids.
    fn grids(&self) -> &GridPair;

    /// Returns the number of voxels that are compared.
    fn samples(&self) -> u64;

    /// Returns the standard deviations of Gaussian windows, as fractions of the ranges: fixed, moving, and those of the
    /// joint density if it has its own. `None` without Gaussian windows.
    fn sigmas(&self) -> Option<Vec<f64>> {
        None
    }

    /// Loads the images into the backend.
    ///
    /// # Errors
    /// Those of the backend.
    fn load<'a>(&'a self, backend: &'a dyn Backend) -> Result<Box<dyn LoadedMetric + 'a>>;
}

/// The metric at a transform.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MetricValue {
    pub value: f64,
    /// Samples inside the interpolated image.
    pub overlap: u64,
}

/// A metric of two loaded images.
pub trait LoadedMetric {
    /// Returns the metric at each map of points of the fixed image to points of the moving image, LPS mm.
    ///
    /// # Errors
    /// Those of the backend.
    fn values(&mut self, transforms: &[DAffine3]) -> Result<Vec<MetricValue>>;

    /// Returns the metric at a map, and its derivatives by the elements of [`GridPair::map`].
    ///
    /// # Errors
    /// Those of the backend; [`crate::Error::Option`] for a metric without a gradient.
    fn slope(&mut self, transform: &DAffine3) -> Result<(MetricValue, [[f64; 4]; 3])>;
}
