//! Three ways to compute the Gaussian windows of a pair of samples: [`gauss::window`] for any pair, a shorter one with
//! the same bits for pairs whose fixed intensities are near each other, and an approximate one.

use super::gauss;

/// A way to compute the windows of the fixed intensities u and the moving intensities v.
pub trait Windows {
    /// Returns the window of a scaled difference `d` of fixed intensities. `turn` is the number of the pair among those
    /// that a thread computes in a row.
    fn u(d: f32, turn: u32) -> f32;

    /// Returns the window of a scaled difference of moving intensities, for a pair whose window of u is computed as
    /// well.
    fn v(d: f32, turn: u32) -> f32;

    /// Returns the window of a scaled difference of moving intensities, for a pair whose window of u is not needed.
    #[inline(always)]
    fn v_alone(d: f32, turn: u32) -> f32 {
        Self::v(d, turn)
    }
}

/// Computes the windows of any pair.
#[derive(Debug, Clone, Copy)]
pub struct Any;

/// Computes the windows of pairs whose fixed intensities differ by at most [`gauss::REACH`], with the same bits as
/// [`Any`].
#[derive(Debug, Clone, Copy)]
pub struct Near;

/// Computes approximate windows, whose bits depend on the GPU. Most are computed by its special-function units and some
/// by the polynomial, so that both kinds of units are busy.
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
