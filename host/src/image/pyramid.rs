//! Coarser versions of a volume, in millimetres.

use super::{Geometry, Volume};
use glam::DVec3;
use rayon::prelude::*;

/// The volume on a grid of about `mm`: an axis is smoothed with a Gaussian and thinned only where its spacing is finer than that.
///
/// The step along each axis is a whole number of voxels and the new grid has the same middle as the old one. Sigma is half the new
/// spacing, less (in squares) the half voxel that the old grid has already. Borders repeat.
pub fn coarser(volume: &Volume, mm: f64) -> Volume {
    let mut out = volume.clone();
    for axis in 0..3 {
        let step = step(out.geometry.size[axis], out.geometry.spacing[axis], mm);
        if step > 1 {
            out = thin(&out, axis, step);
        }
    }
    out
}

/// Old voxels a new one along an axis, keeping at least two new ones.
fn step(size: usize, spacing: f64, mm: f64) -> usize {
    ((mm / spacing).round() as usize).clamp(1, size / 2)
}

/// One axis smoothed and thinned.
fn thin(volume: &Volume, axis: usize, step: usize) -> Volume {
    let old = volume.geometry;
    let mut size = old.size;
    size[axis] = old.size[axis] / step;
    // Twice the old index of new voxel 0, so that halves stay whole.
    let first_twice = (old.size[axis] - 1) - (size[axis] - 1) * step;
    let kernel = kernel(step, first_twice % 2 == 1);
    let left = kernel.len() / 2 - usize::from(first_twice % 2 == 1);
    let stride: usize = old.size[..axis].iter().product();
    let slab = stride * old.size[axis];
    let mut voxels = vec![0.0_f32; size.iter().product()];
    voxels.par_chunks_mut(stride).enumerate().for_each(|(row, out)| {
        let (outer, new) = (row / size[axis], row % size[axis]);
        let centre = (first_twice / 2 + new * step) as isize - left as isize;
        for (tap, &weight) in kernel.iter().enumerate() {
            let index = (centre + tap as isize).clamp(0, old.size[axis] as isize - 1) as usize;
            let source = &volume.voxels[outer * slab + index * stride..][..stride];
            out.iter_mut().zip(source).for_each(|(out, &voxel)| *out += weight * voxel);
        }
    });
    let mut spacing = old.spacing;
    spacing[axis] *= step as f64;
    let mut first = DVec3::ZERO;
    first[axis] = first_twice as f64 / 2.0;
    let origin = old.index_to_world().transform_point3(first);
    Volume { geometry: Geometry { size, spacing, origin, ..old }, voxels, pixel: volume.pixel }
}

/// A Gaussian for thinning by `step`, in old voxels, cut at three sigma and summing to 1; centred between two voxels if `between`.
fn kernel(step: usize, between: bool) -> Vec<f32> {
    let sigma = 0.5 * ((step * step - 1) as f64).sqrt();
    let offset = if between { 0.5 } else { 0.0 };
    let radius = (3.0 * sigma - offset).ceil() as i64;
    let taps = if between { -radius..=radius + 1 } else { -radius..=radius };
    let weight = |tap: i64| libm::exp(-0.5 * ((tap as f64 - offset) / sigma).powi(2));
    let weights: Vec<f64> = taps.map(weight).collect();
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|weight| (weight / sum) as f32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PixelType;

    fn ramp(size: [usize; 3], spacing: DVec3) -> Volume {
        let geometry = Geometry::axis_aligned(size, spacing, DVec3::new(5.0, -3.0, 11.0));
        let voxels = (0..geometry.voxels()).map(|i| (i % size[0] + 10 * (i / size[0] % size[1])) as f32).collect();
        Volume { geometry, voxels, pixel: PixelType::F32 }
    }

    #[test]
    fn keeps_the_middle_and_what_a_ramp_says_there() {
        for size in [[24, 31, 9], [25, 30, 8]] {
            let fine = ramp(size, DVec3::new(1.0, 1.0, 3.5));
            let coarse = coarser(&fine, 3.0);
            assert_eq!(coarse.geometry.size, [size[0] / 3, size[1] / 3, size[2]]);
            assert!(coarse.geometry.centre().distance(fine.geometry.centre()) < 1e-12);
            let [x, y, z] = [4, 5, 2];
            let world = coarse.geometry.index_to_world().transform_point3(DVec3::new(x as f64, y as f64, z as f64));
            let index = fine.geometry.world_to_index().transform_point3(world);
            let voxel = coarse.voxels[x + coarse.geometry.size[0] * (y + coarse.geometry.size[1] * z)];
            assert!((f64::from(voxel) - (index.x + 10.0 * index.y)).abs() < 1e-3, "{voxel} at {index}");
        }
    }

    #[test]
    fn leaves_an_axis_alone_that_is_coarse_enough() {
        let fine = ramp([8, 8, 8], DVec3::new(1.0, 1.0, 4.0));
        assert_eq!(coarser(&fine, 1.2), fine);
        assert_eq!(coarser(&fine, 4.0).geometry.size, [2, 2, 8]);
    }

    #[test]
    fn a_constant_stays() {
        let mut fine = ramp([20, 21, 22], DVec3::ONE);
        fine.voxels.fill(7.0);
        assert!(coarser(&fine, 4.0).voxels.iter().all(|v| (v - 7.0).abs() < 1e-5));
    }
}
