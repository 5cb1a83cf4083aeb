//! Resamples a volume to a coarser grid of any spacing.

use crate::Volume;
use crate::backend::cpu::smooth;
use crate::threads::should_continue;
use glam::DVec3;
use gpu::math::interpolate::lerp;
use rayon::prelude::*;
use std::borrow::Cow;

/// Resamples a volume to this spacing, mm, along the axes on which that is coarser than its own. The spacing need not
/// be a whole number of voxels, and any takes the same time.
///
/// An axis is smoothed by the recursive Gaussian, whose sigma is that of [`levels`](crate::image::pyramid::levels), and
/// interpolated linearly. The new grid has the same centre. Beyond its borders, a volume continues with its border
/// values.
pub fn respaced(volume: &Volume, mm: f64) -> Cow<'_, Volume> {
    let old = volume.geometry;
    let geometry = old.respaced(old.spacing.max(DVec3::splat(mm)));
    if geometry == old {
        return Cow::Borrowed(volume);
    }
    let factors = (geometry.spacing / old.spacing).to_array();
    let mut finer: Vec<f32> = volume.voxels.par_iter().copied().collect();
    smooth(&mut finer, old.size, factors.map(|factor| 0.5 * (factor * factor - 1.0).max(0.0).sqrt()));
    let [columns, rows, planes] = [0, 1, 2].map(|axis| neighbours(old.size[axis], geometry.size[axis], factors[axis]));
    let mut voxels = vec![0.0; geometry.voxels()];
    let new = voxels.par_chunks_mut(geometry.size[0]).enumerate().take_any_while(|_| should_continue());
    new.for_each(|(row, out)| {
        let (y, z) = (&rows[row % rows.len()], &planes[row / rows.len()]);
        let row = |y: usize, z: usize| &finer[(y + old.size[1] * z) * old.size[0]..][..old.size[0]];
        let [a, b, c, d] = [row(y.near, z.near), row(y.far, z.near), row(y.near, z.far), row(y.far, z.far)];
        for (out, x) in out.iter_mut().zip(&columns) {
            let [a, b, c, d] = [a, b, c, d].map(|row| x.mix(row[x.near], row[x.far]));
            *out = z.mix(y.mix(a, b), y.mix(c, d));
        }
    });
    Cow::Owned(Volume { geometry, voxels, pixel: volume.pixel })
}

/// The position of a new voxel along an axis, between two old ones.
struct Between {
    near: usize,
    far: usize,
    /// The fraction of the way from the near one to the far one.
    part: f32,
}

impl Between {
    fn mix(&self, near: f32, far: f32) -> f32 {
        lerp(near, far, self.part)
    }
}

/// Returns the positions of an axis's `new` voxels, which are `factor` old ones apart, about the same centre. Those
/// outside are moved to the border.
fn neighbours(old: usize, new: usize, factor: f64) -> Vec<Between> {
    let last = (old - 1) as f64;
    let between = |i: usize| {
        let place = (0.5 * last + (i as f64 - 0.5 * (new - 1) as f64) * factor).clamp(0.0, last);
        let near = place as usize;
        Between { near, far: (near + 1).min(old - 1), part: (place - near as f64) as f32 }
    };
    (0..new).map(between).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Geometry, PixelType};

    fn ramp(size: [usize; 3], spacing: DVec3) -> Volume {
        let geometry = Geometry::axis_aligned(size, spacing, DVec3::new(5.0, -3.0, 11.0));
        let voxels = (0..geometry.voxels()).map(|i| (i % size[0] + 10 * (i / size[0] % size[1])) as f32).collect();
        Volume { geometry, voxels, pixel: PixelType::F32 }
    }

    #[test]
    fn any_spacing_keeps_the_middle_and_what_a_ramp_says_there() {
        for mm in [1.7, 2.0, 3.1, 5.0] {
            let fine = ramp([64, 75, 20], DVec3::new(1.0, 1.0, 3.5));
            let coarse = &respaced(&fine, mm);
            let spacing = DVec3::new(mm, mm, mm.max(3.5));
            assert_eq!(coarse.geometry.spacing, spacing);
            assert!(coarse.geometry.centre().distance(fine.geometry.centre()) < 1e-9);
            let [x, y, z] = coarse.geometry.size.map(|n| n / 2);
            let world = coarse.geometry.index_to_world().transform_point3(DVec3::new(x as f64, y as f64, z as f64));
            let index = fine.geometry.world_to_index().transform_point3(world);
            let voxel = coarse.voxels[x + coarse.geometry.size[0] * (y + coarse.geometry.size[1] * z)];
            assert!((f64::from(voxel) - (index.x + 10.0 * index.y)).abs() < 1e-3, "{mm}: {voxel} at {index}");
        }
    }

    #[test]
    fn no_spacing_makes_a_volume_finer_and_the_coarsest_leaves_a_voxel() {
        let fine = ramp([8, 9, 10], DVec3::new(1.0, 1.0, 4.0));
        assert!(matches!(respaced(&fine, 1.0), Cow::Borrowed(_)));
        assert_eq!(respaced(&fine, 1e4).geometry.size, [1, 1, 1]);
    }

    #[test]
    fn a_constant_stays() {
        let mut fine = ramp([20, 21, 22], DVec3::ONE);
        fine.voxels.fill(7.0);
        assert!(respaced(&fine, 1.3).voxels.iter().all(|v| (v - 7.0).abs() < 1e-5));
    }
}
