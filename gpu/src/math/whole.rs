//! The integer part of a float between 0 and 2^22, as integer and as float, by the fastest instructions of CPU and GPU.
//!
//! On an NVIDIA GPU conversions run at a quarter of the rate of additions or less, so 2^23 is added, rounding down: the integer
//! part is then in the low bits, and subtracting 2^23 again leaves it as a float.

#[cfg(target_arch = "nvptx64")]
pub use device::*;
#[cfg(not(target_arch = "nvptx64"))]
pub use host::*;

#[cfg(not(target_arch = "nvptx64"))]
mod host {
    /// What [`raw`] adds to the integer.
    pub const BIAS: u32 = 0;
    /// What [`of_256ths`] adds to the integer.
    pub const BIAS_256THS: u32 = 0;

    /// The integer of an [`of`], plus [`BIAS`], for sums from which the bias is taken off once.
    #[inline(always)]
    pub fn raw(whole: i32) -> u32 {
        whole as u32
    }

    /// 256 times the value, rounded down, plus [`BIAS_256THS`].
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

    /// The integer of an [`of`].
    #[inline(always)]
    pub fn bits(whole: i32) -> u32 {
        whole as u32
    }

    /// The integer of an [`of`], as a float.
    #[inline(always)]
    pub fn float(whole: i32) -> f32 {
        whole as f32
    }

    /// The sum of each integer times its stride.
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
    /// What [`raw`] adds to the integer.
    pub const BIAS: u32 = TWO_23_BITS;
    /// 2^15, whose last place is 1/256.
    const TWO_15: f32 = 32_768.0;
    /// What [`of_256ths`] adds to the integer.
    pub const BIAS_256THS: u32 = TWO_15.to_bits();

    /// The integer of an [`of`], plus [`BIAS`], for sums from which the bias is taken off once.
    #[inline(always)]
    pub fn raw(whole: f32) -> u32 {
        whole.to_bits()
    }

    /// 256 times the value, rounded down, plus [`BIAS_256THS`].
    ///
    /// # Safety
    /// Any value is safe here; the signature is the host's.
    #[inline(always)]
    pub unsafe fn of_256ths(value: f32) -> u32 {
        cuda_std::float::add_down(value, TWO_15).to_bits()
    }

    /// The integer part, plus 2^23.
    ///
    /// # Safety
    /// Any value is safe here; the signature is the host's.
    #[inline(always)]
    pub unsafe fn of(value: f32) -> f32 {
        cuda_std::float::add_down(value, TWO_23)
    }

    /// The integer of an [`of`].
    #[inline(always)]
    pub fn bits(whole: f32) -> u32 {
        whole.to_bits().wrapping_sub(TWO_23_BITS)
    }

    /// The integer of an [`of`], as a float.
    #[inline(always)]
    pub fn float(whole: f32) -> f32 {
        whole - TWO_23
    }

    /// The sum of each integer times its stride. The bits of 2^23 add the same to it for every sample.
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
