//! The scattered samples that Viola's metric compares.

use super::{Sampled, Viola, sampling};
use crate::backend::{Exponentials, Group, Sample, Sigmas, ViolaPair};
use crate::image::{BinImage, StoredImage};
use crate::{Error, Result};
use gpu::math::bin::{FULL, MASKED};
use rayon::prelude::*;

/// The two sets of one level, and the windows that suit them.
#[derive(Debug, Clone, PartialEq)]
pub struct Samples {
    all: Vec<Sample>,
    sets: [Group; 1],
    /// Of the sampled and the interpolated image.
    sigmas: Sigmas,
}

impl Samples {
    /// About `count` of the voxels that are not masked, half of them in either set.
    ///
    /// # Errors
    /// [`Error::Input`] where there are too few, or where all are of one intensity.
    pub fn new(
        (sampled, interpolated): (&BinImage, &StoredImage),
        count: usize,
        which: Sampled,
        viola: &Viola,
    ) -> Result<Self> {
        let [a, b] = sets(sampled, count, viola.seed);
        if 2 * a.len().min(b.len()) < Viola::LEAST {
            let found = a.len() + b.len();
            return Err(Error::Input(format!(
                "{found} samples are too few for Viola's metric, which needs {} or more: raise --samples, or make the masks larger",
                Viola::LEAST
            )));
        }
        let group = Group { a: 0..a.len() as u32, b: a.len() as u32..(a.len() + b.len()) as u32 };
        let all: Vec<Sample> = [a, b].concat();
        let sigmas = match viola.sigmas {
            Some(sigmas) => ordered(sigmas, which),
            None => crate::stubs::suitable(&all, interpolated, which)?,
        };
        Ok(Self { all, sets: [group], sigmas })
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.all.len() as u64
    }

    /// Them and the image that they are compared with.
    pub fn pair<'a>(&'a self, moving: &'a StoredImage, exponentials: Exponentials) -> ViolaPair<'a> {
        ViolaPair { samples: &self.all, groups: &self.sets, moving, sigmas: self.sigmas, exponentials }
    }

    /// The windows of the fixed and of the moving image as parts of their ranges, then those of the joint density where it has its own.
    pub fn parts(&self, which: Sampled) -> Vec<f64> {
        let Sigmas { fixed, moving, joint } = ordered(self.sigmas, which);
        let all = [fixed, moving].into_iter().chain(joint.into_iter().flatten());
        all.map(|sigma| sigma / f64::from(FULL)).collect()
    }
}

/// Those of the fixed and the moving image as those of the sampled and the interpolated one, or back.
fn ordered(sigmas: Sigmas, which: Sampled) -> Sigmas {
    match which {
        Sampled::Fixed => sigmas,
        Sampled::Moving => Sigmas {
            fixed: sigmas.moving,
            moving: sigmas.fixed,
            joint: sigmas.joint.map(|[fixed, moving]| [moving, fixed]),
        },
    }
}

/// Voxels of A and of B: disjoint, and where there are no more than `count` all.
fn sets(sampled: &BinImage, count: usize, seed: u64) -> [Vec<Sample>; 2] {
    let [width, height, _] = sampled.size;
    let left = sampled.bins.par_iter().filter(|&&value| value != MASKED).count();
    let part = if left <= count { u64::MAX } else { (count as f64 / left as f64 * 2_f64.powi(64)) as u64 };
    let of = |from: u64, to: u64| -> Vec<Sample> {
        let voxels = sampled.bins.par_iter().enumerate().filter(|(voxel, value)| {
            **value != MASKED && sampling::picked(*voxel, seed, to) && !sampling::picked(*voxel, seed, from)
        });
        let sample = |(voxel, &value): (usize, &u16)| Sample {
            voxel: [voxel % width, voxel / width % height, voxel / width / height].map(|n| n as u32),
            value: f32::from(value),
        };
        voxels.map(sample).collect()
    };
    [of(0, part / 2), of(part / 2, part)]
}
