//! Fast trilinear interpolation of images of 8-bit levels, with four levels in a word.
//!
//! A word ([`word`]) holds the levels of four neighbours in a plane: (x, y), (x + 1, y), (x, y + 1) and (x + 1, y + 1),
//! lowest byte first. Within the plane, positions are rounded down to 1/256 voxel. The weights of the four neighbours
//! are bytes that sum to 255, so that the value in the plane is a dot product of bytes, computed exactly by one
//! instruction. Between two planes, interpolation is linear in f32.

use super::{interpolate, strips, whole};
#[cfg(target_arch = "nvptx64")]
use cuda_std::GpuFloat;
use cuda_std::bits::{self, dot4};

/// The highest level.
pub const LEVELS: u32 = 255;

/// The interpolated value where all eight neighbours have the highest level.
pub const FULL: f32 = (LEVELS * LEVELS) as f32;

/// Coordinates, in voxels, must be less than this.
pub const REACH: usize = 1 << 15;

/// Returns the level, 0 to [`LEVELS`], of a stored value that is a multiple of 257.
#[inline(always)]
pub fn level(stored: u16) -> u32 {
    u32::from(stored) / 257
}

/// Packs the levels at (x, y), (x + 1, y), (x, y + 1) and (x + 1, y + 1) in a word.
#[inline(always)]
pub fn word([here, right, below, both]: [u32; 4]) -> u32 {
    here | right << 8 | below << 16 | both << 24
}

/// A place whose fraction is a pair: the weights within the plane, one byte for each byte of a [`word`], and the
/// fraction between the planes, 0 to below 1.
pub type Place = interpolate::Place<(u32, f32)>;

/// Returns the place of a position inside an image of this size, both in voxels.
///
/// # Safety
/// No coordinate is negative, NaN or [`REACH`] and above.
#[inline(always)]
pub unsafe fn place([x, y, z]: [f32; 3], size: [u32; 3]) -> Place {
    // SAFETY: by this function's contract.
    let (x, y, whole) = unsafe { (whole::of_256ths(x), whole::of_256ths(y), whole::of(z)) };
    let (row, plane) = (size[0], size[0] * size[1]);
    // The biases add the same number to the index of every sample.
    let bias = (whole::BIAS_256THS >> 8).wrapping_mul(row + 1).wrapping_add(whole::BIAS.wrapping_mul(plane));
    let index = (y >> 8).wrapping_mul(row).wrapping_sub(bias);
    let index = whole::raw(whole).wrapping_mul(plane).wrapping_add(index).wrapping_add(x >> 8);
    Place { index, fraction: (weights(x & 0xFF, y & 0xFF), z - whole::float(whole)) }
}

/// [`place`] in an image that is laid out in [`strips`].
///
/// # Safety
/// As [`place`].
#[inline(always)]
pub unsafe fn place_in_strips([x, y, z]: [f32; 3], size: [u32; 3]) -> Place {
    const { assert!(strips::WIDTH == 8 && whole::BIAS_256THS.trailing_zeros() >= 11) };
    // SAFETY: by this function's contract.
    let (x, y, whole) = unsafe { (whole::of_256ths(x), whole::of_256ths(y), whole::of(z)) };
    let (strip, plane) = (strips::strip(size), strips::plane(size));
    // The three lowest bits of x, plus eight times y.
    let within = bits::select(strips::WIDTH - 1, x >> 8, y >> 5);
    let bias = (whole::BIAS_256THS >> 11).wrapping_mul(strip).wrapping_add(whole::BIAS_256THS >> 5);
    let bias = bits::opaque(whole::BIAS.wrapping_mul(plane).wrapping_add(bias));
    let index = whole::raw(whole).wrapping_mul(plane).wrapping_add((x >> 11).wrapping_mul(strip));
    let index = index.wrapping_add(within).wrapping_sub(bias);
    Place { index, fraction: (weights(x & 0xFF, y & 0xFF), z - whole::float(whole)) }
}

/// Returns the bytes (255 - x - y + xy, x - xy, y - xy, xy) for fractions x and y in 256ths, where xy is their product,
/// rounded up. None is negative, and they sum to 255.
#[inline(always)]
fn weights(x: u32, y: u32) -> u32 {
    let both = (x * y + 255) >> 8;
    // The four formulas above, each shifted to its byte, with the terms collected by x, y and xy.
    (255 + 255 * (x + 257 * y)).wrapping_add(both * ((1 << 24) - (1 << 16) - (1 << 8) + 1))
}

/// Returns the interpolated value, 0 to [`FULL`], from the words at the place's index in the lower and in the upper
/// plane.
#[inline(always)]
pub fn value(planes: [u32; 2], place: Place) -> f32 {
    let (weights, fraction) = place.fraction;
    let [low, high] = [in_plane(planes[0], weights), in_plane(planes[1], weights)];
    fraction.mul_add(high - low, low - BIAS)
}

/// The number that [`in_plane`] adds to a value. It cancels in the difference of two planes.
#[cfg(target_arch = "nvptx64")]
const BIAS: f32 = whole::TWO_23;
#[cfg(not(target_arch = "nvptx64"))]
const BIAS: f32 = 0.0;

#[cfg(target_arch = "nvptx64")]
#[inline(always)]
fn in_plane(word: u32, weights: u32) -> f32 {
    f32::from_bits(dot4(word, weights, whole::TWO_23_BITS))
}

#[cfg(not(target_arch = "nvptx64"))]
#[inline(always)]
fn in_plane(word: u32, weights: u32) -> f32 {
    dot4(word, weights, 0) as i32 as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_bytes_that_sum_to_255() {
        for (x, y) in (0..256).flat_map(|x| (0..256).map(move |y| (x, y))) {
            let bytes = weights(x, y).to_le_bytes().map(u32::from);
            let both = (x * y).div_ceil(256);
            assert_eq!(bytes, [255 + both - x - y, x - both, y - both, both], "{x}, {y}");
        }
    }

    #[test]
    fn a_voxel_at_its_centre_is_itself_and_a_constant_stays() {
        // SAFETY: the coordinates below are 0 to 5.3.
        let place = |x, y, z| unsafe { place([x, y, z], [10, 20, 30]) };
        assert_eq!(place(3.0, 2.0, 5.0), Place { index: 3 + 10 * (2 + 20 * 5), fraction: (255, 0.0) });
        assert_eq!(value([word([7, 99, 200, 4]), 0x1234_5678], place(3.0, 2.0, 5.0)), 7.0 * 255.0);
        for at in [0.1, 0.5, 0.996, 0.999_999] {
            assert_eq!(value([0xC8C8_C8C8; 2], place(at, 1.0 + at, 2.0 + at)), 200.0 * 255.0);
        }
    }

    #[test]
    fn a_place_in_strips_is_that_of_rows_elsewhere() {
        let size = [21, 9, 4];
        for (x, y, z) in [(0.0, 0.0, 0.0), (7.99, 3.5, 1.25), (8.0, 8.0, 3.0), (20.0, 7.001, 2.999), (15.5, 0.25, 0.5)]
        {
            // SAFETY: the coordinates are 0 to 20.
            let (rows, found) = unsafe { (place([x, y, z], size), place_in_strips([x, y, z], size)) };
            assert_eq!(found.index, strips::index([x as u32, y as u32, z as u32], size));
            assert_eq!(found.fraction, rows.fraction);
        }
    }

    #[test]
    fn a_value_is_within_a_256th_of_the_exact_one() {
        let corners = [[10_u32, 250, 0, 99], [255, 3, 128, 77]];
        for (x, y, z) in [(0.3, 0.7, 0.1), (0.99, 0.01, 0.5), (0.5, 0.5, 0.999), (0.0, 0.25, 0.75)] {
            // SAFETY: the coordinates are 0 to 1.
            let found = value(corners.map(word), unsafe { place([x, y, z], [4; 3]) }) / 255.0;
            let mut exact = 0.0;
            for (k, plane) in corners.iter().enumerate() {
                for (i, &level) in plane.iter().enumerate() {
                    let along = |t: f32, far: usize| if far == 1 { t } else { 1.0 - t };
                    exact += along(x, i & 1) * along(y, i >> 1) * along(z, k) * level as f32;
                }
            }
            assert!((found - exact).abs() < 255.0 * 3.0 / 256.0, "{found}, not {exact}");
        }
    }
}
