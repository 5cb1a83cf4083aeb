//! Viola's mutual information and its derivative, from Gaussian Parzen windows (Lin & Medioni 2008, eq. 4 to 10).

use super::interpolate::Samples;
use glam::{DMat3, DVec3};

/// The fixed intensity u and the moving intensity v of a sample, and the derivative of v by each parameter of the
/// transform.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    pub u: f64,
    pub v: f64,
    /// dv / dT.
    pub slope: Vec<f64>,
}

impl Sample {
    /// Makes the sample of a voxel of the fixed image with the intensity `u`. The map, a matrix and then a translation,
    /// takes the voxel to a position in voxels of `moving`; `None` if that is outside. The parameters are the twelve
    /// numbers of the map: the three rows of the matrix, each followed by its component of the translation.
    pub fn of(u: f64, voxel: DVec3, (matrix, translation): (DMat3, DVec3), moving: &Samples) -> Option<Self> {
        let position = matrix * voxel + translation;
        let v = moving.value(position)?;
        let axes = [DVec3::X, DVec3::Y, DVec3::Z];
        let slope = axes.into_iter().flat_map(|axis| {
            let slope = moving.linear_slope(position, axis);
            voxel.extend(1.0).to_array().map(|place| slope * place)
        });
        Some(Self { u, v, slope: slope.collect() })
    }
}

/// Standard deviations of the windows of u and of v, and of the joint window along u and v.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Deviations {
    pub u: f64,
    pub v: f64,
    pub joint: [f64; 2],
}

/// The entropies h(u), h(v) and h(u, v) by eq. 5, and the mutual information by eq. 6, in nats.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Viola {
    pub fixed_entropy: f64,
    pub moving_entropy: f64,
    pub joint_entropy: f64,
    pub mi: f64,
}

impl Viola {
    /// Algorithm 1: the densities are estimated from the samples `a` and evaluated at the samples `b`. Neither set may
    /// be empty.
    pub fn of(a: &[Sample], b: &[Sample], deviations: &Deviations) -> Self {
        let entropy = |density: &dyn Fn(&Sample, &Sample) -> f64| {
            let logarithm = |i| (a.iter().map(|j| density(i, j)).sum::<f64>() / a.len() as f64).ln();
            -b.iter().map(logarithm).sum::<f64>() / b.len() as f64
        };
        let fixed_entropy = entropy(&|i, j| gaussian(i.u - j.u, deviations.u));
        let moving_entropy = entropy(&|i, j| gaussian(i.v - j.v, deviations.v));
        let joint_entropy = entropy(&|i, j| deviations.joint_density(i, j));
        Self { fixed_entropy, moving_entropy, joint_entropy, mi: fixed_entropy + moving_entropy - joint_entropy }
    }
}

/// The derivative of [`Viola::mi`] by each parameter. This is algorithm 2, but with separate variances for both weights
/// of eq. 8, as in that equation. Each sample must have a slope for every parameter.
pub fn viola_derivative(a: &[Sample], b: &[Sample], deviations: &Deviations) -> Vec<f64> {
    let mut derivative = vec![0.0; b[0].slope.len()];
    for i in b {
        let sum_v: f64 = a.iter().map(|k| gaussian(i.v - k.v, deviations.v)).sum();
        let sum_uv: f64 = a.iter().map(|k| deviations.joint_density(i, k)).sum();
        for j in a {
            let of_v = gaussian(i.v - j.v, deviations.v) / sum_v;
            let of_uv = deviations.joint_density(i, j) / sum_uv;
            let weight = of_v / deviations.v.powi(2) - of_uv / deviations.joint[1].powi(2);
            for (sum, (slope_i, slope_j)) in derivative.iter_mut().zip(i.slope.iter().zip(&j.slope)) {
                *sum += (i.v - j.v) * weight * (slope_i - slope_j) / b.len() as f64;
            }
        }
    }
    derivative
}

impl Deviations {
    /// The joint window, without correlation.
    fn joint_density(&self, i: &Sample, j: &Sample) -> f64 {
        gaussian(i.u - j.u, self.joint[0]) * gaussian(i.v - j.v, self.joint[1])
    }
}

fn gaussian(difference: f64, deviation: f64) -> f64 {
    (-0.5 * (difference / deviation).powi(2)).exp() / ((2.0 * std::f64::consts::PI).sqrt() * deviation)
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    fn sample(n: usize, of: usize, at: f64) -> Sample {
        let random = |salt: usize| ((n * 7919 + of * 104_729 + salt * 31) % 997) as f64 / 997.0;
        let slope = vec![10.0 * random(3), random(4) - 0.5];
        let v = 30.0 * random(2) + at * slope[1];
        Sample { u: 20.0 * random(1) + 0.5 * v, v, slope }
    }

    #[test]
    fn one_pair_of_samples_by_hand() {
        let at = |u: f64, v: f64| Sample { u, v, slope: vec![] };
        let found = Viola::of(&[at(0.0, 0.0)], &[at(2.0, 3.0)], &Deviations { u: 2.0, v: 1.0, joint: [4.0, 3.0] });
        let ln = |sigma: f64| (std::f64::consts::TAU.sqrt() * sigma).ln();
        assert_relative_eq!(found.fixed_entropy, 0.5 + ln(2.0), max_relative = 1e-14);
        assert_relative_eq!(found.moving_entropy, 4.5 + ln(1.0), max_relative = 1e-14);
        assert_relative_eq!(found.joint_entropy, 0.125 + 0.5 + ln(4.0) + ln(3.0), max_relative = 1e-14);
    }

    #[test]
    fn the_derivative_is_that_of_the_value() {
        for joint in [[5.0, 4.0], [8.0, 2.5]] {
            let deviations = Deviations { u: 5.0, v: 4.0, joint };
            let set = |of: usize, at: f64| (0..40 + of).map(|n| sample(n, of, at)).collect::<Vec<_>>();
            // In `sample`, u depends on v. Here u is held constant.
            let moved = |of: usize, at: f64| {
                let still = set(of, 0.0);
                set(of, at)
                    .into_iter()
                    .zip(still)
                    .map(|(moved, still)| Sample { u: still.u, ..moved })
                    .collect::<Vec<_>>()
            };
            let value = |at: f64| Viola::of(&moved(0, at), &moved(7, at), &deviations).mi;
            let found = viola_derivative(&set(0, 0.0), &set(7, 0.0), &deviations)[1];
            assert_relative_eq!(found, (value(1e-4) - value(-1e-4)) / 2e-4, max_relative = 1e-7);
        }
    }
}
