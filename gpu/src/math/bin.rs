//! Intensities to bins.
//!
//! An intensity is mapped once, at upload, to a 16-bit fraction of the configured range. Its bin is
//! `round(fraction * (bins - 1))`: listing 1 of Shams 2009 with the rounding of eq. 8. Equation 8 as printed (and eq. 4 of Ledig)
//! rounds after adding the two images' terms, so that the fraction of one image can spill into the bin of the other; what both
//! papers describe is the separable form, and that is what is computed here.

#[cfg(target_arch = "nvptx64")]
use cuda_std::GpuFloat;

/// The stored value of the top of the range.
pub const FULL: f32 = 65535.0;

/// What [`of`] multiplies by for this many bins.
#[inline(always)]
pub fn scale(bins: u32) -> f32 {
    (bins - 1) as f32 / FULL
}

/// The bin of a stored (perhaps interpolated) value between 0 and [`FULL`]; halves round up.
#[inline(always)]
pub fn of(value: f32, scale: f32) -> u32 {
    let rounded = value.mul_add(scale, 0.5);
    // SAFETY: the value is at most `FULL` and at least 0, so the sum is at most `bins - 0.5`.
    unsafe { rounded.to_int_unchecked::<i32>() as u32 }
}

/// The stored value of an intensity: clamped to `low..=high`, halves round up.
pub fn store(intensity: f32, low: f32, high: f32) -> u16 {
    let fraction = (f64::from(intensity) - f64::from(low)) / (f64::from(high) - f64::from(low));
    (fraction * f64::from(FULL) + 0.5) as u16
}
