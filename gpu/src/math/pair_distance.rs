//! Shortcuts for the sums of [`super::viola`] over all pairs of two sets of samples: one if the fixed intensities of
//! every pair are near each other, one if those of every pair are far apart. The results have the same bits as without
//! the shortcuts.

use super::gauss::{self, LEAST};
use super::viola::{JointGaussian, JointWindow, Product, SAMPLES_PER_CHUNK, Scaled, Sums, Weights};
use super::windows::Windows;
#[cfg(target_arch = "nvptx64")]
use cuda_std::GpuFloat;

/// A joint window, evaluated for pairs whose fixed intensities are so far apart that both the joint window and the
/// window of u have their least value.
pub trait FarJointWindow: JointWindow {
    /// Returns the sum of the joint window over a chunk, and the sum of the joint window times the difference of moving
    /// intensities.
    fn sums(self, of_v: FarSums) -> [f32; 2];

    /// Returns [`JointWindow::weight`] of such a pair, from its window of v.
    fn far_weight(self, window_of_v: f32, weights: Weights) -> f32;
}

impl FarJointWindow for Product {
    #[inline(always)]
    fn sums(self, of_v: FarSums) -> [f32; 2] {
        [LEAST * of_v.window, LEAST * of_v.slope]
    }

    #[inline(always)]
    fn far_weight(self, window_of_v: f32, weights: Weights) -> f32 {
        window_of_v * LEAST.mul_add(weights.joint, -weights.v)
    }
}

impl FarJointWindow for JointGaussian {
    #[inline(always)]
    fn sums(self, of_v: FarSums) -> [f32; 2] {
        [LEAST * LEAST * SAMPLES_PER_CHUNK as f32, LEAST * LEAST * of_v.difference]
    }

    #[inline(always)]
    fn far_weight(self, window_of_v: f32, weights: Weights) -> f32 {
        (LEAST * LEAST).mul_add(weights.joint, -(window_of_v * weights.v))
    }
}

/// Sums over a far chunk: of the windows of v, of the differences of v times their windows, and of the differences of
/// v.
#[derive(Debug, Clone, Copy, Default)]
pub struct FarSums {
    window: f32,
    slope: f32,
    difference: f32,
}

impl FarSums {
    /// Adds sample `j` of the chunk for sample `i`. Without `SLOPE`, only the sum of the windows is needed.
    #[inline(always)]
    pub fn add<const SLOPE: bool, W: Windows>(&mut self, i: Scaled, j: Scaled, turn: u32) {
        let d = i.v - j.v;
        let window = W::v_alone(d, turn);
        self.window += window;
        if SLOPE {
            self.slope = d.mul_add(window, self.slope);
            self.difference += d;
        }
    }

    /// Returns the sums that [`Sums::add`] gives over the whole chunk. The bits are the same because the least window
    /// is a power of two, and multiplication by a power of two commutes with rounding.
    #[inline(always)]
    pub fn all(self, joint: impl FarJointWindow) -> Sums<f32> {
        let [sum, slope_joint] = joint.sums(self);
        Sums { u: LEAST * SAMPLES_PER_CHUNK as f32, v: self.window, joint: sum, slope_v: self.slope, slope_joint }
    }
}

/// [`add_derivative`](super::viola::add_derivative) for a far pair, with windows computed as `W` says.
#[inline(always)]
pub fn add_derivative_far<W: Windows>(
    sum: f32,
    i: Scaled,
    weights: Weights,
    j: Scaled,
    joint: impl FarJointWindow,
    turn: u32,
) -> f32 {
    let d = i.v - j.v;
    d.mul_add(joint.far_weight(W::v_alone(d, turn), weights), sum)
}

/// How far apart the fixed intensities of two sets of samples are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PairDistance {
    /// Those of all pairs differ by at most [`gauss::REACH`].
    Near,
    /// Those of all pairs differ so much that the windows of u and the joint windows have their least value.
    Far,
    /// Anything else.
    Neither,
}

impl PairDistance {
    /// Compares two sets by the least and the greatest scaled fixed intensity of each. `far` is the difference from
    /// which on the joint window has its least value, too.
    #[inline(always)]
    pub fn of(one: [f32; 2], other: [f32; 2], far: f32) -> Self {
        let (above, below) = (one[0] - other[1], other[0] - one[1]);
        let (most, least) = (-(if above < below { above } else { below }), if above > below { above } else { below });
        // Rounding is monotonic, so that what holds for the extreme values holds for all differences.
        if most <= gauss::REACH {
            Self::Near
        } else if least >= far {
            Self::Far
        } else {
            Self::Neither
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::viola::{add_derivative, add_derivative_by};
    use super::super::windows::{Any, Near};
    use super::*;

    /// Returns samples whose fixed intensities are in `u` to `u + 2`. If `u` is not 0, some of them are outside the
    /// moving image.
    fn samples(u: f32, seed: u32) -> Vec<Scaled> {
        let part = |n: u32| (n.wrapping_mul(2_654_435_761) >> 8) as f32 / (1 << 24) as f32;
        let one = |n: u32| Scaled { u: u + 2.0 * part(n ^ seed), v: 20.0 * part(n.wrapping_add(seed)) };
        let outside = Scaled { u: 1e4, v: 1e4 };
        (0..SAMPLES_PER_CHUNK as u32).map(|n| if u > 0.0 && n % 9 == 4 { outside } else { one(n) }).collect()
    }

    fn check(joint: impl FarJointWindow) {
        let at = samples(0.0, 7);
        for (distance, expected) in [(0.0, PairDistance::Near), (5.0, PairDistance::Neither), (30.0, PairDistance::Far)]
        {
            let chunk = samples(distance, 3);
            let ends = |samples: &[Scaled]| {
                let u = samples.iter().map(|sample| sample.u);
                [u.clone().fold(f32::INFINITY, f32::min), u.fold(0.0, f32::max)]
            };
            assert_eq!(PairDistance::of(ends(&at), ends(&chunk), 20.0), expected);
            assert_eq!(PairDistance::of(ends(&chunk), ends(&at), 20.0), expected);
            for &i in &at {
                let (mut sums, mut near, mut far) = (Sums::default(), Sums::default(), FarSums::default());
                let weights = Weights { v: 0.3, joint: 1e9 };
                let mut derivatives = [0.0; 3];
                for &j in &chunk {
                    sums.add::<true>(i, j, joint);
                    near.add_by::<true, Near>(i, j, joint, 0);
                    far.add::<true, Any>(i, j, 0);
                    derivatives[0] = add_derivative(derivatives[0], j, weights, i, joint);
                    derivatives[1] = add_derivative_by::<Near>(derivatives[1], j, weights, i, joint, 0);
                    derivatives[2] = add_derivative_far::<Any>(derivatives[2], j, weights, i, joint, 0);
                }
                match expected {
                    PairDistance::Near => assert_eq!((near, derivatives[1]), (sums, derivatives[0])),
                    PairDistance::Far => assert_eq!((far.all(joint), derivatives[2]), (sums, derivatives[0])),
                    PairDistance::Neither => (),
                }
            }
        }
    }

    #[test]
    fn shortcuts_have_the_same_bits() {
        check(Product);
        check(JointGaussian { u: 0.5, v: 0.7 });
    }
}
