//! Samples between the voxels of an image, where another image's voxels lie on the same lattice.
//!
//! Linear interpolation averages the voxels around a sample: most halfway between them, not at all at one of them. So it
//! weakens noise and detail, and the metric depends on that. On a common lattice a shift takes all samples equally far
//! from the voxels. The metric is then drawn to shifts by half a voxel without rotation, where noise is weakest, or to
//! whole voxels (Pluim and others 2000; Tsao 2003). Samples of another spacing lie at all distances from the voxels,
//! wherever a transform takes them.

use crate::backend::Backend;
use crate::image::{Geometry, voxel_map};
use crate::plane::sharpness;
use crate::{Result, Volume};
use glam::{DAffine3, DVec3};
use gpu::math::interpolate::Interpolator;

/// The spacing of the samples, in voxels that are sampled. With 0.87, errors are as large and there are twice as many
/// samples; with 1.07 they lie on the lattice again after 14 voxels.
const APART: f64 = 1.13;
/// Slices are thick if their spacing exceeds the other image's by more than this factor.
pub const THICK: f64 = sharpness::BLURRED;

/// Whether samples may lie on a lattice that they have in common with the other image's voxels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lattice {
    /// They may.
    Common,
    /// They do not on the finest level, where the sampling allows it.
    Avoided,
}

/// Returns the sampled image at samples between its voxels along the axes on which both images have a common lattice,
/// and at every n-th voxel, by `strides`, along the others; `None` if they have none.
///
/// # Errors
/// Those of [`Backend::resample`].
pub fn between_voxels(
    sampled: &Volume,
    interpolated: &Geometry,
    strides: [usize; 3],
    backend: &dyn Backend,
) -> Result<Option<Volume>> {
    let common = [0, 1, 2].map(|axis| is_common(&sampled.geometry, interpolated, strides[axis], axis));
    if common == [false; 3] {
        return Ok(None);
    }
    let geometry = grid(&sampled.geometry, strides, common);
    // For a spline all voxels are filtered first. If few of them are sampled, that takes longer than all the rest.
    let how = if strides == [1; 3] { Interpolator::BSpline } else { Interpolator::Linear };
    let map = voxel_map(&geometry, &sampled.geometry, &DAffine3::IDENTITY);
    let voxels = backend.resample(sampled, geometry.size, &map, how)?;
    Ok(Some(Volume { geometry, voxels, pixel: sampled.pixel }))
}

/// Returns whether every n-th voxel of the sampled image along an axis lies on a lattice with the other image's voxels.
fn is_common(sampled: &Geometry, interpolated: &Geometry, stride: usize, axis: usize) -> bool {
    let (voxels, spacing) = (sampled.size[axis], sampled.spacing[axis]);
    let other = interpolated.spacing[interpolated.axis_along(sampled.direction.col(axis))];
    // Slices are not interpolated if the other image is smoothed to their thickness.
    let thick = spacing > THICK * other && spacing > THICK * sampled.spacing_range()[0];
    let step = spacing * stride as f64 / other;
    let drift = (step - step.round()).abs() * (voxels / stride) as f64;
    voxels > 2 && !thick && step >= 0.5 && drift < 1.0
}

/// Returns the grid of the samples, all of which lie within that of the image.
fn grid(image: &Geometry, strides: [usize; 3], common: [bool; 3]) -> Geometry {
    let steps = [0, 1, 2].map(|axis| strides[axis] as f64 * if common[axis] { APART } else { 1.0 });
    let last = image.size.map(|voxels| (voxels - 1) as f64);
    let size = [0, 1, 2].map(|axis| (last[axis] / steps[axis]) as usize + 1);
    let first = [0, 1, 2].map(|axis| {
        let left = (last[axis] - (size[axis] - 1) as f64 * steps[axis]) / 2.0;
        if common[axis] { left } else { left.floor() }
    });
    let origin = image.index_to_world().transform_point3(DVec3::from_array(first));
    Geometry { size, origin, spacing: image.spacing * DVec3::from_array(steps), ..*image }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PixelType;
    use crate::backend::cpu::Cpu;

    const EVERY: [usize; 3] = [1; 3];

    fn grid_of(size: [usize; 3], spacing: [f64; 3]) -> Geometry {
        Geometry::axis_aligned(size, DVec3::from_array(spacing), DVec3::new(5.0, -3.0, 11.0))
    }

    fn common(sampled: [f64; 3], interpolated: [f64; 3], strides: [usize; 3]) -> [bool; 3] {
        let [sampled, interpolated] = [sampled, interpolated].map(|spacing| grid_of([60, 50, 40], spacing));
        [0, 1, 2].map(|axis| is_common(&sampled, &interpolated, strides[axis], axis))
    }

    #[test]
    fn spacings_that_are_whole_multiples_have_a_common_lattice() {
        assert_eq!(common([2.5; 3], [2.5; 3], EVERY), [true; 3]);
        assert_eq!(common([2.5; 3], [1.25; 3], EVERY), [true; 3]);
        assert_eq!(common([1.0; 3], [1.001; 3], [2, 2, 1]), [true; 3]);
        assert_eq!(common([1.0, 1.0, 5.0], [1.0, 1.0, 5.0], EVERY), [true; 3]);
        assert_eq!(common([1.0, 1.0, 1.0], [1.0, 1.2, 2.0], EVERY), [true, false, false]);
        assert_eq!(common([1.0, 1.0, 1.0], [1.03; 3], EVERY), [false; 3], "a drift by a voxel and more");
        assert_eq!(common([1.0, 1.0, 4.0], [1.0; 3], EVERY), [true, true, false], "thick slices");
    }

    #[test]
    fn axes_are_compared_by_their_directions() {
        let sampled = grid_of([60, 50, 40], [1.0, 2.0, 3.0]);
        let mut turned = grid_of([40, 60, 50], [3.3, 1.0, 2.0]);
        turned.direction = glam::DMat3::from_cols(DVec3::Z, -DVec3::X, DVec3::Y);
        assert_eq!([0, 1, 2].map(|axis| is_common(&sampled, &turned, 1, axis)), [true, true, false]);
    }

    #[test]
    fn samples_lie_between_the_voxels_and_within_the_image() {
        let image = grid_of([60, 51, 3], [1.0, 1.0, 4.0]);
        for strides in [EVERY, [2, 3, 1]] {
            let samples = grid(&image, strides, [true, false, true]);
            let index = |at: [usize; 3]| {
                let at = DVec3::from_array(at.map(|n| n as f64));
                (image.world_to_index() * samples.index_to_world()).transform_point3(at)
            };
            let [first, last] = [index([0; 3]), index(samples.size.map(|n| n - 1))];
            let border = DVec3::from_array(image.size.map(|n| n as f64 - 1.0));
            assert!(first.cmpge(DVec3::splat(-1e-9)).all() && last.cmple(border + 1e-9).all(), "{first} {last}");
            assert!((first.x + last.x - border.x).abs() < 1e-9, "in the middle");
            assert!((first.y - first.y.round()).abs() < 1e-9, "at voxels");
            assert!(samples.size.iter().all(|&n| n >= 2), "{:?}", samples.size);
        }
    }

    #[test]
    fn samples_are_what_the_image_shows_there() {
        let geometry = grid_of([40, 30, 20], [2.0; 3]);
        let voxels = (0..geometry.voxels()).map(|n| {
            let [i, j, k] = geometry.index_of(n).map(|n| n as f32);
            100.0 + i + 2.0 * j - 3.0 * k
        });
        let image = Volume { geometry, voxels: voxels.collect(), pixel: PixelType::F32 };
        for strides in [EVERY, [2, 1, 1]] {
            let samples = between_voxels(&image, &geometry, strides, &Cpu).unwrap().unwrap();
            let back = geometry.world_to_index() * samples.geometry.index_to_world();
            let [width, height, depth] = samples.geometry.size;
            let at = [width / 2, height / 2, depth / 2];
            let index = back.transform_point3(DVec3::from_array(at.map(|n| n as f64)));
            let expected = 100.0 + index.x + 2.0 * index.y - 3.0 * index.z;
            let found = samples.voxels[samples.geometry.number_of(at)];
            assert!((f64::from(found) - expected).abs() < 1e-2, "{found} at {index}");
        }
        let other = grid_of([40, 30, 20], [1.7; 3]);
        assert!(between_voxels(&image, &other, EVERY, &Cpu).unwrap().is_none());
    }
}
