//! From a joint histogram to mutual information, or its normalised form, and the tables that [`flow::score`](super::flow::score) reads.
//!
//! Counts are smoothed by a Gaussian window along both sides and divided by their number: the joint density P(f, m). The score of a pair of
//! intensities is the derivative by m of ln P(f, m) - ln P(m) for mutual information (Chefd'hotel 2002, after Hermosillo), of
//! NMI ln P(f, m) - ln P(m) for its normalised form. The information at f is the mean of the score's square over P(m | f).
//!
//! Sums over f for each m and over either image's bins are in the order of [`entropy`](super::entropy), sums over m for each f one after
//! the other.

use super::log;

/// What is added to densities, so that their logarithms are finite.
const FLOOR: f64 = 1e-9;

/// What smoothed counts are multiplied by to be a density, for so many counts in all.
#[inline(always)]
pub fn scale(total: u64) -> f64 {
    if total == 0 { 0.0 } else { 1.0 / total as f64 }
}

/// The logarithm of a density.
#[inline(always)]
pub fn logarithm(density: f64) -> f64 {
    log::of(density + FLOOR)
}

/// The bin `offset` beyond another one, less `reach`; mirrored at both ends of the table. `reach` is at most `bins`.
#[inline(always)]
pub fn neighbour(bin: u32, offset: u32, reach: u32, bins: u32) -> u32 {
    let i = bin as i32 + offset as i32 - reach as i32;
    let last = bins as i32 - 1;
    let i = if i < 0 { -1 - i } else { i };
    (if i > last { 2 * last + 1 - i } else { i }) as u32
}

/// The bins between which a derivative at `m` is taken: one-sided at the ends.
#[inline(always)]
pub fn around(m: u32, bins: u32) -> [u32; 2] {
    [m.saturating_sub(1), if m + 1 < bins { m + 1 } else { bins - 1 }]
}

/// The score between the bins [`around`] m, of the logarithms there: the joint density's and the moving image's. `share`: see [`Value`].
#[inline(always)]
pub fn score([low, high]: [u32; 2], joint: [f64; 2], moving: [f64; 2], share: f64) -> f64 {
    let part = if high - low == 2 { 0.5 } else { 1.0 };
    part * (share * (joint[1] - joint[0]) - (moving[1] - moving[0]))
}

/// The information at f: of the sum over m of squared scores, each times the joint density, and the fixed image's density.
#[inline(always)]
pub fn information(squares: f64, fixed: f64) -> f32 {
    (squares / (fixed + FLOOR)) as f32
}

/// What a joint density says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Value {
    /// What is climbed.
    pub value: f64,
    /// Mutual information, nats.
    pub nats: f64,
    /// What the joint logarithm counts in a score.
    pub share: f64,
}

impl Value {
    /// Of the sums of density times logarithm over the fixed image's, the moving image's and the joint density; 0 where nothing was counted.
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
