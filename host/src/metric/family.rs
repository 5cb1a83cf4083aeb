//! What a registration asks of a metric.

use super::evaluation::Evaluation;
use super::joint::Histogram;
use super::pair::{GridPair, ImagePair};
use crate::Result;
use crate::backend::Backend;
use glam::DAffine3;

/// A metric or a few that are evaluated alike. What has a default is that of a smooth one.
pub trait Family {
    /// As people write it.
    fn name(&self) -> &'static str;

    /// As options and reports write it.
    fn key(&self) -> &'static str;

    /// In a line, with its source.
    fn summary(&self) -> &'static str;

    /// Whether it has a gradient.
    fn has_gradient(&self) -> bool {
        true
    }

    /// What counts as the worst there is. Of the smooth ones only Viola's falls below 0, by chance and by far less.
    fn worst(&self) -> f64 {
        -1.0
    }

    /// Its value where the images tell nothing about each other.
    fn nothing(&self) -> f64 {
        0.0
    }

    /// How the joint histograms at full resolution are counted.
    fn histogram(&self) -> Histogram;

    /// Its value at full resolution, if joint histograms have it.
    fn of(&self, _evaluation: &Evaluation) -> Option<f64> {
        None
    }

    /// Refuses what it cannot do; bins from 2 to 1024 are no fault.
    ///
    /// # Errors
    /// [`crate::Error::Option`] says why.
    fn check(&self) -> Result<()>;

    /// Bytes that it needs beside images and joint histograms.
    fn bytes(&self) -> u64 {
        0
    }

    /// Both images of a level as it compares them.
    ///
    /// # Errors
    /// [`crate::Error::Option`] where they say too little for it.
    fn prepare<'v>(&self, pair: ImagePair<'v>) -> Result<Box<dyn MetricImages + 'v>>;
}

/// A pair of images ready to be loaded.
pub trait MetricImages {
    /// Their grids.
    fn grids(&self) -> &GridPair;

    /// Voxels that are compared.
    fn samples(&self) -> u64;

    /// For Gaussian windows their standard deviations as parts of the ranges: fixed, moving, and those of the joint density where it has its
    /// own.
    fn sigmas(&self) -> Option<Vec<f64>> {
        None
    }

    /// Brings them to where the metric is evaluated.
    ///
    /// # Errors
    /// Those of the backend.
    fn load<'a>(&'a self, backend: &'a dyn Backend) -> Result<Box<dyn LoadedMetric + 'a>>;
}

/// The metric at a map.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct At {
    pub value: f64,
    /// Samples inside the other image.
    pub overlap: u64,
}

/// A metric of two loaded images.
pub trait LoadedMetric {
    /// The metric at each map of points of the fixed image to points of the moving image, LPS mm.
    ///
    /// # Errors
    /// Those of the backend.
    fn values(&mut self, transforms: &[DAffine3]) -> Result<Vec<At>>;

    /// The metric at a map, and its derivatives by the numbers of [`GridPair::map`].
    ///
    /// # Errors
    /// Those of the backend; [`crate::Error::Option`] for a metric without a gradient.
    fn slope(&mut self, transform: &DAffine3) -> Result<(At, [[f64; 4]; 3])>;
}
