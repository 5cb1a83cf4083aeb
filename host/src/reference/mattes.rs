//! Mattes mutual information, with cubic B-spline windows over the bins.

use super::position::{indices, position};
use super::{Interpolator, Samples};
use crate::Volume;
use glam::{DAffine3, DVec3};
use ndarray::{Array2, Axis};

/// Which image's intensities are spread over several bins by a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Windows {
    /// Those of the moving image. A fixed intensity falls into one bin.
    Moving,
    /// Those of both images.
    Both,
}

/// The metric and its derivative.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mattes {
    /// Mutual information, nats; 0 without samples.
    pub mi: f64,
    /// Its derivative by the numbers of the map from voxels of the fixed image to voxels of the moving image: a row for
    /// each axis of the moving image, with the factors of x, y, z and 1. On the last voxel of an axis the moving image
    /// is continued as a constant.
    pub by_map: [[f64; 4]; 3],
    /// Samples inside the moving image.
    pub overlap: u64,
}

/// Compares two volumes through `transform`, which maps points of `fixed` to points of `moving`, in LPS mm, by
/// trilinear interpolation. The samples are the voxels of `fixed` for whose number `keep` is true and that fall inside
/// `moving`. Each image has `bins` bins, 5 or more, of which two at either end are padding. The others share its range
/// from the lowest to the highest intensity, which must differ.
pub fn mattes(
    fixed: &Volume,
    moving: &Volume,
    transform: &DAffine3,
    bins: usize,
    windows: Windows,
    keep: impl Fn(usize) -> bool,
) -> Mattes {
    let samples = samples(fixed, moving, transform, bins, &keep);
    let overlap = samples.len() as u64;
    if samples.is_empty() {
        return Mattes { mi: 0.0, by_map: [[0.0; 4]; 3], overlap };
    }
    let mut joint = Array2::<f64>::zeros((bins, bins));
    for sample in &samples {
        for (f, in_fixed) in sample.fixed_window(windows) {
            for (m, in_moving, _) in window(sample.moving) {
                joint[[f, m]] += in_fixed * in_moving / overlap as f64;
            }
        }
    }
    let (of_fixed, of_moving) = (joint.sum_axis(Axis(1)), joint.sum_axis(Axis(0)));
    let occurring = joint.indexed_iter().filter(|&(_, &p)| p > 0.0);
    let terms = occurring.map(|((f, m), &p)| p * (p / (of_fixed[f] * of_moving[m])).ln());

    let mut by_map = [[0.0; 4]; 3];
    for sample in &samples {
        let mut by_value = 0.0;
        for (f, in_fixed) in sample.fixed_window(windows) {
            for (m, _, slope) in window(sample.moving).filter(|&(m, _, _)| joint[[f, m]] > 0.0) {
                by_value += in_fixed * slope * (joint[[f, m]] / of_moving[m]).ln() / overlap as f64;
            }
        }
        for (axis, row) in by_map.iter_mut().enumerate() {
            for (number, factor) in row.iter_mut().zip([sample.index.x, sample.index.y, sample.index.z, 1.0]) {
                *number += by_value * sample.gradient[axis] * factor;
            }
        }
    }
    Mattes { mi: terms.sum(), by_map, overlap }
}

/// A voxel of the fixed image that falls inside the moving image. Intensities are in bins.
struct Sample {
    index: DVec3,
    fixed: f64,
    moving: f64,
    /// The gradient of the moving intensity by the position in voxels.
    gradient: [f64; 3],
}

impl Sample {
    /// The fixed bins and their weights.
    fn fixed_window(&self, windows: Windows) -> Vec<(usize, f64)> {
        match windows {
            Windows::Moving => vec![(self.fixed.floor() as usize, 1.0)],
            Windows::Both => window(self.fixed).map(|(bin, weight, _)| (bin, weight)).collect(),
        }
    }
}

fn samples(
    fixed: &Volume,
    moving: &Volume,
    transform: &DAffine3,
    bins: usize,
    keep: &dyn Fn(usize) -> bool,
) -> Vec<Sample> {
    let (of_fixed, of_moving) = (Scale::new(fixed, bins), Scale::new(moving, bins));
    let values = Samples::new(moving, Interpolator::Linear);
    let voxels = indices(fixed.geometry.size).zip(&fixed.voxels).enumerate().filter(|&(number, _)| keep(number));
    let sample = |(_, (index, &intensity))| {
        let position = position(&fixed.geometry, &moving.geometry, transform, index);
        Some(Sample {
            index: DVec3::from_array(index.map(|n: usize| n as f64)),
            fixed: of_fixed.bin(f64::from(intensity)),
            moving: of_moving.bin(values.value(position)?),
            gradient: gradient(&values, position, moving.geometry.size).map(|by_voxel| by_voxel / of_moving.width),
        })
    };
    voxels.filter_map(sample).collect()
}

/// Converts intensities to bins and fractions of bins.
struct Scale {
    low: f64,
    width: f64,
    bins: f64,
}

impl Scale {
    fn new(volume: &Volume, bins: usize) -> Self {
        let (low, high) = volume.range();
        let bins = bins as f64;
        Self { low: f64::from(low), width: (f64::from(high) - f64::from(low)) / (bins - 4.0), bins }
    }

    /// The bin of an intensity, with a fraction. The highest intensity is just inside the last bin before the padding.
    fn bin(&self, intensity: f64) -> f64 {
        (2.0 + (intensity - self.low) / self.width).clamp(2.0, (self.bins - 2.0).next_down())
    }
}

/// The four bins around an intensity, each with its weight and the derivative of the weight by the intensity.
fn window(intensity: f64) -> impl Iterator<Item = (usize, f64, f64)> {
    let first = intensity.floor() as usize - 1;
    (first..first + 4).map(move |bin| {
        let d = intensity - bin as f64;
        let (weight, slope) = match d.abs() {
            t if t < 1.0 => (2.0 / 3.0 - t.powi(2) + t.powi(3) / 2.0, -2.0 * t + 1.5 * t.powi(2)),
            t => ((2.0 - t).powi(3) / 6.0, -(2.0 - t).powi(2) / 2.0),
        };
        (bin, weight, slope * d.signum())
    })
}

/// The gradient: along each axis, the difference between the values on the two voxel planes next to the position.
fn gradient(values: &Samples, position: DVec3, size: [usize; 3]) -> [f64; 3] {
    [0, 1, 2].map(|axis| {
        let (mut near, mut far) = (position, position);
        near[axis] = position[axis].floor().max(0.0);
        far[axis] = (near[axis] + 1.0).min(size[axis] as f64 - 1.0);
        values.value(far).unwrap_or_default() - values.value(near).unwrap_or_default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Geometry, PixelType};

    #[test]
    fn windows_are_cubic_splines() {
        let weights: Vec<_> = window(7.0).collect();
        let known = [(6, 1.0 / 6.0, -0.5), (7, 2.0 / 3.0, 0.0), (8, 1.0 / 6.0, 0.5), (9, 0.0, 0.0)];
        for (found, known) in weights.iter().zip(known) {
            assert_eq!(found.0, known.0);
            assert!((found.1 - known.1).abs() < 1e-15 && (found.2 - known.2).abs() < 1e-15, "{found:?}");
        }
        for intensity in [3.25, 3.5, 3.875] {
            assert!((window(intensity).map(|(_, weight, _)| weight).sum::<f64>() - 1.0).abs() < 1e-15);
            assert!(window(intensity).map(|(_, _, slope)| slope).sum::<f64>().abs() < 1e-15);
        }
    }

    #[test]
    fn two_alternatives_by_hand() {
        let geometry = Geometry::axis_aligned([2, 1, 1], DVec3::ONE, DVec3::ZERO);
        let volume = Volume { geometry, voxels: vec![0.0, 90.0], pixel: PixelType::F32 };
        // With 13 bins the windows of the two voxels do not overlap, so the mutual information is one bit.
        for windows in [Windows::Moving, Windows::Both] {
            let found = mattes(&volume, &volume, &DAffine3::IDENTITY, 13, windows, |_| true);
            assert!((found.mi - 2.0_f64.ln()).abs() < 1e-12, "{found:?}");
        }
        let one = mattes(&volume, &volume, &DAffine3::IDENTITY, 13, Windows::Moving, |voxel| voxel == 1);
        assert!(one.mi.abs() < 1e-12 && one.overlap == 1, "{one:?}");
    }
}
