//! How much a field bends space, and the gain in mutual information that this must bring.
//!
//! A flow makes any two images agree better by bending them. The logarithm of the Jacobian determinant between
//! anatomies is modelled as normal with standard deviation s. A field through which it has the variance v is then less
//! likely than one that bends nothing, by v / (2 s^2) nats per voxel. The images *account for* a field if their mutual
//! information rises by at least as much from the start to the field.

use crate::image::voxel;
use gpu::math::{field, log};
use rayon::prelude::*;

/// The standard deviation s: that of volumes that double or halve.
const USUAL: f64 = std::f64::consts::LN_2;

/// Smaller determinants are replaced by this one: where a field folds, there is no logarithm.
const LEAST: f32 = 0.01;

/// Voxels that are added up by one task.
const PIECE: usize = 1 << 12;

/// Returns by how many nats per voxel a field is less likely than one that bends nothing, from its Jacobian
/// determinants.
pub fn nats(determinants: &[f32]) -> f64 {
    of_each(determinants.len(), |n| determinants[n])
}

/// Returns [`nats`] for the three planes of a field on a grid of `size`.
pub fn of_planes(planes: &[f32], size: [usize; 3]) -> f64 {
    of_each(size.iter().product(), |n| determinant(planes, size, n))
}

/// Returns [`nats`] for the way from one image to another, from the planes of the two fields that lead to them from the
/// middle.
pub fn of_two(planes: &[f32], size: [usize; 3]) -> f64 {
    let (one, two) = planes.split_at(planes.len() / 2);
    let [one, two] = [one, two].map(|planes| move |n| determinant(planes, size, n).max(LEAST));
    of_each(size.iter().product(), |n| two(n) / one(n))
}

fn determinant(planes: &[f32], size: [usize; 3], n: usize) -> f32 {
    let sides = size.map(|n| n as u32);
    // SAFETY: the closure checks its index, and the voxel is in the grid.
    unsafe { field::jacobian(|i| planes[i], sides, voxel(sides, n)) }
}

/// Returns the variance of the logarithm of the determinants of so many voxels, over twice the square of [`USUAL`].
fn of_each(voxels: usize, determinant: impl Fn(usize) -> f32 + Sync) -> f64 {
    let logarithm = |n: usize| log::of(f64::from(determinant(n).max(LEAST)));
    let add = |[sum, squares]: [f64; 2], v: f64| [sum + v, squares + v * v];
    let piece = |first: usize| (first * PIECE..voxels.min((first + 1) * PIECE)).map(logarithm).fold([0.0; 2], add);
    // Pieces are added up in order, so that the result does not depend on the number of threads.
    let pieces: Vec<_> = (0..voxels.div_ceil(PIECE)).into_par_iter().map(piece).collect();
    let [sum, squares] = pieces.iter().fold([0.0; 2], |a, b| [a[0] + b[0], a[1] + b[1]]);
    let number = voxels.max(1) as f64;
    let variance = squares / number - (sum / number) * (sum / number);
    variance.max(0.0) / (2.0 * USUAL * USUAL)
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
