//! Both images of a level, before a metric packs them.

use super::sampling::count;
use crate::Volume;
use crate::image::{Geometry, Range, voxel_map};
use glam::DAffine3;
use gpu::params::Affine;
use std::borrow::Cow;

/// Which of the two images gives the voxels that are counted; the other one is interpolated at them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sampled {
    Fixed,
    Moving,
}

impl Sampled {
    /// Returns the map from points of the sampled image to points of the other one, where `transform` goes from the
    /// fixed to the moving image.
    pub fn from_sampled(self, transform: &DAffine3) -> DAffine3 {
        match self {
            Self::Fixed => *transform,
            Self::Moving => transform.inverse(),
        }
    }
}

/// The grids of a sampled and of an interpolated image.
#[derive(Debug, Clone, PartialEq)]
pub struct GridPair {
    pub which: Sampled,
    pub sampled: Geometry,
    pub interpolated: Geometry,
}

impl GridPair {
    /// Returns the map from voxels of the sampled image to voxels of the other one, for a map of points of the fixed
    /// image to points of the moving image, LPS mm.
    pub fn map(&self, transform: &DAffine3) -> Affine {
        voxel_map(&self.sampled, &self.interpolated, &self.which.from_sampled(transform))
    }

    /// Returns [`GridPair::map`] for each of several transforms.
    pub fn maps(&self, transforms: &[DAffine3]) -> Vec<Affine> {
        transforms.iter().map(|transform| self.map(transform)).collect()
    }
}

/// A sampled and an interpolated image.
pub struct ImagePair<'a> {
    pub which: Sampled,
    pub sampled: Cow<'a, Volume>,
    pub interpolated: Cow<'a, Volume>,
    /// Gaussians that the interpolated image is smoothed by, voxels; 0 for none.
    pub sigmas: [f64; 3],
    /// The intensity range of each image that bins and windows cover; intensities beyond are clamped.
    pub ranges: [Range; 2],
    /// Whether each voxel of the sampled image counts; `None` where all do.
    pub keep: Option<Vec<bool>>,
    /// 0 for the finest.
    pub level: usize,
}

impl<'a> ImagePair<'a> {
    /// Returns the grids of both images.
    pub fn grids(&self) -> GridPair {
        let (sampled, interpolated) = (self.sampled.geometry, self.interpolated.geometry);
        GridPair { which: self.which, sampled, interpolated }
    }

    /// Returns the same pair with volumes of its own.
    pub fn into_owned(self) -> ImagePair<'static> {
        let Self { which, sampled, interpolated, sigmas, ranges, keep, level } = self;
        let [sampled, interpolated] = [sampled, interpolated].map(|image| Cow::Owned(image.into_owned()));
        ImagePair { which, sampled, interpolated, sigmas, ranges, keep, level }
    }

    /// Returns the number of voxels that are kept.
    pub fn samples(&self) -> usize {
        self.keep.as_ref().map_or(self.sampled.voxels.len(), |keep| count(keep))
    }

    /// Returns the number of bins per side that the samples can fill, `wanted` at most: with fewer than `each` samples
    /// per cell of the joint histogram, on average, chance looks like information. It is `least` or more, unless fewer
    /// are wanted.
    pub fn filled_bins(&self, wanted: u32, each: f64, least: u32) -> u32 {
        let filled = (self.samples() as f64 / each).sqrt() as u32;
        wanted.min(filled.max(least))
    }
}
