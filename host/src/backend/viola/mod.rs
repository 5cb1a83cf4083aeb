//! Viola's mutual information: Gaussian windows over samples, see [`gpu::math::viola`].

pub(super) mod cpu;
pub(super) mod device;
mod windows;

pub use windows::Sigmas;

use crate::Result;
use crate::image::StoredImage;
use gpu::math::viola::Entropies;
use gpu::params::Affine;
use strum::{Display, EnumMessage, EnumString, IntoStaticStr, VariantArray};

/// A voxel of the fixed image.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    pub voxel: [u32; 3],
    /// Its intensity as a fraction of the range, 0 to [`gpu::math::bin::FULL`].
    pub value: f32,
}

/// The two sample sets of Lin & Medioni, section 2.1, of one part of the image that has a map of its own: numbers of samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// What the densities are made of.
    pub a: std::ops::Range<u32>,
    /// Where they are looked at.
    pub b: std::ops::Range<u32>,
}

impl Group {
    /// Puts the samples of each set in the order of their fixed intensities, those of the same intensity as they are. Sums run in this order;
    /// of intensities that lie far apart a GPU knows the windows without computing them.
    pub fn sort(&self, samples: &mut [Sample]) {
        for set in [&self.a, &self.b] {
            samples[set.start as usize..set.end as usize].sort_by(|a, b| a.value.total_cmp(&b.value));
        }
    }
}

/// How exponentials are computed.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Default,
    Display,
    EnumMessage,
    EnumString,
    IntoStaticStr,
    VariantArray,
    serde::Serialize,
)]
#[strum(serialize_all = "kebab-case")]
#[serde(rename_all = "kebab-case")]
pub enum Exponentials {
    /// By a polynomial, with the same bits on CPU and GPU
    #[default]
    Exact,
    /// On a GPU in part by its special-function units: faster, but bits depend on the GPU
    Fast,
    /// From a table of 256 levels, to which intensities are rounded
    Quantised,
}

/// Samples to compare by Gaussian windows.
#[derive(Debug, Clone, Copy)]
pub struct ViolaPair<'a> {
    pub samples: &'a [Sample],
    pub groups: &'a [Group],
    /// 16-bit values.
    pub moving: &'a StoredImage,
    pub sigmas: Sigmas,
    pub exponentials: Exponentials,
}

/// Viola's mutual information of a group at a map.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ViolaValue {
    /// h(u), h(v) and h(u, v) of eq. 5, nats, of intensities as stored values.
    pub fixed: f64,
    pub moving: f64,
    pub joint: f64,
    /// Eq. 6; 0 unless A and B both have samples inside the moving image.
    pub mi: f64,
    /// Samples of A and of B inside the moving image.
    pub overlap: [u32; 2],
}

impl ViolaValue {
    /// From a group's entropies and its samples of A and of B inside.
    pub(crate) fn new(entropies: Entropies, overlap: [u32; 2]) -> Self {
        let Entropies { fixed, moving, joint, mi } = entropies;
        Self { fixed, moving, joint, mi, overlap }
    }
}

/// Samples that were loaded.
pub trait ViolaEvaluator {
    /// Each group at its own map, from voxels of the fixed image to voxels of the moving image.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where the device gives up.
    fn values(&mut self, maps: &[Affine]) -> Result<Vec<ViolaValue>>;

    /// The same, with the derivative of each group's mutual information by the twelve numbers of its map, rows as in [`Affine`].
    ///
    /// # Errors
    /// [`crate::Error::Device`] where the device gives up.
    fn slopes(&mut self, maps: &[Affine]) -> Result<Vec<(ViolaValue, [[f64; 4]; 3])>>;

    /// Seconds that the device spends on values, or on slopes, as the mean of `times` in a row; `None` where it has no clock.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where the device gives up.
    fn seconds(&mut self, _maps: &[Affine], _slopes: bool, _times: u32) -> Result<Option<f64>> {
        Ok(None)
    }
}
