//! Viola's mutual information on the CPU. Sums are in the order that [`gpu::math::viola`] defines.

mod interpolated;
mod levels;
mod pairs;

use super::{Exponentials, Group, Sample, ViolaEvaluator, ViolaPair, ViolaValue};
use crate::error::Setting;
use crate::{Error, Result};
use gpu::math::entropy::{LANES, fold};
use gpu::math::viola::{JointWindow, Sums, Weights, by_map, derivative, finish};
use gpu::params::Affine;
use interpolated::InterpolatedSample;
use rayon::prelude::*;

/// The number of pairs of samples from which on convolutions of tables are faster than sums over pairs.
const MANY: usize = 1 << 24;

/// The densities of A at a sample of B, and what follows from them. All 0 if the sample is outside the moving image.
#[derive(Debug, Clone, Copy, Default)]
struct Densities {
    logarithms: [f64; 3],
    /// The derivative of the mutual information by the sample's moving intensity v.
    coefficient: f64,
    weights: Weights,
}

impl Densities {
    #[inline(always)]
    fn new(sums: Sums<f64>, joint: impl JointWindow) -> Self {
        Self { logarithms: sums.logarithms(), coefficient: sums.coefficient(joint), weights: sums.weights(joint) }
    }
}

/// The sums over a group's samples.
struct GroupSums {
    /// Sums over B of the logarithms of the densities of u, of v and of both.
    logarithms: [f64; 3],
    /// The derivative of the mutual information by v of each sample of A and of B; empty if no derivative is wanted.
    coefficients: [Vec<f64>; 2],
}

/// Samples that are loaded on the CPU.
pub struct ViolaOnCpu<'a>(ViolaPair<'a>);

impl<'a> ViolaOnCpu<'a> {
    /// # Errors
    /// [`crate::Error::Option`] for standard deviations that [`Sigmas::check`](super::Sigmas::check) refuses.
    pub fn new(pair: ViolaPair<'a>) -> Result<Self> {
        pair.sigmas.check()?;
        Ok(Self(pair))
    }

    fn all(&self, maps: &[Affine], slopes: bool) -> Result<Vec<(ViolaValue, [[f64; 4]; 3])>> {
        let groups = self.0.groups;
        if maps.len() != groups.len() {
            return Err(Error::option(
                Setting::Samples,
                format!("{} maps for {} groups of samples", maps.len(), groups.len()),
            ));
        }
        Ok(groups.par_iter().zip(maps).map(|(group, map)| self.group(group, map, slopes)).collect())
    }

    fn group(&self, group: &Group, map: &Affine, slopes: bool) -> (ViolaValue, [[f64; 4]; 3]) {
        let sigmas = &self.0.sigmas;
        let quantised = self.0.exponentials == Exponentials::Quantised;
        let samples = [&group.a, &group.b].map(|set| &self.0.samples[set.start as usize..set.end as usize]);
        let sets @ [a, b] = &samples.map(|samples| interpolated::at_samples(samples, self.0.moving, map, quantised));
        let group_sums = match quantised && a.len() * b.len() >= MANY {
            true => levels::compare(a, b, sigmas, slopes),
            false => pairs::compare(a, b, sigmas, slopes),
        };
        let overlap = [a, b].map(|set| set.iter().filter(|at| at.inside).count() as u32);
        let viola = ViolaValue::new(finish(group_sums.logarithms, overlap, sigmas.norms()), overlap);
        if !slopes {
            return (viola, Default::default());
        }
        let mut sums = [0.0; 12];
        for set in [1, 0] {
            add_by_map(&mut sums, &group_sums.coefficients[set], &sets[set], samples[set]);
        }
        let number = |row: usize, column: usize| derivative(sums[4 * row + column], sigmas.scales().v, overlap);
        (viola, std::array::from_fn(|row| std::array::from_fn(|column| number(row, column))))
    }
}

impl ViolaEvaluator for ViolaOnCpu<'_> {
    fn values(&mut self, maps: &[Affine]) -> Result<Vec<ViolaValue>> {
        Ok(self.all(maps, false)?.into_iter().map(|(viola, _)| viola).collect())
    }

    fn slopes(&mut self, maps: &[Affine]) -> Result<Vec<(ViolaValue, [[f64; 4]; 3])>> {
        self.all(maps, true)
    }
}

/// Adds the contribution of one sample set to the derivative by the map's twelve numbers.
fn add_by_map(sums: &mut [f64; 12], coefficients: &[f64], set: &[InterpolatedSample], samples: &[Sample]) {
    add_in_order(sums, set.len(), |i| {
        std::array::from_fn(|n| by_map(coefficients[i], set[i].slope, samples[i].voxel, n / 4, n % 4))
    });
}

/// Adds up terms in a fixed order: each 32 in a row are folded, and the results added one after the other.
fn add_in_order<const N: usize>(sums: &mut [f64; N], terms: usize, term: impl Fn(usize) -> [f64; N] + Sync) {
    let rows = (0..terms.div_ceil(LANES)).into_par_iter().with_min_len(256);
    let folded = rows.map(|row| {
        let mut lanes = [[0.0; LANES]; N];
        for (lane, i) in (row * LANES..terms.min((row + 1) * LANES)).enumerate() {
            for (lanes, term) in lanes.iter_mut().zip(term(i)) {
                lanes[lane] = term;
            }
        }
        lanes.map(fold)
    });
    for row in folded.collect::<Vec<_>>() {
        sums.iter_mut().zip(row).for_each(|(sum, row)| *sum += row);
    }
}
