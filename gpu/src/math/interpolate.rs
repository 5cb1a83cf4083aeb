//! Values between voxels. A position is inside while it lies on or between the outermost voxel centres.

use super::whole;
#[cfg(target_arch = "nvptx64")]
use super::whole::{TWO_23, TWO_23_BITS};
#[cfg(target_arch = "nvptx64")]
use cuda_std::GpuFloat;

/// How values between voxels are made.
#[repr(u32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interpolator {
    /// The voxel whose centre is nearest; halves go up.
    Nearest = 0,
    /// Trilinear from the eight neighbours.
    Linear = 1,
    /// Cubic convolution through the voxels ([`super::cubic`]).
    CatmullRom = 2,
    /// The cubic spline through the voxels, from B-spline coefficients ([`super::cubic`]).
    BSpline = 3,
    /// None for counting: each of the eight neighbours by its weight ([`super::partial_volume`]). For a value, trilinear.
    PartialVolume = 4,
}

impl Interpolator {
    /// The one with this number.
    #[inline(always)]
    pub fn of(number: u32) -> Self {
        match number {
            0 => Self::Nearest,
            1 => Self::Linear,
            2 => Self::CatmullRom,
            3 => Self::BSpline,
            _ => Self::PartialVolume,
        }
    }

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nearest => "nearest",
            Self::Linear => "linear",
            Self::CatmullRom => "catmull-rom",
            Self::BSpline => "b-spline",
            Self::PartialVolume => "partial-volume",
        }
    }

    /// Whether it samples a padded volume, as [`super::cubic`] does, rather than the voxels.
    #[inline(always)]
    pub fn is_cubic(self) -> bool {
        matches!(self, Self::CatmullRom | Self::BSpline)
    }
}

/// The last voxel along each axis, as coordinates.
#[inline(always)]
pub fn last(size: [u32; 3]) -> [f32; 3] {
    size.map(|n| (n - 1) as f32)
}

/// Whether a position, which has no negative zero, lies on or between the outermost voxel centres.
///
/// As bits, a float that is not negative compares like an integer, and a negative one or a NaN is greater than all of them.
#[inline(always)]
pub fn inside(position: [f32; 3], last: [f32; 3]) -> bool {
    // `&` and not `&&`: a short circuit would be a branch an axis.
    let axis = |i: usize| position[i].to_bits() <= last[i].to_bits();
    axis(0) & axis(1) & axis(2)
}

/// The position if it lies inside, else one inside that is safe to read.
#[inline(always)]
pub fn clamp(position: [f32; 3], last: [f32; 3]) -> [f32; 3] {
    let axis = |i: usize| {
        // Comparisons rather than `max` and `min`: one instruction each on x86, and a NaN becomes 0.
        let position = if position[i] > 0.0 { position[i] } else { 0.0 };
        if position < last[i] { position } else { last[i] }
    };
    [axis(0), axis(1), axis(2)]
}

/// A position as the lower neighbour's index in memory and how far it is from there: three fractions below 1, or what an interpolator
/// makes of them.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Place<F = [f32; 3]> {
    pub index: u32,
    pub fraction: F,
}

/// Voxels that memory must go on after a volume's last, whatever they hold: on the last voxel of an axis the fraction is 0, but the
/// neighbour is read.
pub const fn padding(size: [u32; 3]) -> usize {
    1 + size[0] as usize + size[0] as usize * size[1] as usize
}

/// The place of a position inside.
///
/// # Safety
/// No coordinate is negative, NaN or above 2^22.
#[inline(always)]
pub unsafe fn place(position: [f32; 3], size: [u32; 3]) -> Place {
    // SAFETY: as this function's.
    let whole = unsafe { [whole::of(position[0]), whole::of(position[1]), whole::of(position[2])] };
    let fraction = |i: usize| position[i] - whole::float(whole[i]);
    let index = whole::dot(whole, [1, size[0], size[0] * size[1]]);
    Place { index, fraction: [fraction(0), fraction(1), fraction(2)] }
}

/// What `place` finds if the position lies inside, else a place that is safe to read. `place` is safe to call inside and, on a GPU,
/// anywhere.
#[inline(always)]
pub fn place_if<F: Default>(inside: bool, place: impl FnOnce() -> Place<F>) -> Place<F> {
    if cfg!(target_arch = "nvptx64") {
        // One selection is shorter than a branch.
        let place = place();
        Place { index: if inside { place.index } else { 0 }, ..place }
    } else if inside {
        place()
    } else {
        Place::default()
    }
}

/// The index in memory of the voxel nearest to a position inside.
///
/// # Safety
/// As [`place`].
#[inline(always)]
pub unsafe fn nearest(position: [f32; 3], size: [u32; 3]) -> u32 {
    // SAFETY: as this function's.
    let whole = unsafe { [whole::of(position[0] + 0.5), whole::of(position[1] + 0.5), whole::of(position[2] + 0.5)] };
    whole::dot(whole, [1, size[0], size[0] * size[1]])
}

#[inline(always)]
fn between(low: f32, high: f32, fraction: f32) -> f32 {
    fraction.mul_add(high - low, low)
}

/// Between the low and the high half of a word.
#[cfg(not(target_arch = "nvptx64"))]
#[inline(always)]
fn between_halves(pair: u32, fraction: f32) -> f32 {
    between((pair & 0xFFFF) as i32 as f32, (pair >> 16) as i32 as f32, fraction)
}

/// Between the low and the high half of a word. A half over the bits of 2^23 is a float that exceeds it by 2^23, exactly; in the
/// difference that falls out.
#[cfg(target_arch = "nvptx64")]
#[inline(always)]
fn between_halves(pair: u32, fraction: f32) -> f32 {
    let low = f32::from_bits(cuda_std::bits::permute(pair, TWO_23_BITS, 0x7610));
    let high = f32::from_bits(cuda_std::bits::permute(pair, TWO_23_BITS, 0x7632));
    fraction.mul_add(high - low, low - TWO_23)
}

/// Trilinear: words of two neighbours along x, for the rows (y, z), (y + 1, z), (y, z + 1), (y + 1, z + 1); along x first, then y,
/// then z.
#[inline(always)]
pub fn linear(pairs: [u32; 4], fraction: [f32; 3]) -> f32 {
    let [x, y, z] = fraction;
    let rows = pairs.map(|pair| between_halves(pair, x));
    between(between(rows[0], rows[1], y), between(rows[2], rows[3], y), z)
}

/// [`linear`], and its derivatives along x, y and z.
#[inline(always)]
pub fn linear_slope(pairs: [u32; 4], fraction: [f32; 3]) -> (f32, [f32; 3]) {
    let [x, y, z] = fraction;
    let rows = pairs.map(|pair| between_halves(pair, x));
    let [near, far] = [between(rows[0], rows[1], y), between(rows[2], rows[3], y)];
    let along_x = pairs.map(difference_of_halves);
    let by_x = between(between(along_x[0], along_x[1], y), between(along_x[2], along_x[3], y), z);
    let by_y = between(rows[1] - rows[0], rows[3] - rows[2], z);
    (between(near, far, z), [by_x, by_y, far - near])
}

/// [`linear_slope`]'s derivatives at a position inside, but 0 along an axis on whose last voxel it lies: the neighbour beyond is another
/// row's voxel, or none.
#[inline(always)]
pub fn inner(derivatives: [f32; 3], position: [f32; 3], last: [f32; 3]) -> [f32; 3] {
    let axis = |i: usize| if position[i] < last[i] { derivatives[i] } else { 0.0 };
    [axis(0), axis(1), axis(2)]
}

/// The high half of a word less the low half.
#[inline(always)]
fn difference_of_halves(pair: u32) -> f32 {
    ((pair >> 16) as i32 - (pair & 0xFFFF) as i32) as f32
}

/// The value of a volume at a position, nearest or trilinear; 0 outside. `voxel` reads by index in memory.
///
/// # Safety
/// `voxel` may be called with any index below the product of `size`.
#[inline(always)]
pub unsafe fn at(voxel: impl Fn(usize) -> f32, size: [u32; 3], position: [f32; 3], how: Interpolator) -> f32 {
    if !inside(position, last(size)) {
        return 0.0;
    }
    if how == Interpolator::Nearest {
        // SAFETY: inside.
        return voxel(unsafe { nearest(position, size) } as usize);
    }
    // SAFETY: inside.
    let Place { index, fraction } = unsafe { place(position, size) };
    // On the last voxel of an axis the neighbour, with a weight of 0, is the voxel itself.
    let stride = [1, size[0], size[0] * size[1]];
    let step = [0, 1, 2].map(|i| if position[i] < last(size)[i] { stride[i] } else { 0 });
    let row = |offset: u32| {
        let low = index + offset;
        between(voxel(low as usize), voxel((low + step[0]) as usize), fraction[0])
    };
    let plane = |offset: u32| between(row(offset), row(offset + step[1]), fraction[1]);
    between(plane(0), plane(step[2]), fraction[2])
}
