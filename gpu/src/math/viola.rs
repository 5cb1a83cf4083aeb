//! Viola's mutual information from Gaussian windows over pairs of samples (Lin & Medioni, algorithm 1, eq. 4 to 6) and its derivative
//! (algorithm 2, eq. 7 to 10).
//!
//! Intensities are scaled so that a window is [`gauss::window`] of their difference. A sample outside the moving image is moved
//! [`FAR`] away, where it adds [`gauss::LEAST`] to a sum; each set A and B is filled up with such samples to whole chunks.
//!
//! Equation 6 as printed makes the joint density a product of two windows, and so does [`Joint::Product`]. In line 15 of algorithm 2 as
//! printed one variance divides both weights of equation 8, which holds for that case alone; here each has its own.
//!
//! Order of sums. Over a set: [`CHUNK`] samples one after the other in f32; [`SEGMENT`] such sums one after the other in f64;
//! [`STRETCH`] segments one after the other; then the stretches. Of numbers that each sample has one of: 32 in a row by
//! [`fold`](super::entropy::fold), then those one after the other.

use super::apart::{Any, Windows};
use super::gauss;
#[cfg(target_arch = "nvptx64")]
use cuda_std::GpuFloat;

/// Samples of a sum in f32.
pub const CHUNK: usize = 64;
/// Chunks of a sum in f64.
pub const SEGMENT: usize = 8;
/// Segments of the next.
pub const STRETCH: usize = 16;

/// Where a sample lies that is not to count, in scaled intensities.
pub const FAR: f32 = 1e6;

/// A sample's fixed and moving intensity, scaled.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Scaled {
    pub u: f32,
    pub v: f32,
}

/// The window of the joint density.
pub trait Joint: Copy {
    /// Two numbers whose product it is, from the differences of both intensities and their windows.
    fn factors(self, d: Scaled, g: Scaled) -> [f32; 2];

    /// How a pair of samples weighs in eq. 7, with the other sign: the joint window and that of v, each times its weight.
    fn weight(self, d: Scaled, g: Scaled, weights: Weights) -> f32;
}

/// The product of both windows, as line 9 of algorithm 1 has it.
#[derive(Debug, Clone, Copy)]
pub struct Product;

/// A Gaussian of its own: what its scales, squared, are to those of the windows.
#[derive(Debug, Clone, Copy)]
pub struct Own {
    pub u: f32,
    pub v: f32,
}

impl Joint for Product {
    #[inline(always)]
    fn factors(self, _: Scaled, g: Scaled) -> [f32; 2] {
        [g.u, g.v]
    }

    #[inline(always)]
    fn weight(self, _: Scaled, g: Scaled, weights: Weights) -> f32 {
        g.v * g.u.mul_add(weights.joint, -weights.v)
    }
}

impl Joint for Own {
    #[inline(always)]
    fn factors(self, d: Scaled, _: Scaled) -> [f32; 2] {
        [gauss::window_of_square((d.u * d.u).mul_add(self.u, d.v * d.v * self.v)), 1.0]
    }

    #[inline(always)]
    fn weight(self, d: Scaled, g: Scaled, weights: Weights) -> f32 {
        self.factors(d, g)[0].mul_add(weights.joint, -(g.v * weights.v))
    }
}

/// What a sample of B sums over A (lines 7 to 9 of algorithm 1), and the same times the difference of moving intensities.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Sums<T> {
    pub u: T,
    pub v: T,
    pub joint: T,
    pub slope_v: T,
    pub slope_joint: T,
}

impl Sums<f32> {
    /// With one more sample of A, `i` being that of B. Without `SLOPE` the last two stay.
    #[inline(always)]
    pub fn add<const SLOPE: bool>(&mut self, i: Scaled, j: Scaled, joint: impl Joint) {
        self.add_by::<SLOPE, Any>(i, j, joint, 0);
    }

    /// The same with windows by other means, for the pair with the number `turn` in a row.
    #[inline(always)]
    pub fn add_by<const SLOPE: bool, W: Windows>(&mut self, i: Scaled, j: Scaled, joint: impl Joint, turn: u32) {
        let d = Scaled { u: i.u - j.u, v: i.v - j.v };
        let g = Scaled { u: W::u(d.u, turn), v: W::v(d.v, turn) };
        let [a, b] = joint.factors(d, g);
        self.u += g.u;
        self.v += g.v;
        self.joint = a.mul_add(b, self.joint);
        if SLOPE {
            self.slope_v = d.v.mul_add(g.v, self.slope_v);
            self.slope_joint = (d.v * a).mul_add(b, self.slope_joint);
        }
    }
}

/// The reciprocals of a sample's sums that its weights in eq. 9 and 10 have: 1 / A_v and, times what the joint window's squared scale is to
/// that of v, 1 / A_uv; both 0 for a sample that does not count.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Weights {
    pub v: f32,
    pub joint: f32,
}

/// `sum` with what a sample j of A gets from a sample i of B (line 17 of algorithm 2): (v_j - v_i) W(i, j), scaled.
#[inline(always)]
pub fn pull(sum: f32, i: Scaled, weights: Weights, j: Scaled, joint: impl Joint) -> f32 {
    pull_by::<Any>(sum, i, weights, j, joint, 0)
}

/// The same with windows by other means, for the pair with the number `turn` in a row.
#[inline(always)]
pub fn pull_by<W: Windows>(sum: f32, i: Scaled, weights: Weights, j: Scaled, joint: impl Joint, turn: u32) -> f32 {
    let d = Scaled { u: i.u - j.u, v: i.v - j.v };
    let g = Scaled { u: W::u(d.u, turn), v: W::v(d.v, turn) };
    d.v.mul_add(joint.weight(d, g, weights), sum)
}
