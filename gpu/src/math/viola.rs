//! Viola's mutual information from Gaussian windows over pairs of samples (Lin & Medioni, algorithm 1, eq. 4 to 6) and its derivative
//! (algorithm 2, eq. 7 to 10).
//!
//! Intensities are scaled so that a window is [`gauss::window`] of their difference. A sample outside the moving image is moved
//! [`far`] away, where it adds [`gauss::LEAST`] to a sum; each set A and B is filled up with such samples to whole chunks.
//!
//! Equation 6 as printed makes the joint density a product of two windows, and so does [`Product`]. In line 15 of algorithm 2 as
//! printed one variance divides both weights of equation 8, which holds for that case alone; here each has its own.
//!
//! Order of sums, each of which starts at 0. Over a set: [`CHUNK`] samples one after the other in f32; [`SEGMENT`] such sums one after
//! the other in f64; [`STRETCH`] segments one after the other; then the stretches. Of numbers that each sample has one of: 32 in a row
//! by [`fold`](super::entropy::fold), then those one after the other; those of the derivative through B and then on through A.

use super::apart::{Any, Windows};
use super::{bin, gauss, log};
#[cfg(target_arch = "nvptx64")]
use cuda_std::GpuFloat;

/// Samples of a sum in f32.
pub const CHUNK: usize = 64;
/// Chunks of a sum in f64.
pub const SEGMENT: usize = 8;
/// Segments of the next.
pub const STRETCH: usize = 16;

/// What stored values are multiplied by for windows of this standard deviation, in stored values.
#[inline(always)]
pub fn scale(sigma: f64) -> f32 {
    (gauss::SCALE / sigma) as f32
}

/// How many times wider than the windows of u and v that of the joint density may be.
pub const WIDEST: f64 = 8.0;

/// Where a sample lies that is not to count, scaled: as near as may be, because slopes take its distance times the least window.
#[inline(always)]
pub fn far(scale: f32) -> f32 {
    scale.mul_add(bin::FULL, WIDEST as f32 * 2.0 * gauss::REACH)
}

/// A sample's fixed and moving intensity, scaled.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Scaled {
    pub u: f32,
    pub v: f32,
}

/// A sample's stored values, scaled, or [`far`] away where it is not `inside`.
#[inline(always)]
pub fn scaled(values: [f32; 2], inside: bool, scales: Scaled) -> Scaled {
    let u = if inside { values[0] * scales.u } else { far(scales.u) };
    let v = if inside { values[1] * scales.v } else { far(scales.v) };
    Scaled { u, v }
}

/// The window of the joint density.
pub trait Joint: Copy {
    /// Two numbers whose product it is, from the differences of both intensities and their windows.
    fn factors(self, d: Scaled, g: Scaled) -> [f32; 2];

    /// What its squared scale along v is to that of the window of v.
    fn square(self) -> f32;

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
    fn square(self) -> f32 {
        1.0
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
    fn square(self) -> f32 {
        self.v
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

impl Sums<f64> {
    /// With the sums over more samples of A.
    #[inline(always)]
    pub fn plus(self, more: Self) -> Self {
        Self {
            u: self.u + more.u,
            v: self.v + more.v,
            joint: self.joint + more.joint,
            slope_v: self.slope_v + more.slope_v,
            slope_joint: self.slope_joint + more.slope_joint,
        }
    }

    /// What a sample of B inside adds to the outer sums (lines 10 to 12 of algorithm 1), for u, v and both.
    #[inline(always)]
    pub fn logarithms(self) -> [f64; 3] {
        [log::of(self.u), log::of(self.v), log::of(self.joint)]
    }

    /// How the mutual information changes with v of this sample of B inside, less the factor in [`derivative`].
    #[inline(always)]
    pub fn coefficient(self, joint: impl Joint) -> f64 {
        self.slope_v / self.v - f64::from(joint.square()) * self.slope_joint / self.joint
    }

    /// For [`pull`], of a sample inside.
    #[inline(always)]
    pub fn weights(self, joint: impl Joint) -> Weights {
        let of_joint = f64::from(joint.square()) / self.joint;
        // So that nothing overflows, where no sample of A is near and the joint window is far narrower than that of v.
        const MOST: f64 = (1_u128 << 126) as f64;
        Weights { v: (1.0 / self.v) as f32, joint: (if of_joint < MOST { of_joint } else { MOST }) as f32 }
    }
}

impl From<Sums<f32>> for Sums<f64> {
    #[inline(always)]
    fn from(sums: Sums<f32>) -> Self {
        Self {
            u: sums.u.into(),
            v: sums.v.into(),
            joint: sums.joint.into(),
            slope_v: sums.slope_v.into(),
            slope_joint: sums.slope_joint.into(),
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

/// h(u), h(v), h(u, v) of eq. 5 and their mutual information, nats.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Entropies {
    pub fixed: f64,
    pub moving: f64,
    pub joint: f64,
    pub mi: f64,
}

/// From the outer sums and the numbers of samples of A and B inside; all 0 unless both sets have some. `norms` are minus the logarithms
/// of the three windows at their middle, as densities of stored values.
#[inline(always)]
pub fn finish(logarithms: [f64; 3], overlap: [u32; 2], norms: [f64; 3]) -> Entropies {
    let [a, b] = overlap;
    if a == 0 || b == 0 {
        return Entropies::default();
    }
    let (ln_a, b) = (log::ln(a), f64::from(b));
    let entropy = |i: usize| ln_a + norms[i] - logarithms[i] / b;
    let (fixed, moving, joint) = (entropy(0), entropy(1), entropy(2));
    Entropies { fixed, moving, joint, mi: fixed + moving - joint }
}

/// The derivative of the mutual information by a number of the map, from the sum of [`by_map`] over B and A: that of 2^-(s d)^2 by d is
/// -2 ln 2 s (s d) times itself. 0 unless both sets have samples inside.
#[inline(always)]
pub fn derivative(sum: f64, scale_v: f32, overlap: [u32; 2]) -> f64 {
    let [a, b] = overlap;
    let factor = 2.0 * core::f64::consts::LN_2 * f64::from(scale_v) / f64::from(b);
    if a == 0 || b == 0 { 0.0 } else { sum * factor }
}

/// What a sample adds to the derivative by number `column` of row `row` of its map. `coefficient` is how the mutual
/// information changes with its v (0 outside), which changes by `slope` stored values a voxel along x, y and z of the moving image.
#[inline(always)]
pub fn by_map(coefficient: f64, slope: [f32; 3], voxel: [u32; 3], row: usize, column: usize) -> f64 {
    let place = if column < 3 { f64::from(voxel[column]) } else { 1.0 };
    coefficient * f64::from(slope[row]) * place
}
