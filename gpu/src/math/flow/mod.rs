//! Formulas of deformable registration: the force at each voxel, the update field, and its composition with the field
//! (Chefd'hotel 2002; Ledig & Chefd'hotel, section 3.2).
//!
//! For the intensities (f, m) at a voxel, a metric gives a score N. For mutual information, N = d/dm ln(P(f, m) /
//! P(m)), with the smoothed joint density P. The force of the voxel is the variational gradient of the metric there,
//! which is N times the gradient of the moving image. The precision of the force is the information D, the expected
//! square of the score at f, times the squared gradient. Both are summed over a Gaussian window. The update is the sum
//! of forces divided by the sum of precisions plus the precision of the prior. This is the most likely displacement
//! shared by the voxels of the window, under a normal prior with mean 0.

mod moments;
#[cfg(test)]
mod tests;

use super::affine::Affine;
use super::interpolate::{self, lerp};
use super::{bin, field, whole};
#[cfg(target_arch = "nvptx64")]
use cuda_std::GpuFloat;
pub use moments::{Moments, NOISE};

/// Returns the position in the moving image of a displaced voxel of the fixed grid, all in voxels. No coordinate is a
/// negative zero unless the map's constant is.
#[inline(always)]
pub fn position(map: &Affine, voxel: [u32; 3], displacement: [f32; 3]) -> [f32; 3] {
    through(
        map,
        [voxel[0] as f32 + displacement[0], voxel[1] as f32 + displacement[1], voxel[2] as f32 + displacement[2]],
    )
}

/// Maps a position on one grid to the position on another, both in voxels. The term of z is added last.
#[inline(always)]
pub fn through(map: &Affine, [x, y, z]: [f32; 3]) -> [f32; 3] {
    let row = |row: [f32; 4]| z.mul_add(row[2], y.mul_add(row[1], x.mul_add(row[0], row[3])));
    [row(map.rows[0]), row(map.rows[1]), row(map.rows[2])]
}

/// Converts a gradient along the moving image's axes, per voxel of that image, to one along the fixed grid's axes, per
/// voxel of that grid: the transpose of the map's matrix times the gradient.
#[inline(always)]
pub fn gradient_on_fixed_grid(map: &Affine, [x, y, z]: [f32; 3]) -> [f32; 3] {
    let [a, b, c] = map.rows;
    let column = |i: usize| z.mul_add(c[i], y.mul_add(b[i], x * a[i]));
    [column(0), column(1), column(2)]
}

/// Locates a stored value between the centres of two bins. Returns the lower bin, at most `bins - 2`, and the fraction
/// from there to the next bin, 0 to 1.
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

/// Returns the score and the information for a pair of stored values, by linear interpolation in the tables. `scores`
/// has `bins * bins` numbers, the fixed bin fastest, and `information` has one per fixed bin.
///
/// # Safety
/// `scores` may be called with any number below `bins * bins`, and `information` with any below `bins`. The values are
/// as for [`interval`].
#[inline(always)]
pub unsafe fn score(
    scores: impl Fn(u32) -> f32,
    information: impl Fn(u32) -> f32,
    bins: u32,
    [fixed, moving]: [f32; 2],
) -> Score {
    let scale = bin::scale(bins, bin::FULL);
    // SAFETY: by this function's contract.
    let ((f, into_f), (m, into_m)) = unsafe { (interval(fixed, bins, scale), interval(moving, bins, scale)) };
    let at = |f: u32, m: u32| scores(f + bins * m);
    let low = lerp(at(f, m), at(f + 1, m), into_f);
    let high = lerp(at(f, m + 1), at(f + 1, m + 1), into_f);
    Score { score: lerp(low, high, into_m), information: lerp(information(f), information(f + 1), into_f) }
}

/// The derivative of a metric by a voxel's moving intensity m, and its expected square.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// N: the derivative of the metric's log ratio by m. It is per bin or per intensity range, the unit in which the
    /// gradient is given.
    pub score: f32,
    /// D: the expected square of the score, in the square of the score's unit.
    pub information: f32,
}

/// A voxel's force and its precision. A Gaussian window sums both over the voxels around, before [`update`] computes a
/// displacement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VoxelForce {
    /// N g, where g is the gradient of the moving image; in voxels of the fixed grid times mm^-2.
    pub force: [f32; 3],
    /// D |g|^2, the inverse variance of the voxel's displacement along g, mm^-2.
    pub precision: f32,
}

impl VoxelForce {
    /// The force and precision of a voxel that does not count.
    pub const NONE: Self = Self { force: [0.0; 3], precision: 0.0 };

    /// Returns `sum` plus `weight` times `self`.
    #[inline(always)]
    pub fn added(self, sum: Self, weight: f32) -> Self {
        let [x, y, z] = self.force;
        Self {
            force: [added(sum.force[0], x, weight), added(sum.force[1], y, weight), added(sum.force[2], z, weight)],
            precision: added(sum.precision, self.precision, weight),
        }
    }
}

/// Computes the force at a voxel and its precision. `gradient` is per voxel of the fixed grid. `per_square` is 1 /
/// spacing^2 of that grid along each axis, in mm^-2. It converts the gradient to mm, and the force back to voxels.
#[inline(always)]
pub fn voxel_force(score: Score, gradient: [f32; 3], per_square: [f32; 3]) -> VoxelForce {
    let scaled = [gradient[0] * per_square[0], gradient[1] * per_square[1], gradient[2] * per_square[2]];
    VoxelForce {
        force: scaled.map(|component| score.score * component),
        precision: score.information * field::dot(scaled, gradient),
    }
}

/// Returns `sum + weight * number`, for a component of a force or for a precision.
#[inline(always)]
pub fn added(sum: f32, number: f32, weight: f32) -> f32 {
    number.mul_add(weight, sum)
}

/// A displacement that is known from a landmark and not from the images.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KnownDisplacement {
    /// The displacement, in voxels.
    pub displacement: [f32; 3],
    /// 1 / variance of each component, mm^-2.
    pub precision: f32,
}

/// Adds the force of a landmark to the force at its voxel. The landmark's force is the difference of the known
/// displacement from the present one, times the landmark's precision and `weight`.
///
/// Images that match at a wrong displacement have forces as precise as at the right one. So that landmarks can overcome
/// them, the precision grows with the square of the difference, in standard deviations. `squares` is spacing^2 of the
/// grid along each axis, mm^2. The difference is clamped to `limit` along each axis, because the longest step of all
/// voxels determines by how much all steps are shortened. Displacements, differences and `limit` are in voxels.
#[inline(always)]
pub fn with_landmark(
    force: VoxelForce,
    displacement: [f32; 3],
    known: KnownDisplacement,
    squares: [f32; 3],
    (weight, limit): (f32, f32),
) -> VoxelForce {
    let way = |i: usize| known.displacement[i] - displacement[i];
    let square = |i: usize| way(i) * way(i) * squares[i];
    let precision = known.precision * (square(0) + square(1) + square(2)).mul_add(known.precision, 1.0) * weight;
    let component = |i: usize| at_least(at_most(way(i), limit), -limit).mul_add(precision, force.force[i]);
    VoxelForce { force: [component(0), component(1), component(2)], precision: force.precision + precision }
}

/// Returns the displacement of the update field, in voxels, from the sums of forces and precisions around a voxel. It
/// is the most likely displacement that the voxels share, under a normal prior with mean 0 and variance 1 / `prior`
/// mm^2.
#[inline(always)]
pub fn update(sum: VoxelForce, prior: f32) -> [f32; 3] {
    // The recursive Gaussian may give slightly negative numbers.
    let share = 1.0 / (at_least(sum.precision, 0.0) + prior);
    sum.force.map(|force| kept(force) * share)
}

/// Returns the half of the grid to which a voxel belongs, 1 or 2: the colour of its block on a three-dimensional
/// chessboard of blocks. `blocks` is 1 / the side of a block in voxels along each axis, more than 0 and at most 1.
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

/// Returns the factor, at most 1, by which the update field is multiplied so that no voxel moves by more than `limit`
/// voxels. `largest_square` is the square of its largest displacement.
#[inline(always)]
pub fn limited(largest_square: f32, limit: f32) -> f32 {
    if largest_square > limit * limit { limit / largest_square.sqrt() } else { 1.0 }
}

/// Smaller numbers are set to 0. Far from all edges, as in air, repeated smoothing gives ever smaller numbers, down to
/// subnormal ones, with which a CPU computes a hundred times slower. The square of this number is not subnormal.
const LEAST: f32 = 1e-15;

/// Returns a component of a displacement or a force, or 0 if it is below `LEAST`.
#[inline(always)]
pub fn kept(value: f32) -> f32 {
    if value.abs() < LEAST { 0.0 } else { value }
}

/// Returns the displacement of a voxel x after a step s, by composition with the field u: s + u(x + s). All in voxels.
///
/// # Safety
/// As [`field::at`].
#[inline(always)]
pub unsafe fn composed(number: impl Fn(usize) -> f32, size: [u32; 3], voxel: [u32; 3], step: [f32; 3]) -> [f32; 3] {
    let to = [voxel[0] as f32 + step[0], voxel[1] as f32 + step[1], voxel[2] as f32 + step[2]];
    // SAFETY: by this function's contract.
    let there = unsafe { field::at(number, size, to) };
    [kept(step[0] + there[0]), kept(step[1] + there[1]), kept(step[2] + there[2])]
}

/// Returns the displacement of a voxel of a new grid, in voxels of that grid, from the field on the old grid. `from` is
/// the position of the new grid's first voxel on the old grid. `ratio` is the old spacing divided by the new one along
/// each axis.
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
    // SAFETY: by this function's contract.
    let [x, y, z] = unsafe { field::at(number, old_size, [axis(0), axis(1), axis(2)]) };
    [x * ratio[0], y * ratio[1], z * ratio[2]]
}

/// The distance, in voxels, up to which the neighbours of a voxel whose Jacobian determinant is outside the limits are
/// relaxed with it.
const AROUND: u32 = 2;

/// Returns whether a determinant of the Jacobian is outside the limits, or NaN.
#[inline(always)]
pub fn outside_limits(determinant: f32, [low, high]: [f32; 2]) -> bool {
    !(determinant >= low && determinant <= high)
}

/// Returns, for each axis, the first voxel that is relaxed with this one, and the one after the last.
#[inline(always)]
pub fn around(voxel: [u32; 3], size: [u32; 3]) -> [[u32; 2]; 3] {
    let axis = |i: usize| {
        let end = voxel[i] + AROUND + 1;
        [voxel[i].saturating_sub(AROUND), if end < size[i] { end } else { size[i] }]
    };
    [axis(0), axis(1), axis(2)]
}

/// Returns the joint index of the bins of a pair of stored values, the fixed bin fastest.
///
/// # Safety
/// As [`bin::of`].
#[inline(always)]
pub unsafe fn pair([fixed, moving]: [f32; 2], bins: u32) -> u32 {
    let scale = bin::scale(bins, bin::FULL);
    // SAFETY: by this function's contract.
    unsafe { bin::of(fixed, scale) + bins * bin::of(moving, scale) }
}

/// The fixed-point number for a squared correlation of 1: 2^24.
pub const CORRELATION_UNIT: f32 = 16_777_216.0;

/// The fixed-point number for an error of 1 mm: 2^20.
pub const MM_UNIT: f32 = 1_048_576.0;

/// The largest error in mm that [`fixed_mm`] can represent.
const MOST_MM: f32 = 4095.0;

/// Converts a squared correlation, 0 to 1, to fixed point, in units of 1 / [`CORRELATION_UNIT`]. A sum of integers does
/// not depend on its order.
#[inline(always)]
pub fn fixed_correlation(correlation: f32) -> u32 {
    // SAFETY: between 0 and 2^24.
    unsafe { (correlation * CORRELATION_UNIT + 0.5).to_int_unchecked() }
}

/// Converts an error in mm to fixed point, in units of 1 / [`MM_UNIT`] mm. Errors above 4095 mm count as that.
#[inline(always)]
pub fn fixed_mm(error: f32) -> u32 {
    let error = if error < MOST_MM { error } else { MOST_MM };
    // SAFETY: between 0 and 2^32.
    unsafe { (error * MM_UNIT + 0.5).to_int_unchecked() }
}

/// Returns the mean of `count` numbers whose sum is in units of 1 / `unit`; 0 if there are none.
pub fn mean(sum: u64, unit: f32, count: u64) -> f64 {
    if count == 0 { 0.0 } else { sum as f64 / f64::from(unit) / count as f64 }
}

/// Returns the variance, from the means of a value and of its square.
#[inline(always)]
pub fn variance(mean: f32, square: f32) -> f32 {
    (-mean).mul_add(mean, square)
}

/// Returns the displacement of the inverse field at `to`, which leads to the point that the field takes to `to`
/// ([`field::inverse_point`]). All in voxels of the field's grid.
///
/// # Safety
/// As [`field::at`].
#[inline(always)]
pub unsafe fn inverse_displacement(number: impl Fn(usize) -> f32, size: [u32; 3], to: [f32; 3]) -> [f32; 3] {
    // SAFETY: by this function's contract.
    let [x, y, z] = unsafe { field::inverse_point(number, size, to) };
    [x - to[0], y - to[1], z - to[2]]
}

/// Rounds an interpolated value to a stored value.
///
/// # Safety
/// `value` is between 0 and [`bin::FULL`].
#[inline(always)]
pub unsafe fn rounded_to_stored(value: f32) -> u16 {
    // SAFETY: by this function's contract.
    unsafe { (value + 0.5).to_int_unchecked() }
}

/// Combines two fields on one grid in the middle, each of which leads to one of two images, into the displacement of a
/// voxel of another grid. `from` takes the voxel to the middle grid; the inverse of the first field and then the second
/// field displace it there; `to` takes the result to the coordinates of the displacement. Returns that position minus
/// the one to which `base` takes the voxel.
///
/// # Safety
/// As [`field::at`], of both fields.
#[inline(always)]
pub unsafe fn combined_displacement(
    one: impl Fn(usize) -> f32,
    two: impl Fn(usize) -> f32,
    size: [u32; 3],
    [from, to, base]: [&Affine; 3],
    voxel: [u32; 3],
) -> [f32; 3] {
    let voxel = voxel.map(|n| n as f32);
    // SAFETY: by this function's contract.
    let middle = unsafe { field::inverse_point(one, size, through(from, voxel)) };
    // SAFETY: as above.
    let way = unsafe { field::at(two, size, middle) };
    let end = through(to, [middle[0] + way[0], middle[1] + way[1], middle[2] + way[2]]);
    let begin = through(base, voxel);
    [end[0] - begin[0], end[1] - begin[1], end[2] - begin[2]]
}

/// Returns the error of an inverse field at a voxel, in mm. The voxel is displaced by the field, mapped by `there` to
/// the other grid, mapped `back`, and displaced by the inverse field. The error is the distance of the result from the
/// voxel. It is `None` if the displaced voxel is outside the other grid.
///
/// `way_back` reads the inverse field on the other grid, of `size`. Its displacements are in voxels of the first grid.
/// `spacing_mm` is that of the first grid.
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
    // SAFETY: by this function's contract.
    let way = unsafe { field::at(way_back, size, position) };
    let end = through(back, position);
    let miss = |axis: usize| (end[axis] + way[axis] - voxel[axis] as f32) * spacing_mm[axis];
    let miss = [miss(0), miss(1), miss(2)];
    Some(field::dot(miss, miss).sqrt())
}
