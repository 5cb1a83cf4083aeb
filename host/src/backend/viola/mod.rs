//! Viola's mutual information, which estimates densities with Gaussian windows over samples: see [`gpu::math::viola`].

pub(super) mod cpu;
pub(super) mod device;
mod windows;

pub use windows::Sigmas;

use crate::Result;
use crate::image::StoredImage;
use gpu::math::viola::Entropies;
use gpu::params::Affine;
use strum::{Display, EnumMessage, EnumString, IntoStaticStr, VariantArray};

/// A sample: a voxel of the fixed image.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    pub voxel: [u32; 3],
    /// Its intensity as a stored value: 0 to [`gpu::math::bin::FULL`] from the lower to the upper end of the intensity
    /// range.
    pub value: f32,
}

/// The two sample sets of Lin & Medioni, section 2.1, for one part of the image that has a map of its own, as ranges of
/// sample numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// The set A, from which the densities are estimated.
    pub a: std::ops::Range<u32>,
    /// The set B, at which the densities are evaluated.
    pub b: std::ops::Range<u32>,
}

impl Group {
    /// Sorts the samples of each set by their fixed intensities, stably. Sums run in this order. A GPU can then skip
    /// the windows of intensities that lie far apart, because it knows their value.
    pub fn sort(&self, samples: &mut [Sample]) {
        for set in [&self.a, &self.b] {
            samples[set.start as usize..set.end as usize].sort_by(|a, b| a.value.total_cmp(&b.value));
        }
    }
}

/// How the exponentials of Gaussian windows are computed.
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

/// Samples to compare by Viola's mutual information.
#[derive(Debug, Clone, Copy)]
pub struct ViolaPair<'a> {
    pub samples: &'a [Sample],
    pub groups: &'a [Group],
    /// 16-bit values.
    pub moving: &'a StoredImage,
    pub sigmas: Sigmas,
    pub exponentials: Exponentials,
}

/// Viola's mutual information of one group at one map.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ViolaValue {
    /// The entropies h(u), h(v) and h(u, v) of eq. 5, in nats, with intensities as stored values.
    pub fixed: f64,
    pub moving: f64,
    pub joint: f64,
    /// Mutual information (eq. 6), in nats; 0 unless both A and B have samples inside the moving image.
    pub mi: f64,
    /// Samples of A and of B inside the moving image.
    pub overlap: [u32; 2],
}

impl ViolaValue {
    /// Combines the entropies of a group and its numbers of samples of A and of B inside.
    pub(crate) fn new(entropies: Entropies, overlap: [u32; 2]) -> Self {
        let Entropies { fixed, moving, joint, mi } = entropies;
        Self { fixed, moving, joint, mi, overlap }
    }
}

/// Samples that are loaded on a backend.
pub trait ViolaEvaluator {
    /// The value of each group at its own map. Maps take voxels of the fixed image to voxels of the moving image.
    ///
    /// # Errors
    /// [`crate::Error::Device`] if the device fails.
    fn values(&mut self, maps: &[Affine]) -> Result<Vec<ViolaValue>>;

    /// The values, with the derivative of each group's mutual information by the twelve numbers of its map, rows as in
    /// [`Affine`].
    ///
    /// # Errors
    /// [`crate::Error::Device`] if the device fails.
    fn slopes(&mut self, maps: &[Affine]) -> Result<Vec<(ViolaValue, [[f64; 4]; 3])>>;

    /// The time that the device spends on values, or on values with derivatives, in seconds, as the mean of `times` in
    /// a row; `None` if it has no clock.
    ///
    /// # Errors
    /// [`crate::Error::Device`] if the device fails.
    fn seconds(&mut self, _maps: &[Affine], _slopes: bool, _times: u32) -> Result<Option<f64>> {
        Ok(None)
    }
}
