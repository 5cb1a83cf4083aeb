//! Shortcuts for Gaussian windows where all fixed intensities of two sets of samples lie near each other, or far apart. The bits are
//! those of [`super::viola`] without them.

use super::gauss::{self, LEAST};
use super::viola::{CHUNK, Joint, Own, Product, Scaled, Sums, Weights};
#[cfg(target_arch = "nvptx64")]
use cuda_std::GpuFloat;

/// How windows are computed.
pub trait Windows {
    /// That of a difference of fixed intensities, of the pair with the number `turn` in a row.
    fn u(d: f32, turn: u32) -> f32;

    /// That of a difference of moving intensities.
    fn v(d: f32, turn: u32) -> f32;

    /// The same where there is no other one to compute.
    #[inline(always)]
    fn v_alone(d: f32, turn: u32) -> f32 {
        Self::v(d, turn)
    }
}

/// Of any pair.
#[derive(Debug, Clone, Copy)]
pub struct Any;

/// Of fixed intensities within [`gauss::REACH`].
#[derive(Debug, Clone, Copy)]
pub struct Near;

/// By a GPU's special-function unit and, so that no unit waits for another, some by the polynomial.
#[derive(Debug, Clone, Copy)]
pub struct Fast;

impl Windows for Any {
    #[inline(always)]
    fn u(d: f32, _: u32) -> f32 {
        gauss::window(d)
    }

    #[inline(always)]
    fn v(d: f32, _: u32) -> f32 {
        gauss::window(d)
    }
}

impl Windows for Near {
    #[inline(always)]
    fn u(d: f32, _: u32) -> f32 {
        gauss::window_within(d)
    }

    #[inline(always)]
    fn v(d: f32, _: u32) -> f32 {
        gauss::window(d)
    }
}

impl Windows for Fast {
    #[inline(always)]
    fn u(d: f32, turn: u32) -> f32 {
        if turn.is_multiple_of(4) { gauss::window(d) } else { gauss::about(d) }
    }

    #[inline(always)]
    fn v(d: f32, _: u32) -> f32 {
        gauss::about(d)
    }

    #[inline(always)]
    fn v_alone(d: f32, turn: u32) -> f32 {
        Self::u(d, turn)
    }
}

/// The joint window where both it and that of u are at their least.
pub trait Far: Joint {
    /// Its sum over a chunk, and the same times the difference of moving intensities, from what the chunk sums of v.
    fn sums(self, of_v: OfV) -> [f32; 2];

    /// [`Joint::weight`] there.
    fn far_weight(self, window_of_v: f32, weights: Weights) -> f32;
}

impl Far for Product {
    #[inline(always)]
    fn sums(self, of_v: OfV) -> [f32; 2] {
        [LEAST * of_v.window, LEAST * of_v.slope]
    }

    #[inline(always)]
    fn far_weight(self, window_of_v: f32, weights: Weights) -> f32 {
        window_of_v * LEAST.mul_add(weights.joint, -weights.v)
    }
}

impl Far for Own {
    #[inline(always)]
    fn sums(self, of_v: OfV) -> [f32; 2] {
        [LEAST * LEAST * CHUNK as f32, LEAST * LEAST * of_v.difference]
    }

    #[inline(always)]
    fn far_weight(self, window_of_v: f32, weights: Weights) -> f32 {
        (LEAST * LEAST).mul_add(weights.joint, -(window_of_v * weights.v))
    }
}

/// What a far chunk sums: windows of v, differences of v times their windows, and differences of v.
#[derive(Debug, Clone, Copy, Default)]
pub struct OfV {
    window: f32,
    slope: f32,
    difference: f32,
}

impl OfV {
    /// With one more sample.
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

    /// What [`Sums::add`] would have summed over the whole chunk: multiplying by a power of two commutes with rounding.
    #[inline(always)]
    pub fn all(self, joint: impl Far) -> Sums<f32> {
        let [sum, slope_joint] = joint.sums(self);
        Sums { u: LEAST * CHUNK as f32, v: self.window, joint: sum, slope_v: self.slope, slope_joint }
    }
}

/// [`pull`](super::viola::pull) there.
#[inline(always)]
pub fn far_pull<W: Windows>(sum: f32, i: Scaled, weights: Weights, j: Scaled, joint: impl Far, turn: u32) -> f32 {
    let d = i.v - j.v;
    d.mul_add(joint.far_weight(W::v_alone(d, turn), weights), sum)
}

/// How far apart two sets lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Apart {
    Near,
    Far,
    Neither,
}

impl Apart {
    /// From the least and the greatest fixed intensity of both, scaled, and the distance at which the joint window is at its least too.
    #[inline(always)]
    pub fn of(one: [f32; 2], other: [f32; 2], far: f32) -> Self {
        let (above, below) = (one[0] - other[1], other[0] - one[1]);
        let (most, least) = (-(if above < below { above } else { below }), if above > below { above } else { below });
        // Rounding is monotonic, so that what holds for the ends holds for all differences.
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
    use super::super::viola::pull;
    use super::*;

    /// Samples whose fixed intensities begin at `u` and lie close together, some of them outside.
    fn samples(u: f32, seed: u32) -> Vec<Scaled> {
        let part = |n: u32| (n.wrapping_mul(2_654_435_761) >> 8) as f32 / (1 << 24) as f32;
        let one = |n: u32| Scaled { u: u + 2.0 * part(n ^ seed), v: 20.0 * part(n.wrapping_add(seed)) };
        let outside = Scaled { u: 1e4, v: 1e4 };
        (0..CHUNK as u32).map(|n| if u > 0.0 && n % 9 == 4 { outside } else { one(n) }).collect()
    }

    fn check(joint: impl Far) {
        let at = samples(0.0, 7);
        for (distance, expected) in [(0.0, Apart::Near), (5.0, Apart::Neither), (30.0, Apart::Far)] {
            let chunk = samples(distance, 3);
            let ends = |samples: &[Scaled]| {
                let u = samples.iter().map(|sample| sample.u);
                [u.clone().fold(f32::INFINITY, f32::min), u.fold(0.0, f32::max)]
            };
            assert_eq!(Apart::of(ends(&at), ends(&chunk), 20.0), expected);
            assert_eq!(Apart::of(ends(&chunk), ends(&at), 20.0), expected);
            for &i in &at {
                let (mut sums, mut near, mut far) = (Sums::default(), Sums::default(), OfV::default());
                let weights = Weights { v: 0.3, joint: 1e9 };
                let mut pulls = [0.0; 3];
                for &j in &chunk {
                    sums.add::<true>(i, j, joint);
                    near.add_by::<true, Near>(i, j, joint, 0);
                    far.add::<true, Any>(i, j, 0);
                    pulls[0] = pull(pulls[0], j, weights, i, joint);
                    pulls[1] = super::super::viola::pull_by::<Near>(pulls[1], j, weights, i, joint, 0);
                    pulls[2] = far_pull::<Any>(pulls[2], j, weights, i, joint, 0);
                }
                match expected {
                    Apart::Near => assert_eq!((near, pulls[1]), (sums, pulls[0])),
                    Apart::Far => assert_eq!((far.all(joint), pulls[2]), (sums, pulls[0])),
                    Apart::Neither => (),
                }
            }
        }
    }

    #[test]
    fn shortcuts_have_the_same_bits() {
        check(Product);
        check(Own { u: 0.5, v: 0.7 });
    }
}
