//! How much a field bends space, and what that must be worth.
//!
//! A flow makes any two images agree better by bending them. The logarithm of the Jacobian determinant is taken to be normal, with a standard
//! deviation of s between anatomies: a field through which it has the variance v is less likely than one that bends nothing by v / (2 s^2)
//! nats per voxel. Where the images do not tell so much more about each other through the field than through its start, they do not
//! account for it.

use super::flows::Flows;
use crate::Result;
use crate::image::voxel;
use gpu::math::{field, log};
use rayon::prelude::*;

/// The standard deviation: volumes that double or halve.
const USUAL: f64 = std::f64::consts::LN_2;

/// Smaller determinants are taken to be this one: where a field folds, there is no logarithm.
const LEAST: f32 = 0.01;

/// By how many nats per voxel a field is less likely than one that bends nothing, of the determinants of its Jacobian.
pub fn nats(determinants: impl IndexedParallelIterator<Item = f32>) -> f64 {
    let logarithm = |determinant: f32| log::of(f64::from(determinant.max(LEAST)));
    // Summed up in their order.
    let logarithms: Vec<f64> = determinants.map(logarithm).collect();
    variance(&logarithms) / (2.0 * USUAL * USUAL)
}

/// The same of a flow on a grid of `size`; of two that meet, of the way from the one image to the other.
pub fn of_flows(flows: &mut Flows, size: [usize; 3]) -> Result<f64> {
    let planes = flows.field()?;
    Ok(match flows {
        Flows::One(_) => of_planes(&planes, size),
        Flows::Two(..) => {
            let (there, here) = planes.split_at(planes.len() / 2);
            let [there, here] = [there, here].map(|planes| determinants(planes, size));
            nats(there.zip(here).map(|(there, here)| there.max(LEAST) / here.max(LEAST)))
        }
    })
}

/// The same of the three planes of a field on a grid of `size`.
pub fn of_planes(planes: &[f32], size: [usize; 3]) -> f64 {
    nats(determinants(planes, size))
}

fn determinants(planes: &[f32], size: [usize; 3]) -> impl IndexedParallelIterator<Item = f32> {
    let sides = size.map(|n| n as u32);
    let voxels: usize = size.iter().product();
    // SAFETY: the closure checks its index, and the voxel is in the grid.
    let determinant = move |n: usize| unsafe { field::jacobian(|i| planes[i], sides, voxel(sides, n)) };
    (0..voxels).into_par_iter().with_min_len(1 << 10).map(determinant)
}

fn variance(values: &[f64]) -> f64 {
    let number = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / number;
    values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / number
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Planes of displacements that make an image's two halves along x larger and smaller by the same factor.
    fn halves(size: [usize; 3], factor: f32) -> Vec<f32> {
        let middle = size[0] as f32 / 2.0 - 0.5;
        let along =
            |x: f32| if x < middle { (factor - 1.0) * (x - middle) } else { (1.0 / factor - 1.0) * (x - middle) };
        let voxels: usize = size.iter().product();
        (0..3 * voxels).map(|n| if n < voxels { along((n % size[0]) as f32) } else { 0.0 }).collect()
    }

    #[test]
    fn volumes_that_double_and_halve_are_one_standard_deviation_away() {
        let size = [64, 4, 3];
        let found = of_planes(&halves(size, 2.0), size);
        assert!((found - 0.5).abs() < 0.03, "{found}");
        assert!(of_planes(&halves(size, 1.2), size) < 0.04);
    }

    #[test]
    fn what_only_grows_is_not_bent_and_folds_have_a_finite_cost() {
        let size = [16, 8, 1];
        let grown: Vec<f32> = (0..3 * 128).map(|n| if n < 128 { 0.5 * (n % 16) as f32 } else { 0.0 }).collect();
        assert!(of_planes(&grown, size) < 1e-9);
        let folded: Vec<f32> = grown.iter().enumerate().map(|(n, u)| if n % 16 > 8 { -5.0 * u } else { *u }).collect();
        let found = of_planes(&folded, size);
        assert!(found.is_finite() && found > 1.0, "{found}");
    }
}
