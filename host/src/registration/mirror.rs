//! Checks whether the moving image agrees better when it is mirrored. A head fits a mirrored head quite well, and left
//! and right are easily exchanged by a header that lost a sign or an array that lost its header.

use super::binned::Ranged;
use super::samples::{BY_CONTRASTS, SAMPLES, Samples, TOGETHER};
use crate::Result;
use crate::metric::NO_INFORMATION;
use crate::plane::local_contrast::longer_side;
use glam::{DAffine3, DMat3, DVec3};
use rayon::prelude::*;
use std::f64::consts::PI;

/// The normals of the mirror planes that are tried in 3-D are the axes, and the axes tilted by this tangent (15
/// degrees) towards the others.
const TILT: f64 = 0.268;
/// The planes pass through the centre of the common foreground, and on either side of it at this fraction of the fixed
/// image's longest side. What two images show of a head need not be centred on the head.
const OFFSET: f64 = 0.05;
/// Mirror lines that are tried in 2-D.
const LINES: u32 = 16;
/// How many of these, and how many of the planes about each axis, are optimised by intensities. The best one is then
/// optimised by local contrast.
const OPTIMISED: usize = 2;
/// First step and resolution of an optimisation by intensities, voxels.
const BY_INTENSITIES: (f64, f64) = (2.0, 0.5);

/// Finds the map near `to` that fits the mirrored moving image best; maps take fixed points to moving points, LPS mm.
/// Each pair is the fixed and the moving image.
///
/// Returns the map, and the mutual information of local contrast there divided by that at `to`. If the ratio is `least`
/// or more, it is taken again with the best map near `to` in place of `to`.
///
/// # Errors
/// [`Error::Stopped`](crate::Error::Stopped)
pub fn mirrored(
    intensities: &[Ranged; 2],
    local_contrast: &[Ranged; 2],
    to: &DAffine3,
    least: f64,
) -> Result<(DAffine3, f64)> {
    let samples = |pair| Samples::of(pair, to, SAMPLES);
    let (by_intensities, by_contrasts) = rayon::join(|| samples(intensities), || samples(local_contrast));
    let starts: Vec<_> =
        reflections(&by_intensities).iter().flat_map(|about| best(about, &by_intensities, to)).collect();
    let optimised: Result<Vec<_>> =
        starts.par_iter().map(|&start| by_intensities.optimised(start, BY_INTENSITIES)).collect();
    // `max_by` returns the last of equals; the first one is wanted.
    let best = optimised?.into_iter().rev().max_by(|a, b| a.1.total_cmp(&b.1)).map_or(*to, |end| end.0);
    let (map, information) = by_contrasts.optimised(best, BY_CONTRASTS)?;
    let times = |as_it_is: f64| information.max(0.0) / as_it_is.max(NO_INFORMATION);
    let at_once = times(by_contrasts.information(to));
    if at_once < least {
        return Ok((map, at_once));
    }
    // The result is not quite at its own maximum either, so it is optimised in the same way.
    Ok((map, times(by_contrasts.optimised(*to, BY_CONTRASTS)?.1)))
}

/// Returns the best maps through which a reflection followed by `to` compares the samples.
fn best(reflections: &[DAffine3], samples: &Samples, to: &DAffine3) -> Vec<DAffine3> {
    let value = |reflection: &DAffine3| (samples.information(&(*to * *reflection)), *to * *reflection);
    let mut maps: Vec<_> = reflections.par_iter().with_min_len(TOGETHER).map(value).collect();
    maps.sort_by(|a, b| b.0.total_cmp(&a.0));
    maps.into_iter().take(OPTIMISED).map(|(_, map)| map).collect()
}

/// Returns the reflections of the fixed image that are tried: in 3-D, those about each axis apart.
fn reflections(samples: &Samples) -> Vec<Vec<DAffine3>> {
    let across = |normal: DVec3, through: DVec3| {
        let turn = DMat3::IDENTITY - 2.0 * DMat3::from_cols(normal * normal.x, normal * normal.y, normal * normal.z);
        DAffine3::from_mat3_translation(turn, through - turn * through)
    };
    if samples.grid.is_flat() {
        let line = |n: u32| libm::sincos(PI * f64::from(n) / f64::from(LINES));
        let reflection = |(sin, cos)| across(DVec3::new(cos, sin, 0.0), samples.middle);
        return vec![(0..LINES).map(line).map(reflection).collect()];
    }
    let offset = OFFSET * longer_side(samples.grid);
    let about = |[a, b, c]: [DVec3; 3]| {
        let three = [-1.0, 0.0, 1.0];
        let tilted = three.map(|y| three.map(|z| (a + TILT * (y * b + z * c)).normalize()));
        let planes = |normal| three.map(|part| across(normal, samples.middle + part * offset * normal));
        tilted.into_iter().flatten().flat_map(planes).collect()
    };
    let [x, y, z] = DVec3::AXES;
    [[x, y, z], [y, z, x], [z, x, y]].map(about).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Geometry, PixelType, Volume};

    #[test]
    fn how_thick_a_picture_is_said_to_be_changes_nothing() {
        let picture = |thick: f64, sign: f64| {
            let geometry = Geometry::axis_aligned([60, 50, 1], DVec3::new(1.0, 1.0, thick), DVec3::ZERO);
            let voxel = |n: usize| {
                let (x, y) = (sign * ((n % 60) as f64 - 29.5), (n / 60) as f64 - 24.5);
                ((0.11 * x + 0.05 * y).sin() + (0.17 * y - 0.02 * x * x).cos()) as f32
            };
            (Volume { geometry, voxels: (0..3000).map(voxel).collect(), pixel: PixelType::F32 }, (-2.0, 2.0))
        };
        let found = [1.0, 40.0].map(|thick| {
            let pair = [picture(thick, 1.0), picture(thick, -1.0)];
            mirrored(&pair, &pair, &DAffine3::from_translation(DVec3::new(1.3, -0.7, 0.0)), 0.0).unwrap()
        });
        assert_eq!(found[0], found[1]);
    }
}
