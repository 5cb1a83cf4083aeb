//! Interpolation between voxels. A position is inside an image if it lies on or between the outermost voxel centres.

use super::whole;
#[cfg(target_arch = "nvptx64")]
use super::whole::{TWO_23, TWO_23_BITS};
#[cfg(target_arch = "nvptx64")]
use cuda_std::GpuFloat;

/// How a value between voxels is computed.
#[repr(u32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interpolator {
    /// The value of the voxel whose centre is nearest; halves round up.
    Nearest = 0,
    /// Trilinear from the eight neighbours.
    Linear = 1,
    /// Cubic convolution through the voxels ([`super::cubic`]).
    CatmullRom = 2,
    /// The cubic spline through the voxels, from B-spline coefficients ([`super::cubic`]).
    BSpline = 3,
    /// For a joint histogram, partial volume interpolation: each of the eight neighbours is counted with its weight
    /// ([`super::partial_volume`]). Where a value is needed, trilinear.
    PartialVolume = 4,
}

impl Interpolator {
    /// Returns the interpolator with this discriminant.
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

    /// Its name, in lower case with hyphens.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nearest => "nearest",
            Self::Linear => "linear",
            Self::CatmullRom => "catmull-rom",
            Self::BSpline => "b-spline",
            Self::PartialVolume => "partial-volume",
        }
    }

    /// Whether it samples the padded volume of [`super::cubic`] rather than the voxels.
    #[inline(always)]
    pub fn is_cubic(self) -> bool {
        matches!(self, Self::CatmullRom | Self::BSpline)
    }
}

/// The position of the last voxel of an image of this size, in voxels.
#[inline(always)]
pub fn last(size: [u32; 3]) -> [f32; 3] {
    size.map(|n| (n - 1) as f32)
}

/// Returns whether a position lies on or between the outermost voxel centres, from 0 to `last`. No coordinate may be a
/// negative zero.
///
/// The bits of floats that are not negative compare like the floats, and those of a negative float or a NaN are
/// greater.
#[inline(always)]
pub fn inside(position: [f32; 3], last: [f32; 3]) -> bool {
    // `&` and not `&&`: a short circuit would be a branch per axis.
    let axis = |i: usize| position[i].to_bits() <= last[i].to_bits();
    axis(0) & axis(1) & axis(2)
}

/// Returns the nearest position inside.
#[inline(always)]
pub fn clamp(position: [f32; 3], last: [f32; 3]) -> [f32; 3] {
    let axis = |i: usize| {
        // These comparisons compile to one instruction each on x86, unlike `max` and `min`, and a NaN becomes 0.
        let position = if position[i] > 0.0 { position[i] } else { 0.0 };
        if position < last[i] { position } else { last[i] }
    };
    [axis(0), axis(1), axis(2)]
}

/// A position inside an image, in the form that an interpolator needs.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Place<F = [f32; 3]> {
    /// The index in memory of the neighbour with the lowest x, y and z.
    pub index: u32,
    /// The distance from that voxel along x, y and z, 0 to below 1 voxel, or something that an interpolator computes
    /// from it.
    pub fraction: F,
}

/// Returns the number of voxels, of any value, that must follow a volume in memory. On the last voxel of an axis the
/// fraction is 0, but the neighbour is read nevertheless.
pub const fn padding(size: [u32; 3]) -> usize {
    1 + size[0] as usize + size[0] as usize * size[1] as usize
}

/// Returns the place of a position inside an image of this size, both in voxels.
///
/// # Safety
/// No coordinate is negative, NaN or above 2^22.
#[inline(always)]
pub unsafe fn place(position: [f32; 3], size: [u32; 3]) -> Place {
    // SAFETY: by this function's contract.
    let whole = unsafe { [whole::of(position[0]), whole::of(position[1]), whole::of(position[2])] };
    let fraction = |i: usize| position[i] - whole::float(whole[i]);
    let index = whole::dot(whole, [1, size[0], size[0] * size[1]]);
    Place { index, fraction: [fraction(0), fraction(1), fraction(2)] }
}

/// Returns what `place` returns if the position lies `inside`, else a place that is safe to read. `place` must be safe
/// to call if the position lies inside and, on a GPU, for any position.
#[inline(always)]
pub fn place_if<F: Default>(inside: bool, place: impl FnOnce() -> Place<F>) -> Place<F> {
    if cfg!(target_arch = "nvptx64") {
        // A select instruction is shorter than a branch.
        let place = place();
        Place { index: if inside { place.index } else { 0 }, ..place }
    } else if inside {
        place()
    } else {
        Place::default()
    }
}

/// Returns the index in memory of the voxel nearest to a position inside.
///
/// # Safety
/// As [`place`].
#[inline(always)]
pub unsafe fn nearest(position: [f32; 3], size: [u32; 3]) -> u32 {
    // SAFETY: by this function's contract.
    let whole = unsafe { [whole::of(position[0] + 0.5), whole::of(position[1] + 0.5), whole::of(position[2] + 0.5)] };
    whole::dot(whole, [1, size[0], size[0] * size[1]])
}

/// The voxel nearest to a position inside.
///
/// # Safety
/// As [`place`].
#[inline(always)]
pub unsafe fn nearest_voxel([x, y, z]: [f32; 3]) -> [u32; 3] {
    // SAFETY: by this function's contract.
    let whole = |at: f32| whole::bits(unsafe { whole::of(at + 0.5) });
    [whole(x), whole(y), whole(z)]
}

/// Linear interpolation: `low` for a fraction of 0, `high` for 1.
#[inline(always)]
pub fn lerp(low: f32, high: f32, fraction: f32) -> f32 {
    fraction.mul_add(high - low, low)
}

/// Returns the low half of a word, and the difference of the high half from it.
#[cfg(not(target_arch = "nvptx64"))]
#[inline(always)]
fn halves(pair: u32) -> [f32; 2] {
    let low = (pair & 0xFFFF) as i32;
    [low as f32, ((pair >> 16) as i32 - low) as f32]
}

/// Returns the low half of a word, and the difference of the high half from it. A half, put below the upper bits of the
/// float 2^23, gives the float 2^23 + half exactly. In differences, 2^23 cancels.
#[cfg(target_arch = "nvptx64")]
#[inline(always)]
fn halves(pair: u32) -> [f32; 2] {
    let low = f32::from_bits(cuda_std::bits::permute(pair, TWO_23_BITS, 0x7610));
    let high = f32::from_bits(cuda_std::bits::permute(pair, TWO_23_BITS, 0x7632));
    [low - TWO_23, high - low]
}

/// Interpolates 16-bit stored values trilinearly, along x first, then y, then z. A word of `pairs` holds two neighbours
/// along x, the lower x in the low half. The words are for the rows (y, z), (y + 1, z), (y, z + 1) and (y + 1, z + 1).
#[inline(always)]
pub fn linear(pairs: [u32; 4], fraction: [f32; 3]) -> f32 {
    let [x, y, z] = fraction;
    let rows = pairs.map(halves).map(|[low, step]| x.mul_add(step, low));
    lerp(lerp(rows[0], rows[1], y), lerp(rows[2], rows[3], y), z)
}

/// Returns [`linear`], and its derivatives along x, y and z in stored values per voxel.
#[inline(always)]
pub fn linear_slope(pairs: [u32; 4], fraction: [f32; 3]) -> (f32, [f32; 3]) {
    let [x, y, z] = fraction;
    let ends = pairs.map(halves);
    let rows = ends.map(|[low, step]| x.mul_add(step, low));
    let [near, far] = [lerp(rows[0], rows[1], y), lerp(rows[2], rows[3], y)];
    let along_x = ends.map(|[_, step]| step);
    let by_x = lerp(lerp(along_x[0], along_x[1], y), lerp(along_x[2], along_x[3], y), z);
    let by_y = lerp(rows[1] - rows[0], rows[3] - rows[2], z);
    (lerp(near, far, z), [by_x, by_y, far - near])
}

/// Sets a derivative of [`linear_slope`] to 0 along each axis on whose last voxel the position lies, since the
/// neighbour that was read belongs to another row or to the padding.
#[inline(always)]
pub fn inner(derivatives: [f32; 3], position: [f32; 3], last: [f32; 3]) -> [f32; 3] {
    let axis = |i: usize| if position[i] < last[i] { derivatives[i] } else { 0.0 };
    [axis(0), axis(1), axis(2)]
}

/// Returns the value of a volume of this size at a position in voxels: that of the nearest voxel or, for any other
/// interpolator, the trilinear one; 0 outside. `voxel` reads a voxel by its index in memory.
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
    // On the last voxel of an axis, the voxel itself is read in place of its neighbour, whose weight is 0.
    let stride = [1, size[0], size[0] * size[1]];
    let step = [0, 1, 2].map(|i| if position[i] < last(size)[i] { stride[i] } else { 0 });
    let row = |offset: u32| {
        let low = index + offset;
        lerp(voxel(low as usize), voxel((low + step[0]) as usize), fraction[0])
    };
    let plane = |offset: u32| lerp(row(offset), row(offset + step[1]), fraction[1]);
    lerp(plane(0), plane(step[2]), fraction[2])
}
