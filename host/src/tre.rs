//! The target registration error: the distance between points moved by a transform and their true positions.

use glam::DVec3;
use rayon::prelude::*;
use serde::Serialize;

use crate::Volume;

/// Statistics of the errors of points, mm.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Tre {
    /// The mean error.
    pub mean_mm: f64,
    /// The median error.
    pub median_mm: f64,
    /// The 95th percentile of the errors.
    pub percentile_95_mm: f64,
    /// The largest error.
    pub max_mm: f64,
}

impl Tre {
    /// The errors of points that `map` moves, relative to their targets, in LPS mm. `None` if there are no points.
    pub fn of(map: impl Fn(DVec3) -> DVec3 + Sync, points: &[DVec3], targets: &[DVec3]) -> Option<Self> {
        let pairs = points.par_iter().zip(targets);
        let mut errors: Vec<f64> = pairs.map(|(&point, &target)| map(point).distance(target)).collect();
        errors.par_sort_unstable_by(f64::total_cmp);
        let max_mm = *errors.last()?;
        Some(Self {
            mean_mm: errors.iter().sum::<f64>() / errors.len() as f64,
            median_mm: quantile(&errors, 0.5),
            percentile_95_mm: quantile(&errors, 0.95),
            max_mm,
        })
    }
}

/// A quantile of sorted values, by linear interpolation as in numpy's `percentile`.
fn quantile(sorted: &[f64], part: f64) -> f64 {
    let place = part * (sorted.len() - 1) as f64;
    let low = place.floor() as usize;
    let high = (low + 1).min(sorted.len() - 1);
    sorted[low] + (place - low as f64) * (sorted[high] - sorted[low])
}

/// The centres of a mask's voxels with 0.5 or more, LPS mm.
pub fn mask_points(mask: &Volume) -> Vec<DVec3> {
    let map = mask.geometry.index_to_world();
    let inside = mask.voxels.par_iter().enumerate().filter(|(_, voxel)| **voxel >= 0.5);
    let centre = |n: usize| mask.geometry.index_of(n).map(|index| index as f64);
    inside.map(|(n, _)| map.transform_point3(centre(n).into())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Geometry, PixelType};

    #[test]
    fn errors_are_distances_and_quantiles_lie_between_them() {
        let tre = |errors: &[f64]| {
            let points: Vec<DVec3> = errors.iter().map(|&x| DVec3::new(x - 1.0, 2.0, 3.0)).collect();
            Tre::of(|point| point + DVec3::X, &points, &vec![DVec3::new(0.0, 2.0, 3.0); points.len()])
        };
        let ten: Vec<f64> = (0..11).rev().map(f64::from).collect();
        assert_eq!(tre(&ten), Some(Tre { mean_mm: 5.0, median_mm: 5.0, percentile_95_mm: 9.5, max_mm: 10.0 }));
        assert_eq!(tre(&[3.0, 1.0]).unwrap().median_mm, 2.0);
        assert_eq!(tre(&[]), None);
    }

    #[test]
    fn a_mask_is_where_its_voxels_are() {
        let geometry = Geometry::axis_aligned([2, 3, 2], DVec3::new(1.0, 2.0, 5.0), DVec3::splat(10.0));
        let mut voxels = vec![0.4; 12];
        voxels[1 + 2 * 2 + 6] = 0.5;
        let mask = Volume { geometry, voxels, pixel: PixelType::F32 };
        assert_eq!(mask_points(&mask), [DVec3::new(11.0, 14.0, 15.0)]);
    }
}
