//! The force that a voxel exerts on a displacement field, and the step that the field makes (Chefd'hotel 2002; Ledig & Chefd'hotel,
//! section 3.2).
//!
//! A metric gives, for the pair (f, m) of a voxel's intensities, a score N: how the logarithm of the metric's ratio changes with m. For
//! mutual information that is d/dm ln(P(f, m) / P(m)) of the smoothed joint density. Its variational gradient at the voxel is N times
//! the gradient of the moving image. Here it is divided by the information D that the metric has at f times the gradient's square, plus
//! a constant: the displacement that is most likely for the voxel alone, if before it was normally distributed.

use super::whole;
use super::{bin, field, interpolate};
use crate::params::Affine;
#[cfg(target_arch = "nvptx64")]
use cuda_std::GpuFloat;

/// Where a voxel of the fixed grid with this displacement lies in the moving image; no coordinate is a negative zero unless the map's
/// constant is.
#[inline(always)]
pub fn position(map: &Affine, voxel: [u32; 3], displacement: [f32; 3]) -> [f32; 3] {
    through(
        map,
        [voxel[0] as f32 + displacement[0], voxel[1] as f32 + displacement[1], voxel[2] as f32 + displacement[2]],
    )
}

/// A position of one grid in the other.
#[inline(always)]
pub fn through(map: &Affine, [x, y, z]: [f32; 3]) -> [f32; 3] {
    let row = |row: [f32; 4]| z.mul_add(row[2], y.mul_add(row[1], x.mul_add(row[0], row[3])));
    [row(map.rows[0]), row(map.rows[1]), row(map.rows[2])]
}

/// A gradient along the moving image's axes as one along the fixed grid's.
#[inline(always)]
pub fn pulled(map: &Affine, [x, y, z]: [f32; 3]) -> [f32; 3] {
    let [a, b, c] = map.rows;
    let column = |i: usize| z.mul_add(c[i], y.mul_add(b[i], x * a[i]));
    [column(0), column(1), column(2)]
}

/// The stored value of one of the two images in bins, as the bin below and how far it is above that; with `bins - 1` of the top of the
/// range in the last interval.
///
/// # Safety
/// `value` is between 0 and [`bin::FULL`], `scale` that of the bins, which are at least 2.
#[inline(always)]
pub unsafe fn interval(value: f32, bins: u32, scale: f32) -> (u32, f32) {
    let value = value * scale;
    let last = (bins - 2) as f32;
    // SAFETY: between 0 and the number of bins.
    let low = unsafe { whole::of(if value < last { value } else { last }) };
    (whole::bits(low), value - whole::float(low))
}

/// The score and the information of a pair of intensities from their tables: scores a fixed bin, fastest, and a moving bin; the
/// information a fixed bin. Both linear between bins.
///
/// # Safety
/// The tables may be read with any number below the product of the bins, or the fixed bins; values as for [`interval`].
#[inline(always)]
pub unsafe fn score(
    scores: impl Fn(u32) -> f32,
    information: impl Fn(u32) -> f32,
    bins: u32,
    [fixed, moving]: [f32; 2],
) -> Score {
    let scale = bin::scale(bins, bin::FULL);
    // SAFETY: as this function's.
    let ((f, into_f), (m, into_m)) = unsafe { (interval(fixed, bins, scale), interval(moving, bins, scale)) };
    let at = |f: u32, m: u32| scores(f + bins * m);
    let low = between(at(f, m), at(f + 1, m), into_f);
    let high = between(at(f, m + 1), at(f + 1, m + 1), into_f);
    Score { score: between(low, high, into_m), information: between(information(f), information(f + 1), into_f) }
}

#[inline(always)]
fn between(low: f32, high: f32, fraction: f32) -> f32 {
    fraction.mul_add(high - low, low)
}

/// How a metric changes with a voxel's moving intensity, and its information about it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    pub score: f32,
    pub information: f32,
}

/// How far a voxel alone would go, voxels: with the gradient in intensities a voxel, 1 / spacing^2 of each axis, and 1 / variance of the
/// displacement before anything is known, both mm^-2.
#[inline(always)]
pub fn pull(score: Score, gradient: [f32; 3], per_square: [f32; 3], prior: f32) -> [f32; 3] {
    let scaled = [gradient[0] * per_square[0], gradient[1] * per_square[1], gradient[2] * per_square[2]];
    let share = score.score / score.information.mul_add(field::dot(scaled, gradient), prior);
    [share * scaled[0], share * scaled[1], share * scaled[2]]
}

/// The local moments of a pair of images around a voxel, from means smoothed by a Gaussian window: of f, the variance of f, and of m, m^2
/// and f m. Intensities are fractions of the range.
#[derive(Debug, Clone, Copy)]
pub struct Moments {
    pub fixed: f32,
    pub fixed_variance: f32,
    pub moving: f32,
    pub moving_square: f32,
    pub product: f32,
}

/// What variances are at least, as of noise of 1 % of the range.
pub const NOISE: f32 = 1e-4;

/// What the squared correlation is at most.
const MOST: f32 = 0.999;

impl Moments {
    /// The squared local correlation, and the score of the local mutual information of two normal variables, -ln(1 - correlation^2) / 2,
    /// with its information, of a voxel's intensities.
    #[inline(always)]
    pub fn score(&self, [fixed, moving]: [f32; 2]) -> (f32, Score) {
        let fixed_variance = at_least(self.fixed_variance, 0.0) + NOISE;
        let moving_variance = at_least(variance(self.moving, self.moving_square), 0.0) + NOISE;
        let covariance = (-self.fixed).mul_add(self.moving, self.product);
        let correlation = covariance * covariance / (fixed_variance * moving_variance);
        let correlation = if correlation < MOST { correlation } else { MOST };
        let rest = moving_variance * (1.0 - correlation);
        let away = moving - self.moving;
        let expected = covariance / fixed_variance * (fixed - self.fixed);
        let score = (expected - away) / rest + away / moving_variance;
        (correlation, Score { score, information: correlation / rest })
    }
}

#[inline(always)]
fn at_least(value: f32, least: f32) -> f32 {
    if value > least { value } else { least }
}

/// What a step is multiplied by so that no voxel moves by more than `limit`, voxels, from the square of the largest move.
#[inline(always)]
pub fn limited(largest_square: f32, limit: f32) -> f32 {
    if largest_square > limit * limit { limit / largest_square.sqrt() } else { 1.0 }
}

/// The displacement of a voxel after a step: the step, then the field where it leads.
///
/// # Safety
/// As [`field::at`].
#[inline(always)]
pub unsafe fn composed(number: impl Fn(usize) -> f32, size: [u32; 3], voxel: [u32; 3], step: [f32; 3]) -> [f32; 3] {
    let to = [voxel[0] as f32 + step[0], voxel[1] as f32 + step[1], voxel[2] as f32 + step[2]];
    // SAFETY: as this function's.
    let there = unsafe { field::at(number, size, to) };
    [step[0] + there[0], step[1] + there[1], step[2] + there[2]]
}

/// A displacement on a new grid from the old one's: `map` takes voxels of the new grid to those of the old one, `ratio` is the old grid's
/// spacing over the new one's.
///
/// # Safety
/// As [`field::at`], of the old grid.
#[inline(always)]
pub unsafe fn refined(
    number: impl Fn(usize) -> f32,
    old_size: [u32; 3],
    voxel: [u32; 3],
    [from, ratio]: [[f32; 3]; 2],
) -> [f32; 3] {
    // A voxel's middle lies at `from` + voxel / ratio.
    let axis = |i: usize| voxel[i] as f32 / ratio[i] + from[i];
    // SAFETY: as this function's.
    let [x, y, z] = unsafe { field::at(number, old_size, [axis(0), axis(1), axis(2)]) };
    [x * ratio[0], y * ratio[1], z * ratio[2]]
}

/// The joint index of the nearest bins of a pair of stored values.
///
/// # Safety
/// As [`bin::of`].
#[inline(always)]
pub unsafe fn pair([fixed, moving]: [f32; 2], bins: u32) -> u32 {
    let scale = bin::scale(bins, bin::FULL);
    // SAFETY: as this function's.
    unsafe { bin::of(fixed, scale) + bins * bin::of(moving, scale) }
}

/// What a squared correlation of 1 counts.
pub const CORRELATION_UNIT: f32 = 16_777_216.0;

/// What an error of 1 mm counts, and the largest that is counted, mm.
pub const MM_UNIT: f32 = 1_048_576.0;
const MOST_MM: f32 = 4095.0;

/// A squared correlation in fixed point, so that sums have no order.
#[inline(always)]
pub fn fixed_correlation(correlation: f32) -> u32 {
    // SAFETY: between 0 and 2^24.
    unsafe { (correlation * CORRELATION_UNIT + 0.5).to_int_unchecked() }
}

/// An error in fixed point.
#[inline(always)]
pub fn fixed_mm(error: f32) -> u32 {
    let error = if error < MOST_MM { error } else { MOST_MM };
    // SAFETY: between 0 and 2^32.
    unsafe { (error * MM_UNIT + 0.5).to_int_unchecked() }
}

/// The mean of so many numbers of this unit; 0 of none.
pub fn mean(sum: u64, unit: f32, count: u64) -> f64 {
    if count == 0 { 0.0 } else { sum as f64 / f64::from(unit) / count as f64 }
}

/// The variance from the means of a value and of its square.
#[inline(always)]
pub fn variance(mean: f32, square: f32) -> f32 {
    (-mean).mul_add(mean, square)
}

/// The displacement that leads back: from `to` to the point that the field takes there.
///
/// # Safety
/// As [`field::at`].
#[inline(always)]
pub unsafe fn way_back(number: impl Fn(usize) -> f32, size: [u32; 3], to: [f32; 3]) -> [f32; 3] {
    // SAFETY: as this function's.
    let [x, y, z] = unsafe { field::before(number, size, to) };
    [x - to[0], y - to[1], z - to[2]]
}

/// How far, mm, the way of a voxel through its displacement and `there` to the other grid, of `size`, and from there `back` and along
/// that grid's field of ways back ends from the voxel; `None` where it leads outside the other grid.
///
/// # Safety
/// As [`field::at`], of the other grid.
#[inline(always)]
pub unsafe fn there_and_back(
    way_back: impl Fn(usize) -> f32,
    size: [u32; 3],
    [there, back]: [&Affine; 2],
    voxel: [u32; 3],
    displacement: [f32; 3],
    spacing_mm: [f32; 3],
) -> Option<f32> {
    let position = position(there, voxel, displacement);
    if !interpolate::inside(position, interpolate::last(size)) {
        return None;
    }
    // SAFETY: as this function's.
    let way = unsafe { field::at(way_back, size, position) };
    let end = through(back, position);
    let miss = |axis: usize| (end[axis] + way[axis] - voxel[axis] as f32) * spacing_mm[axis];
    let miss = [miss(0), miss(1), miss(2)];
    Some(field::dot(miss, miss).sqrt())
}
