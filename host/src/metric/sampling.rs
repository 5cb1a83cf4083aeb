//! Which voxels of the sampled image are counted.

use crate::random::{GOLDEN, mix};
use crate::threads::should_continue;
use crate::{Geometry, Volume};
use glam::{DAffine3, DVec3};
use rayon::prelude::*;
use std::borrow::Cow;

/// Which voxels of the sampled image are counted at each level. A number of samples is never an error: if there are
/// fewer voxels, all are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sampling {
    /// All voxels.
    Full,
    /// The voxels of a regular grid, about so many.
    Grid { samples: usize },
    /// About so many scattered voxels, chosen by the seed.
    Random { samples: usize, seed: u64 },
}

impl Sampling {
    /// A number of samples that is enough for any image.
    pub const SAMPLES: usize = 1 << 21;
}

/// Returns the strides of a regular grid along each axis that leave about `samples` voxels. They grow first along the
/// axis on which the voxels lie closest.
pub fn strides(grid: &Geometry, samples: usize) -> [usize; 3] {
    let mut strides = [1; 3];
    let left = |strides: [usize; 3]| (0..3).map(|axis| grid.size[axis].div_ceil(strides[axis])).product::<usize>();
    while left(strides) > samples.max(1) {
        let along = |axis: &usize| grid.spacing[*axis] * strides[*axis] as f64;
        let wide = (0..3).filter(|&axis| strides[axis] < grid.size[axis] / 2);
        let Some(axis) = wide.min_by(|a, b| along(a).total_cmp(&along(b))) else { break };
        strides[axis] += 1;
    }
    strides
}

/// Returns the voxels of a regular grid, without smoothing.
pub fn thinned<'a>(volume: &'a Volume, strides: [usize; 3]) -> Cow<'a, Volume> {
    if strides == [1; 3] {
        return Cow::Borrowed(volume);
    }
    let old = volume.geometry;
    let size = [0, 1, 2].map(|axis| old.size[axis].div_ceil(strides[axis]));
    // Half of the voxels that are left over come before the first.
    let first = [0, 1, 2].map(|axis| (old.size[axis] - 1 - (size[axis] - 1) * strides[axis]) / 2);
    let mut voxels = vec![0.0; size.iter().product()];
    voxels.par_chunks_mut(size[0]).enumerate().for_each(|(row, out)| {
        let [y, z] = [row % size[1] * strides[1] + first[1], row / size[1] * strides[2] + first[2]];
        let row = &volume.voxels[(y + old.size[1] * z) * old.size[0] + first[0]..];
        out.iter_mut().zip(row.iter().step_by(strides[0])).for_each(|(out, voxel)| *out = *voxel);
    });
    let origin = old.index_to_world().transform_point3(DVec3::from_array(first.map(|n| n as f64)));
    let spacing = old.spacing * DVec3::from_array(strides.map(|n| n as f64));
    Cow::Owned(Volume { geometry: Geometry { size, spacing, origin, ..old }, voxels, pixel: volume.pixel })
}

/// Returns whether a voxel is among those that a seed picks. `part` is the fraction that is picked, times 2^64.
pub fn picked(voxel: usize, seed: u64, part: u64) -> bool {
    // Number `voxel` of SplitMix64's stream from `seed` (Steele and others 2014): every voxel has its own, in whatever
    // order they are asked for.
    mix(seed.wrapping_add((voxel as u64).wrapping_mul(GOLDEN))) < part
}

/// Returns for every voxel of a mask whether it is at least 0.5.
pub fn inside(mask: &Volume) -> Vec<bool> {
    mask.voxels.par_iter().map(|&voxel| voxel >= 0.5).collect()
}

/// Returns how many are true.
pub fn count(keep: &[bool]) -> usize {
    keep.par_iter().filter(|keep| **keep).count()
}

/// Returns the voxels that both keep; `None` keeps all.
pub fn both(one: Option<Vec<bool>>, other: Option<Vec<bool>>) -> Option<Vec<bool>> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.into_par_iter().zip(other).map(|(one, other)| one && other).collect()),
        (one, other) => one.or(other),
    }
}

/// Returns for every voxel of a grid whether a map of points, LPS mm, takes it to where a mask is at least 0.5.
pub fn within(grid: &Geometry, mask: &Volume, map: &DAffine3) -> Vec<bool> {
    let to_mask = mask.geometry.world_to_index() * *map * grid.index_to_world();
    let [width, height, _] = grid.size;
    let last = DVec3::from_array(mask.geometry.size.map(|n| n as f64 - 0.5));
    let lies = |index: DVec3| {
        let place = to_mask.transform_point3(index);
        let inside = place.cmpge(DVec3::splat(-0.5)).all() && place.cmplt(last).all();
        inside && mask.voxels[mask.geometry.number_of((place + 0.5).to_array().map(|n| n as usize))] >= 0.5
    };
    let mut out = vec![false; grid.voxels()];
    let rows = out.par_chunks_mut(width).enumerate().take_any_while(|_| should_continue());
    rows.for_each(|(row, out)| {
        let [y, z] = [row % height, row / height].map(|n| n as f64);
        out.iter_mut().enumerate().for_each(|(x, out)| *out = lies(DVec3::new(x as f64, y, z)));
    });
    out
}

/// Returns how `sampling` picks voxels of a grid of which masks leave the fraction `left`: the strides of a regular
/// grid, and for random samples the seed and the fraction, times 2^64, for [`picked`].
pub fn plan(sampling: Sampling, grid: &Geometry, left: f64) -> ([usize; 3], Option<(u64, u64)>) {
    let voxels = grid.voxels() as f64 * left;
    match sampling {
        Sampling::Full => ([1; 3], None),
        Sampling::Grid { samples } => (strides(grid, (samples as f64 / left) as usize), None),
        Sampling::Random { samples, .. } if samples as f64 >= voxels => ([1; 3], None),
        Sampling::Random { samples, seed } => {
            let part = (samples as f64 / voxels * 2_f64.powi(64)) as u64;
            ([1; 3], Some((seed, part)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PixelType;

    fn ramp(size: [usize; 3], spacing: DVec3) -> Volume {
        let geometry = Geometry::axis_aligned(size, spacing, DVec3::new(5.0, -3.0, 11.0));
        let voxels = (0..geometry.voxels()).map(|i| i as f32).collect();
        Volume { geometry, voxels, pixel: PixelType::F32 }
    }

    #[test]
    fn a_regular_grid_keeps_values_and_places() {
        let volume = ramp([50, 41, 13], DVec3::new(1.0, 1.0, 4.0));
        let strides = strides(&volume.geometry, 3000);
        let thin = thinned(&volume, strides);
        assert!(thin.voxels.len() <= 3000 && thin.voxels.len() > 1500, "{strides:?}");
        let back = volume.geometry.world_to_index() * thin.geometry.index_to_world();
        for (n, &voxel) in thin.voxels.iter().enumerate() {
            let index = thin.geometry.index_of(n).map(|i| i as f64);
            let [x, y, z] = back.transform_point3(index.into()).round().to_array().map(|n| n as usize);
            assert_eq!(voxel, volume.voxels[x + 50 * (y + 41 * z)]);
        }
    }

    #[test]
    fn samples_are_never_too_few_to_go_on() {
        let volume = ramp([5, 4, 3], DVec3::ONE);
        for samples in [0, 1, 60, 1000] {
            assert!(thinned(&volume, strides(&volume.geometry, samples)).geometry.size.iter().all(|&n| n >= 2));
        }
    }

    #[test]
    fn as_many_are_picked_as_were_asked_for_and_others_by_another_seed() {
        let grid = Geometry::axis_aligned([100, 100, 10], DVec3::ONE, DVec3::ZERO);
        let chosen = |seed| {
            let (_, picks) = plan(Sampling::Random { samples: 20_000, seed }, &grid, 1.0);
            let (seed, part) = picks.unwrap();
            (0..grid.voxels()).filter(|&voxel| picked(voxel, seed, part)).collect::<Vec<_>>()
        };
        let (one, two) = (chosen(1), chosen(2));
        assert!(one.len().abs_diff(20_000) < 500 && one != two && one == chosen(1));
    }

    #[test]
    fn what_falls_into_a_mask_is_within() {
        let mut mask = ramp([10, 10, 10], DVec3::ONE);
        mask.voxels.iter_mut().for_each(|voxel| *voxel = f32::from(u8::from(*voxel >= 500.0)));
        let shifted = DAffine3::from_translation(DVec3::new(0.0, 0.0, 3.0));
        let found = within(&mask.geometry, &mask, &shifted);
        let expected: Vec<bool> = (0..1000).map(|n| (200..700).contains(&n)).collect();
        assert_eq!(found, expected);
    }
}
