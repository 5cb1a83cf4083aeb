//! Computes mutual information, or its normalised form, and the tables that [`flow::score`](super::flow::score) reads,
//! from a joint histogram.
//!
//! The counts are smoothed by a Gaussian window along both axes and divided by their sum, which gives the joint density
//! P(f, m). For mutual information, the score of a pair of intensities is the derivative by m of ln P(f, m) - ln P(m)
//! (Chefd'hotel 2002, after Hermosillo); for its normalised form, it is that of NMI ln P(f, m) - ln P(m). The
//! information at f is the mean of the squared score over P(m | f).
//!
//! Sums over f for each m, and over either image's bins, have the order of [`entropy`](super::entropy). Sums over m for
//! each f are taken one after the other.

use super::log;

/// Added to densities, so that their logarithms are finite.
const FLOOR: f64 = 1e-9;

/// Returns the factor that turns smoothed counts into a density; `total` is the sum of all counts.
#[inline(always)]
pub fn scale(total: u64) -> f64 {
    if total == 0 { 0.0 } else { 1.0 / total as f64 }
}

/// Returns the logarithm of a density.
#[inline(always)]
pub fn logarithm(density: f64) -> f64 {
    log::of(density + FLOOR)
}

/// Returns the bin `bin + offset - reach`, mirrored at both ends of the table. `reach` is at most `bins`.
#[inline(always)]
pub fn neighbour(bin: u32, offset: u32, reach: u32, bins: u32) -> u32 {
    let i = bin as i32 + offset as i32 - reach as i32;
    let last = bins as i32 - 1;
    let i = if i < 0 { -1 - i } else { i };
    (if i > last { 2 * last + 1 - i } else { i }) as u32
}

/// Returns the two bins whose difference gives the derivative at `m`, which is one-sided at the ends.
#[inline(always)]
pub fn around(m: u32, bins: u32) -> [u32; 2] {
    [m.saturating_sub(1), if m + 1 < bins { m + 1 } else { bins - 1 }]
}

/// Returns the score at m, from the logarithms of the joint density and of the moving image's density at the two bins
/// [`around`] m. `share` is [`Value::share`].
#[inline(always)]
pub fn score([low, high]: [u32; 2], joint: [f64; 2], moving: [f64; 2], share: f64) -> f64 {
    let part = if high - low == 2 { 0.5 } else { 1.0 };
    part * (share * (joint[1] - joint[0]) - (moving[1] - moving[0]))
}

/// Returns the information at f, from the sum over m of squared scores times the joint density, and from the fixed
/// image's density at f.
#[inline(always)]
pub fn information(squares: f64, fixed: f64) -> f32 {
    (squares / (fixed + FLOOR)) as f32
}

/// The value of the metric for a joint density.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Value {
    /// The value that the forces maximise: mutual information in nats, or its normalised form.
    pub value: f64,
    /// Mutual information, nats.
    pub nats: f64,
    /// The factor of the joint density's logarithm in a score: 1, or the normalised mutual information.
    pub share: f64,
}

impl Value {
    /// Computes the value from the sums of density times logarithm, over the fixed image's, the moving image's and the
    /// joint density. All is 0 if nothing was counted.
    #[inline(always)]
    pub fn new([fixed, moving, joint]: [f64; 3], normalised: bool, total: u64) -> Self {
        if total == 0 {
            return Self { value: 0.0, nats: 0.0, share: 0.0 };
        }
        let (marginal, both) = (-fixed - moving, -joint);
        let nats = marginal - both;
        if normalised {
            let ratio = marginal / both;
            return Self { value: ratio, nats, share: ratio };
        }
        Self { value: nats, nats, share: 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::{around, neighbour};

    #[test]
    fn bins_beyond_the_ends_are_mirrored() {
        let at = |bin, offset| neighbour(bin, offset, 3, 5);
        assert_eq!([at(0, 0), at(0, 2), at(0, 3), at(2, 4), at(4, 3), at(4, 4), at(4, 6)], [2, 0, 0, 3, 4, 4, 2]);
        assert_eq!([around(0, 5), around(2, 5), around(4, 5)], [[0, 1], [1, 3], [3, 4]]);
    }
}
