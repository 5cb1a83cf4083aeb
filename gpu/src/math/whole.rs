//! The integer part of a float between 0 and 2^22, as integer and as float, by what is fastest on each side.
//!
//! On an NVIDIA GPU conversions run at a quarter of the rate of additions or less, so 2^23 is added, rounding down: the integer
//! part is then in the low bits, and subtracting 2^23 again leaves it as a float.

#[cfg(target_arch = "nvptx64")]
pub use device::*;
#[cfg(not(target_arch = "nvptx64"))]
pub use host::*;

#[cfg(not(target_arch = "nvptx64"))]
mod host {
    /// The integer part.
    ///
    /// # Safety
    /// `value` is between 0 and 2^22.
    #[inline(always)]
    pub unsafe fn of(value: f32) -> i32 {
        // SAFETY: in range.
        unsafe { value.to_int_unchecked() }
    }

    /// What [`of`] found, as an integer.
    #[inline(always)]
    pub fn bits(whole: i32) -> u32 {
        whole as u32
    }

    /// What [`of`] found, as a float.
    #[inline(always)]
    pub fn float(whole: i32) -> f32 {
        whole as f32
    }
}

#[cfg(target_arch = "nvptx64")]
mod device {
    /// 2^23.
    pub const TWO_23: f32 = 8_388_608.0;
    /// The bits of 2^23.
    pub const TWO_23_BITS: u32 = TWO_23.to_bits();

    /// The integer part, plus 2^23.
    ///
    /// # Safety
    /// `value` is between 0 and 2^22.
    #[inline(always)]
    pub unsafe fn of(value: f32) -> f32 {
        cuda_std::float::add_down(value, TWO_23)
    }

    /// What [`of`] found, as an integer.
    #[inline(always)]
    pub fn bits(whole: f32) -> u32 {
        whole.to_bits().wrapping_sub(TWO_23_BITS)
    }

    /// What [`of`] found, as a float.
    #[inline(always)]
    pub fn float(whole: f32) -> f32 {
        whole - TWO_23
    }
}
