//! The update field of deformable registration: the force at each voxel, and the step by composition (Chefd'hotel 2002; Ledig &
//! Chefd'hotel, section 3.2).
//!
//! For the pair (f, m) of a voxel's intensities a metric gives a score N, the derivative by m of the logarithm of its ratio. For mutual
//! information that is d/dm ln(P(f, m) / P(m)) of the smoothed joint density. The metric's variational gradient at the voxel is N times
//! the gradient of the moving image: the voxel's force. Its precision is the information D that the metric has at f, times the squared
//! gradient. Sums of forces over a window are divided by sums of precisions plus the precision of the prior: the most likely displacement
//! that the window's voxels share, under a normal prior around 0.

mod moments;
#[cfg(test)]
mod tests;

use super::affine::Affine;
use super::interpolate::{self, lerp};
use super::{bin, field, whole};
#[cfg(target_arch = "nvptx64")]
use cuda_std::GpuFloat;
pub use moments::{Moments, NOISE};

/// The position in the moving image of a displaced voxel of the fixed grid; all in voxels. No coordinate is a negative zero unless the
/// map's constant is.
#[inline(always)]
pub fn position(map: &Affine, voxel: [u32; 3], displacement: [f32; 3]) -> [f32; 3] {
    through(
        map,
        [voxel[0] as f32 + displacement[0], voxel[1] as f32 + displacement[1], voxel[2] as f32 + displacement[2]],
    )
}

/// The position on the other grid of a position on one, both in voxels: z's term is added last.
#[inline(always)]
pub fn through(map: &Affine, [x, y, z]: [f32; 3]) -> [f32; 3] {
    let row = |row: [f32; 4]| z.mul_add(row[2], y.mul_add(row[1], x.mul_add(row[0], row[3])));
    [row(map.rows[0]), row(map.rows[1]), row(map.rows[2])]
}

/// A gradient along the moving image's axes, per voxel of it, as one along the fixed grid's axes, per voxel of that: the transpose of
/// the map's matrix times the gradient.
#[inline(always)]
pub fn pulled(map: &Affine, [x, y, z]: [f32; 3]) -> [f32; 3] {
    let [a, b, c] = map.rows;
    let column = |i: usize| z.mul_add(c[i], y.mul_add(b[i], x * a[i]));
    [column(0), column(1), column(2)]
}

/// The position of a stored value between the centres of two bins: the lower bin, at most `bins - 2`, and the fraction from there to the
/// next, 0 to 1.
///
/// # Safety
/// `value` is between 0 and [`bin::FULL`], `scale` that of the bins, which are at least 2.
#[inline(always)]
pub unsafe fn interval(value: f32, bins: u32, scale: f32) -> (u32, f32) {
    let value = value * scale;
    let last = (bins - 2) as f32;
    // SAFETY: between 0 and `bins - 2`.
    let low = unsafe { whole::of(if value < last { value } else { last }) };
    (whole::bits(low), value - whole::float(low))
}

/// The score and the information at a pair of stored values, by linear interpolation in their tables. `scores` has `bins * bins` numbers,
/// the fixed bin fastest; `information` one per fixed bin.
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
    let low = lerp(at(f, m), at(f + 1, m), into_f);
    let high = lerp(at(f, m + 1), at(f + 1, m + 1), into_f);
    Score { score: lerp(low, high, into_m), information: lerp(information(f), information(f + 1), into_f) }
}

/// What a metric says about a voxel's moving intensity m.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// N: the derivative of the metric's logarithm by m, per bin or per range, as the gradient is.
    pub score: f32,
    /// D: the expected square of the score, in the square of that unit.
    pub information: f32,
}

/// What a voxel says about its displacement. A Gaussian window sums it up over the voxels around before [`update`] makes a displacement
/// of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pull {
    /// N g, with the gradient g of the moving image: in voxels of the fixed grid times mm^-2.
    pub force: [f32; 3],
    /// D |g|^2, the inverse variance with which the voxel knows its displacement along g, mm^-2.
    pub precision: f32,
}

impl Pull {
    /// Of a voxel that does not count.
    pub const NONE: Self = Self { force: [0.0; 3], precision: 0.0 };

    /// The sum of what pulls there already and this, which counts `weight` times.
    #[inline(always)]
    pub fn added(self, sum: Self, weight: f32) -> Self {
        let [x, y, z] = self.force;
        Self {
            force: [added(sum.force[0], x, weight), added(sum.force[1], y, weight), added(sum.force[2], z, weight)],
            precision: added(sum.precision, self.precision, weight),
        }
    }
}

/// What pulls at a voxel. `gradient` is per voxel of the fixed grid; `per_square`, 1 / spacing^2 of that grid along each axis in mm^-2,
/// takes it to mm and the force back to voxels.
#[inline(always)]
pub fn pull(score: Score, gradient: [f32; 3], per_square: [f32; 3]) -> Pull {
    let scaled = [gradient[0] * per_square[0], gradient[1] * per_square[1], gradient[2] * per_square[2]];
    Pull {
        force: scaled.map(|component| score.score * component),
        precision: score.information * field::dot(scaled, gradient),
    }
}

/// A sum of forces, or of precisions, with another one that counts `weight` times.
#[inline(always)]
pub fn added(sum: f32, pull: f32, weight: f32) -> f32 {
    pull.mul_add(weight, sum)
}

/// A displacement that is known, beside what the images say.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Known {
    /// In voxels.
    pub displacement: [f32; 3],
    /// 1 / variance of each of its components, mm^-2.
    pub precision: f32,
}

/// What pulls at the voxel of a landmark: what did before, and the way from its displacement to the one that is known, times `weight`.
/// Images that agree far from where they should are as sure of it as of what is right. So the precision grows with the square of the way in
/// standard deviations; `squares` is spacing^2 of the grid along each axis, mm^2. Along no axis is the way longer than `limit`: the longest
/// step shortens all others. All in voxels.
#[inline(always)]
pub fn led(pull: Pull, displacement: [f32; 3], known: Known, squares: [f32; 3], (weight, limit): (f32, f32)) -> Pull {
    let way = |i: usize| known.displacement[i] - displacement[i];
    let square = |i: usize| way(i) * way(i) * squares[i];
    let precision = known.precision * (square(0) + square(1) + square(2)).mul_add(known.precision, 1.0) * weight;
    let force = |i: usize| at_least(at_most(way(i), limit), -limit).mul_add(precision, pull.force[i]);
    Pull { force: [force(0), force(1), force(2)], precision: pull.precision + precision }
}

/// The displacement of the update field, in voxels, from the sums of the forces and precisions around a voxel: the most likely one that
/// they share, under a normal prior around 0 whose variance is 1 / `prior` mm^2.
#[inline(always)]
pub fn update(sum: Pull, prior: f32) -> [f32; 3] {
    // The recursive Gaussian may leave a little less than nothing.
    let share = 1.0 / (at_least(sum.precision, 0.0) + prior);
    sum.force.map(|force| kept(force) * share)
}

/// The half of the grid that a voxel belongs to, 1 or 2: that of its colour on a three-dimensional chessboard. `blocks` is 1 / the side of
/// its blocks along each axis, in voxels, more than 0 and at most 1.
#[inline(always)]
pub fn half(voxel: [u32; 3], blocks: [f32; 3]) -> u32 {
    // SAFETY: not negative, and no more than the voxel's number.
    let block = |axis: usize| whole::bits(unsafe { whole::of((voxel[axis] as f32 + 0.5) * blocks[axis]) });
    1 + ((block(0) ^ block(1) ^ block(2)) & 1)
}

#[inline(always)]
fn at_least(value: f32, least: f32) -> f32 {
    if value > least { value } else { least }
}

#[inline(always)]
fn at_most(value: f32, most: f32) -> f32 {
    if value < most { value } else { most }
}

/// The step length, at most 1, with which no voxel moves by more than `limit` voxels, from the square of the update field's largest
/// displacement.
#[inline(always)]
pub fn limited(largest_square: f32, limit: f32) -> f32 {
    if largest_square > limit * limit { limit / largest_square.sqrt() } else { 1.0 }
}

/// Less than this is nothing. Far from all edges, as in air, smoothing leaves ever less, down to numbers that a CPU computes with a hundred
/// times slower; squares of this are none of those yet.
const LEAST: f32 = 1e-15;

/// A displacement or a force, or 0 where it is nothing.
#[inline(always)]
pub fn kept(value: f32) -> f32 {
    if value.abs() < LEAST { 0.0 } else { value }
}

/// The displacement of a voxel after a step, by composition: the step s, then the field u at its end, s + u(x + s). All in voxels.
///
/// # Safety
/// As [`field::at`].
#[inline(always)]
pub unsafe fn composed(number: impl Fn(usize) -> f32, size: [u32; 3], voxel: [u32; 3], step: [f32; 3]) -> [f32; 3] {
    let to = [voxel[0] as f32 + step[0], voxel[1] as f32 + step[1], voxel[2] as f32 + step[2]];
    // SAFETY: as this function's.
    let there = unsafe { field::at(number, size, to) };
    [kept(step[0] + there[0]), kept(step[1] + there[1]), kept(step[2] + there[2])]
}

/// The displacement of a voxel of a new grid, in its voxels, from the field on the old grid. `from` is the position of the new grid's
/// first voxel on the old grid, `ratio` the old grid's spacing over the new one's along each axis.
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
    // The voxel's centre on the old grid.
    let axis = |i: usize| voxel[i] as f32 / ratio[i] + from[i];
    // SAFETY: as this function's.
    let [x, y, z] = unsafe { field::at(number, old_size, [axis(0), axis(1), axis(2)]) };
    [x * ratio[0], y * ratio[1], z * ratio[2]]
}

/// Voxels around one whose Jacobian is unusual that are relaxed with it.
const AROUND: u32 = 2;

/// Whether a determinant of the Jacobian is outside the limits, or not a number.
#[inline(always)]
pub fn unusual(determinant: f32, [low, high]: [f32; 2]) -> bool {
    !(determinant >= low && determinant <= high)
}

/// The first voxel along each axis that is relaxed with this one, and the one after the last.
#[inline(always)]
pub fn around(voxel: [u32; 3], size: [u32; 3]) -> [[u32; 2]; 3] {
    let axis = |i: usize| {
        let end = voxel[i] + AROUND + 1;
        [voxel[i].saturating_sub(AROUND), if end < size[i] { end } else { size[i] }]
    };
    [axis(0), axis(1), axis(2)]
}

/// The joint index of the bins of a pair of stored values, the fixed bin fastest.
///
/// # Safety
/// As [`bin::of`].
#[inline(always)]
pub unsafe fn pair([fixed, moving]: [f32; 2], bins: u32) -> u32 {
    let scale = bin::scale(bins, bin::FULL);
    // SAFETY: as this function's.
    unsafe { bin::of(fixed, scale) + bins * bin::of(moving, scale) }
}

/// What a squared correlation of 1 is in fixed point: 2^24.
pub const CORRELATION_UNIT: f32 = 16_777_216.0;

/// What an error of 1 mm is in fixed point: 2^20.
pub const MM_UNIT: f32 = 1_048_576.0;

/// The largest error in mm that fixed point holds.
const MOST_MM: f32 = 4095.0;

/// A squared correlation, 0 to 1, in units of 1 / [`CORRELATION_UNIT`], so that a sum does not depend on its order.
#[inline(always)]
pub fn fixed_correlation(correlation: f32) -> u32 {
    // SAFETY: between 0 and 2^24.
    unsafe { (correlation * CORRELATION_UNIT + 0.5).to_int_unchecked() }
}

/// An error in mm, at most 4095, in units of 1 / [`MM_UNIT`] mm.
#[inline(always)]
pub fn fixed_mm(error: f32) -> u32 {
    let error = if error < MOST_MM { error } else { MOST_MM };
    // SAFETY: between 0 and 2^32.
    unsafe { (error * MM_UNIT + 0.5).to_int_unchecked() }
}

/// The mean of `count` numbers whose sum is in units of 1 / `unit`; 0 of none.
pub fn mean(sum: u64, unit: f32, count: u64) -> f64 {
    if count == 0 { 0.0 } else { sum as f64 / f64::from(unit) / count as f64 }
}

/// The variance from the means of a value and of its square.
#[inline(always)]
pub fn variance(mean: f32, square: f32) -> f32 {
    (-mean).mul_add(mean, square)
}

/// The displacement of the inverse field at `to`: from there to the point that the field takes to it ([`field::before`]). All in voxels of
/// the field's grid.
///
/// # Safety
/// As [`field::at`].
#[inline(always)]
pub unsafe fn way_back(number: impl Fn(usize) -> f32, size: [u32; 3], to: [f32; 3]) -> [f32; 3] {
    // SAFETY: as this function's.
    let [x, y, z] = unsafe { field::before(number, size, to) };
    [x - to[0], y - to[1], z - to[2]]
}

/// A value between stored ones as a stored value.
///
/// # Safety
/// `value` is between 0 and [`bin::FULL`].
#[inline(always)]
pub unsafe fn shown(value: f32) -> u16 {
    // SAFETY: as this function's.
    unsafe { (value + 0.5).to_int_unchecked() }
}

/// Where two fields on a grid in the middle take a voxel of a third grid: `from` takes it to the middle grid, the first field back to
/// what it displaces there, the second one on from that, and `to` to where the end is said; less where `base` takes the voxel.
///
/// # Safety
/// As [`field::at`], of both fields.
#[inline(always)]
pub unsafe fn across(
    one: impl Fn(usize) -> f32,
    two: impl Fn(usize) -> f32,
    size: [u32; 3],
    [from, to, base]: [&Affine; 3],
    voxel: [u32; 3],
) -> [f32; 3] {
    let voxel = voxel.map(|n| n as f32);
    // SAFETY: as this function's.
    let middle = unsafe { field::before(one, size, through(from, voxel)) };
    // SAFETY: as above.
    let way = unsafe { field::at(two, size, middle) };
    let end = through(to, [middle[0] + way[0], middle[1] + way[1], middle[2] + way[2]]);
    let begin = through(base, voxel);
    [end[0] - begin[0], end[1] - begin[1], end[2] - begin[2]]
}

/// The error of an inverse field at a voxel, in mm: the distance from the voxel to where it ends up when it is displaced, taken `there`,
/// to the other grid, then `back`, and displaced by the inverse field. `None` where it lies outside the other grid.
///
/// `way_back` reads the inverse field on the other grid, of `size`, whose displacements are in voxels of the first grid; `spacing_mm` is
/// the first grid's.
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
