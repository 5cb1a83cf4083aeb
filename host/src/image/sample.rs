//! Interpolation between voxels for pictures in reports. Metrics and results use `gpu::math::interpolate`.

use super::Volume;
use glam::DVec3;

impl Volume {
    /// The intensity at a voxel position by linear interpolation; `None` outside the voxels.
    #[inline(always)] // Lets the compiler move what depends on the image alone out of a picture's loop.
    pub fn at(&self, position: DVec3) -> Option<f32> {
        let size = self.geometry.size;
        let last = DVec3::from_array(size.map(|n| n as f64 - 1.0));
        let half = DVec3::splat(0.5);
        if position.cmplt(-half).any() || position.cmpgt(last + half).any() {
            return None;
        }
        let position = position.clamp(DVec3::ZERO, last);
        // No coordinate is negative, so the cast rounds down.
        let low = position.as_uvec3();
        let part = (position - low.as_dvec3()).as_vec3();
        let [i, j, k] = low.to_array().map(|n| n as usize);
        let [row, plane] = [size[0], size[0] * size[1]];
        // The last voxel of an axis has no neighbour to interpolate with.
        let [di, dj, dk] =
            [(i + 1 < size[0]) as usize, row * (j + 1 < size[1]) as usize, plane * (k + 1 < size[2]) as usize];
        let first = i + row * j + plane * k;
        let mix = |a: f32, b: f32, t: f32| a + (b - a) * t;
        let along_i = |n: usize| mix(self.voxels[n], self.voxels[n + di], part.x);
        let along_j = |n: usize| mix(along_i(n), along_i(n + dj), part.y);
        Some(mix(along_j(first), along_j(first + dk), part.z))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Geometry, PixelType};

    #[test]
    fn values_are_mixed_inside_and_end_half_a_voxel_outside() {
        let geometry = Geometry::axis_aligned([2, 3, 1], DVec3::ONE, DVec3::ZERO);
        let volume = Volume { geometry, voxels: vec![0.0, 1.0, 10.0, 11.0, 20.0, 21.0], pixel: PixelType::F32 };
        assert_eq!(volume.at(DVec3::new(0.5, 1.25, 0.0)), Some(13.0));
        assert_eq!(volume.at(DVec3::new(1.0, 2.0, 0.0)), Some(21.0));
        assert_eq!(volume.at(DVec3::new(1.5, 2.5, -0.5)), Some(21.0));
        assert_eq!(volume.at(DVec3::new(1.51, 1.0, 0.0)), None);
        assert_eq!(volume.at(DVec3::new(0.0, -0.51, 0.0)), None);
    }
}
