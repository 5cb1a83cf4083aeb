//! The integer part of a float between 0 and 2^22, as an integer and as a float, by the fastest instructions of CPU and
//! GPU.
//!
//! On an NVIDIA GPU, conversions have at most a quarter of the throughput of additions. So 2^23 is added, rounding
//! down. The low bits of the sum are the integer part, and subtracting 2^23 gives it as a float.

#[cfg(target_arch = "nvptx64")]
pub use device::*;
#[cfg(not(target_arch = "nvptx64"))]
pub use host::*;

#[cfg(not(target_arch = "nvptx64"))]
mod host {
    /// The number that [`raw`] adds to the integer.
    pub const BIAS: u32 = 0;
    /// The number that [`of_256ths`] adds to the integer.
    pub const BIAS_256THS: u32 = 0;

    /// Converts the result of [`of`] to an integer plus [`BIAS`], for sums from which the bias is subtracted once.
    #[inline(always)]
    pub fn raw(whole: i32) -> u32 {
        whole as u32
    }

    /// Returns 256 times the value, rounded down, plus [`BIAS_256THS`].
    ///
    /// # Safety
    /// `value` is between 0 and 2^15.
    #[inline(always)]
    pub unsafe fn of_256ths(value: f32) -> u32 {
        // SAFETY: in range.
        unsafe { (value * 256.0).to_int_unchecked::<i32>() as u32 }
    }

    /// The integer part.
    ///
    /// # Safety
    /// `value` is between 0 and 2^22.
    #[inline(always)]
    pub unsafe fn of(value: f32) -> i32 {
        // SAFETY: in range.
        unsafe { value.to_int_unchecked() }
    }

    /// Converts the result of [`of`] to an integer.
    #[inline(always)]
    pub fn bits(whole: i32) -> u32 {
        whole as u32
    }

    /// Converts the result of [`of`] to a float.
    #[inline(always)]
    pub fn float(whole: i32) -> f32 {
        whole as f32
    }

    /// Returns the sum of each integer times its stride.
    #[inline(always)]
    pub fn dot<const N: usize>(whole: [i32; N], strides: [u32; N]) -> u32 {
        let mut sum = 0;
        for i in 0..N {
            sum += bits(whole[i]) * strides[i];
        }
        sum
    }
}

#[cfg(target_arch = "nvptx64")]
mod device {
    /// 2^23.
    pub const TWO_23: f32 = 8_388_608.0;
    /// The bits of 2^23.
    pub const TWO_23_BITS: u32 = TWO_23.to_bits();
    /// The number that [`raw`] adds to the integer.
    pub const BIAS: u32 = TWO_23_BITS;
    /// 2^15, at which the unit in the last place of an f32 is 1/256.
    const TWO_15: f32 = 32_768.0;
    /// The number that [`of_256ths`] adds to the integer.
    pub const BIAS_256THS: u32 = TWO_15.to_bits();

    /// Converts the result of [`of`] to an integer plus [`BIAS`], for sums from which the bias is subtracted once.
    #[inline(always)]
    pub fn raw(whole: f32) -> u32 {
        whole.to_bits()
    }

    /// Returns 256 times the value, rounded down, plus [`BIAS_256THS`].
    ///
    /// # Safety
    /// Any value is safe here. The function is unsafe because its counterpart on the CPU is.
    #[inline(always)]
    pub unsafe fn of_256ths(value: f32) -> u32 {
        cuda_std::float::add_down(value, TWO_15).to_bits()
    }

    /// The integer part, plus 2^23.
    ///
    /// # Safety
    /// Any value is safe here. The function is unsafe because its counterpart on the CPU is.
    #[inline(always)]
    pub unsafe fn of(value: f32) -> f32 {
        cuda_std::float::add_down(value, TWO_23)
    }

    /// Converts the result of [`of`] to an integer.
    #[inline(always)]
    pub fn bits(whole: f32) -> u32 {
        whole.to_bits().wrapping_sub(TWO_23_BITS)
    }

    /// Converts the result of [`of`] to a float.
    #[inline(always)]
    pub fn float(whole: f32) -> f32 {
        whole - TWO_23
    }

    /// Returns the sum of each integer times its stride. The bits of 2^23 add a constant to the sum, which is
    /// subtracted at the end.
    #[inline(always)]
    pub fn dot<const N: usize>(whole: [f32; N], strides: [u32; N]) -> u32 {
        let (mut sum, mut extra) = (0_u32, 0_u32);
        for i in 0..N {
            sum = sum.wrapping_add(whole[i].to_bits().wrapping_mul(strides[i]));
            extra = extra.wrapping_add(TWO_23_BITS.wrapping_mul(strides[i]));
        }
        sum.wrapping_sub(extra)
    }
}
