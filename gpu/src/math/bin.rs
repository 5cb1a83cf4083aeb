//! Computes stored values and bins from intensities.
//!
//! At upload, an intensity is converted to its stored value, a 16-bit fraction of the configured range. With up to 256
//! bins, only 256 levels of these values are used. The bin is `round(fraction * (bins - 1))`: listing 1 of Shams 2009
//! with the rounding of eq. 8. As printed, eq. 8 (and eq. 4 of Ledig) rounds after the terms of both images are added,
//! so that the fraction of one image can spill into the bin of the other. Both papers describe the separable form,
//! which is computed here.

use super::eight_bit::LEVELS;
use super::whole;
#[cfg(target_arch = "nvptx64")]
use cuda_std::GpuFloat;

/// The stored value of the top of the range.
pub const FULL: f32 = 65535.0;

/// The bin number of a fixed voxel that is not to be counted.
pub const MASKED: u16 = u16::MAX;

/// Returns the factor that [`of`] takes for values from 0 to `full` and this many bins, at least 2.
#[inline(always)]
pub fn scale(bins: u32, full: f32) -> f32 {
    (bins - 1) as f32 / full
}

/// Returns the bin of a stored value, which may be interpolated. Halves round up.
///
/// # Safety
/// `value` is between 0 and the `full` that the scale was computed for.
#[inline(always)]
pub unsafe fn of(value: f32, scale: f32) -> u32 {
    // SAFETY: at most `bins - 0.5`.
    unsafe { whole::bits(whole::of(value.mul_add(scale, 0.5))) }
}

/// [`of`], plus [`whole::BIAS`], which the caller subtracts once for many values.
///
/// # Safety
/// As [`of`].
#[inline(always)]
pub unsafe fn raw(value: f32, scale: f32) -> u32 {
    // SAFETY: by this function's contract.
    whole::raw(unsafe { whole::of(value.mul_add(scale, 0.5)) })
}

/// Returns the joint index of a fixed bin and a value of the moving image, `fixed + fixed_bins * moving`, minus
/// `first`.
///
/// # Safety
/// As [`of`].
#[inline(always)]
pub unsafe fn pair(fixed: u32, fixed_bins: u32, value: f32, scale: f32, first: u32) -> u32 {
    // SAFETY: by this function's contract.
    let moving = unsafe { whole::of(value.mul_add(scale, 0.5)) };
    fixed.wrapping_sub(first).wrapping_add(whole::dot([moving], [fixed_bins]))
}

/// Returns the stored value of an intensity: 0 for `low` and below, 65535 for `high` and above. It is one of 65536
/// values if `fine`, else one of 256 levels, the multiples of 257. Halves round up.
#[inline(always)]
pub fn store(intensity: f32, low: f32, high: f32, fine: bool) -> u16 {
    let fraction = (f64::from(intensity) - f64::from(low)) / (f64::from(high) - f64::from(low));
    match fine {
        true => (fraction * f64::from(FULL) + 0.5) as u16,
        false => 257 * ((fraction * f64::from(LEVELS) + 0.5) as u8 as u16),
    }
}

/// Returns the bin of an intensity, which is that of its stored value. There are 2 to 1024 bins.
#[inline(always)]
pub fn number(intensity: f32, low: f32, high: f32, bins: u32) -> u16 {
    let stored = store(intensity, low, high, fine(bins));
    // SAFETY: stored values are in range.
    unsafe { of(f32::from(stored), scale(bins, FULL)) as u16 }
}

/// Returns the stored value of an intensity, at most 65534, since 65535 is [`MASKED`].
#[inline(always)]
pub fn value(intensity: f32, low: f32, high: f32) -> u16 {
    store(intensity, low, high, true).min(MASKED - 1)
}

/// Returns whether this many bins need 65536 stored values. With up to 256 bins, intensities are rounded to 256 levels,
/// and a kernel reads half as much memory.
#[inline(always)]
pub fn fine(bins: u32) -> bool {
    bins > LEVELS + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_the_range_get_the_first_and_the_last_bin() {
        for bins in [2, 50, 64, 100, 256] {
            // SAFETY: 16-bit values end at `FULL`.
            let bin = |v: u16| unsafe { of(f32::from(v), scale(bins, FULL)) };
            assert_eq!([bin(0), bin(u16::MAX)], [0, bins - 1]);
            // The first bin is half as wide as the others, as Shams's listing 1 has it.
            let width = 65535 / (bins - 1);
            assert_eq!([bin((width / 2 - 1) as u16), bin((width / 2 + 2) as u16)], [0, 1]);
        }
    }

    #[test]
    fn intensities_beyond_the_range_are_clamped() {
        assert_eq!([-5.0, -1.0, 0.0, 1.0, 7.0].map(|v| store(v, -1.0, 1.0, true)), [0, 0, 32768, 65535, 65535]);
        assert_eq!([-5.0, -1.0, 0.0, 1.0, 7.0].map(|v| store(v, -1.0, 1.0, false)), [0, 0, 128 * 257, 65535, 65535]);
    }
}
