//! Viola's mutual information, estimated by Gaussian windows over all pairs of samples, one of a set A and one of a set
//! B (Lin & Medioni, algorithm 1, eq. 4 to 6), and its derivative (algorithm 2, eq. 7 to 10). A sample has the fixed
//! intensity u and the moving intensity v.
//!
//! Intensities are scaled so that a window is [`gauss::window`] of their difference. A sample outside the moving image
//! gets intensities that are [`far`] away, so that it adds only [`gauss::LEAST`] to a sum. A and B are filled up with
//! such samples to whole chunks.
//!
//! In equation 6 as printed, the joint window is the product of the two windows; [`Product`] does the same. In line 15
//! of algorithm 2 as printed, one variance divides both weights of equation 8, which is valid in that case only. Here
//! each window has its own variance.
//!
//! The order of every sum is fixed. A sum over a set is taken in four stages: the samples of a chunk are added in f32,
//! the chunks of a segment in f64, the segments of a stretch, and all stretches. Each stage starts at 0 and adds its
//! terms one after the other. A sum of one number per sample folds each 32 consecutive numbers
//! ([`fold`](super::entropy::fold)) and then adds the results one after the other. For the derivative, this sum runs
//! over B and then over A.

use super::windows::{Any, Windows};
use super::{bin, gauss, log};
#[cfg(target_arch = "nvptx64")]
use cuda_std::GpuFloat;

/// Samples of a chunk, which are summed in f32.
pub const SAMPLES_PER_CHUNK: usize = 64;
/// Chunks of a segment, whose sums are added in f64.
pub const CHUNKS_PER_SEGMENT: usize = 8;
/// Segments of a stretch, whose sums are then added.
pub const SEGMENTS_PER_STRETCH: usize = 16;

/// Returns the factor by which stored values are scaled, for windows with the standard deviation `sigma`, in stored
/// values.
#[inline(always)]
pub fn scale(sigma: f64) -> f32 {
    (gauss::SCALE / sigma) as f32
}

/// How many times wider than the windows of u and v the joint window may be.
pub const WIDEST: f64 = 8.0;

/// Returns the scaled intensity given to a sample that does not count. It is no farther away than necessary, because
/// the derivative contains the product of its distance and the least window.
#[inline(always)]
pub fn far(scale: f32) -> f32 {
    scale.mul_add(bin::FULL, WIDEST as f32 * 2.0 * gauss::REACH)
}

/// A pair of numbers, one for the fixed and one for the moving intensity: scaled intensities of a sample, their
/// differences, or their windows.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Scaled {
    /// For the fixed intensity.
    pub u: f32,
    /// For the moving intensity.
    pub v: f32,
}

/// Returns a sample's fixed and moving stored values times `scales`, or values that are [`far`] away if the sample is
/// not `inside` the moving image.
#[inline(always)]
pub fn scaled(values: [f32; 2], inside: bool, scales: Scaled) -> Scaled {
    let u = if inside { values[0] * scales.u } else { far(scales.u) };
    let v = if inside { values[1] * scales.v } else { far(scales.v) };
    Scaled { u, v }
}

/// The window of the joint density.
pub trait JointWindow: Copy {
    /// Returns two numbers whose product is the joint window, from the scaled differences `d` of both intensities and
    /// their windows `g`.
    fn factors(self, d: Scaled, g: Scaled) -> [f32; 2];

    /// Returns the squared scale of the joint window along v, divided by that of the window of v.
    fn square(self) -> f32;

    /// Returns the weight of a pair of samples in eq. 7, with the opposite sign: the joint window times
    /// `weights.joint`, minus the window of v times `weights.v`.
    fn weight(self, d: Scaled, g: Scaled, weights: Weights) -> f32;
}

/// The product of both windows, as line 9 of algorithm 1 has it.
#[derive(Debug, Clone, Copy)]
pub struct Product;

/// A joint window that is a Gaussian with its own standard deviations.
#[derive(Debug, Clone, Copy)]
pub struct JointGaussian {
    /// Its squared scale along u, divided by that of the window of u.
    pub u: f32,
    /// Its squared scale along v, divided by that of the window of v.
    pub v: f32,
}

impl JointWindow for Product {
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

impl JointWindow for JointGaussian {
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

/// The sums over A for a sample of B (lines 7 to 9 of algorithm 1).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Sums<T> {
    /// The sum of the windows of u: A_u.
    pub u: T,
    /// The sum of the windows of v: A_v.
    pub v: T,
    /// The sum of the joint windows: A_uv.
    pub joint: T,
    /// The sum of the windows of v times the scaled differences of moving intensities.
    pub slope_v: T,
    /// The sum of the joint windows times the scaled differences of moving intensities.
    pub slope_joint: T,
}

impl Sums<f32> {
    /// Adds sample `j` of A for sample `i` of B. Without `SLOPE` the two sums of the derivative stay as they are.
    #[inline(always)]
    pub fn add<const SLOPE: bool>(&mut self, i: Scaled, j: Scaled, joint: impl JointWindow) {
        self.add_by::<SLOPE, Any>(i, j, joint, 0);
    }

    /// [`add`](Self::add) with windows computed as `W` says. `turn` is the number of the pair among those that a thread
    /// computes in a row.
    #[inline(always)]
    pub fn add_by<const SLOPE: bool, W: Windows>(&mut self, i: Scaled, j: Scaled, joint: impl JointWindow, turn: u32) {
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
    /// Adds the sums over more samples of A.
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

    /// Returns what a sample of B inside the moving image adds to the outer sums (lines 10 to 12 of algorithm 1): ln
    /// A_u, ln A_v and ln A_uv.
    #[inline(always)]
    pub fn logarithms(self) -> [f64; 3] {
        [log::of(self.u), log::of(self.v), log::of(self.joint)]
    }

    /// Returns the derivative of the mutual information by the intensity v of this sample of B, which is inside,
    /// without the factor that [`derivative`] applies.
    #[inline(always)]
    pub fn coefficient(self, joint: impl JointWindow) -> f64 {
        self.slope_v / self.v - f64::from(joint.square()) * self.slope_joint / self.joint
    }

    /// Returns the [`Weights`] of a sample inside, for [`add_derivative`].
    #[inline(always)]
    pub fn weights(self, joint: impl JointWindow) -> Weights {
        let of_joint = f64::from(joint.square()) / self.joint;
        // Limited, so that nothing overflows if no sample of A is near and the joint window is far narrower than that
        // of v.
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

/// The reciprocals of a sample's sums in eq. 9 and 10; both 0 for a sample that does not count.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Weights {
    /// 1 / A_v.
    pub v: f32,
    /// [`JointWindow::square`] / A_uv.
    pub joint: f32,
}

/// Adds to `sum` what a sample i of B contributes to the derivative by v of a sample j of A (line 17 of algorithm 2): the scaled
/// (v_j - v_i) W(i, j).
#[inline(always)]
pub fn add_derivative(sum: f32, i: Scaled, weights: Weights, j: Scaled, joint: impl JointWindow) -> f32 {
    add_derivative_by::<Any>(sum, i, weights, j, joint, 0)
}

/// [`add_derivative`] with windows computed as `W` says. `turn` is the number of the pair among those that a thread
/// computes in a row.
#[inline(always)]
pub fn add_derivative_by<W: Windows>(
    sum: f32,
    i: Scaled,
    weights: Weights,
    j: Scaled,
    joint: impl JointWindow,
    turn: u32,
) -> f32 {
    let d = Scaled { u: i.u - j.u, v: i.v - j.v };
    let g = Scaled { u: W::u(d.u, turn), v: W::v(d.v, turn) };
    d.v.mul_add(joint.weight(d, g, weights), sum)
}

/// The entropies of eq. 5 and their mutual information, in nats.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Entropies {
    /// h(u).
    pub fixed: f64,
    /// h(v).
    pub moving: f64,
    /// h(u, v).
    pub joint: f64,
    /// h(u) + h(v) - h(u, v).
    pub mi: f64,
}

/// Computes the entropies from the outer sums of [`Sums::logarithms`] and the numbers of samples of A and B inside
/// (`overlap`). All are 0 unless both sets have samples inside. `norms` are the negative logarithms of the three
/// windows at their centre, as densities of stored values.
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

/// Returns the derivative of the mutual information by a coefficient of the map, from the sum of [`by_map`] over B and
/// A; 0 unless both sets have samples inside. The factor comes from the derivative of 2^-(s d)^2 by d, which is -2 ln 2
/// s (s d) times the function itself.
#[inline(always)]
pub fn derivative(sum: f64, scale_v: f32, overlap: [u32; 2]) -> f64 {
    let [a, b] = overlap;
    let factor = 2.0 * core::f64::consts::LN_2 * f64::from(scale_v) / f64::from(b);
    if a == 0 || b == 0 { 0.0 } else { sum * factor }
}

/// Returns what a sample adds to the derivative by the coefficient in this row and column of its map. `coefficient` is
/// the derivative of the mutual information by the sample's v (0 outside), `slope` is the gradient of the moving image
/// along x, y and z in stored values per voxel, and `voxel` is the sample's voxel of the fixed image.
#[inline(always)]
pub fn by_map(coefficient: f64, slope: [f32; 3], voxel: [u32; 3], row: usize, column: usize) -> f64 {
    let place = if column < 3 { f64::from(voxel[column]) } else { 1.0 };
    coefficient * f64::from(slope[row]) * place
}
