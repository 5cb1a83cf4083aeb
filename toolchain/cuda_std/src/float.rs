//! Float functions for crates without `std`.
//!
//! They have the same bits on the device and elsewhere. The functions that IEEE 754 defines (`floor` to `trunc`,
//! `mul_add`, `sqrt`, `abs`, `copysign`) are one instruction on the device, and those of `std` elsewhere. All others
//! are pure Rust on both (the crate [`libm`], or code of this crate).
//!
//! **Inherent methods win over trait methods.** Where `std` is linked, `x.exp()` on an `f32` is `std`'s, whose bits differ
//! between platforms; write `GpuFloat::exp(x)` wherever bits matter. For the functions that IEEE 754 defines either
//! spelling gives the same bits.

use crate::arch::float as arch;

/// `a + b`, rounded towards negative infinity. PTX: `add.rm.f32`. Any thread.
#[inline(always)]
pub fn add_down(a: f32, b: f32) -> f32 {
    arch::add_down(a, b)
}

/// Returns 2 to the power `x`, to about 2 units in the last place. Subnormal numbers are flushed to 0, and the bits
/// depend on the GPU. PTX: `ex2.approx.ftz.f32`. Any thread.
#[inline(always)]
pub fn exp2_approximate(x: f32) -> f32 {
    arch::exp2_approximate(x)
}

/// The methods of floats that `core` lacks. Angles are in radians. Any thread.
pub trait GpuFloat: Copy + PartialOrd + private::Sealed {
    /// The largest integer not above `self`. PTX: `cvt.rmi`.
    fn floor(self) -> Self;
    /// The smallest integer not below `self`. PTX: `cvt.rpi`.
    fn ceil(self) -> Self;
    /// The nearest integer, halves away from 0.
    fn round(self) -> Self;
    /// The nearest integer, halves to the even one. PTX: `cvt.rni`.
    fn round_ties_even(self) -> Self;
    /// The integer part. PTX: `cvt.rzi`.
    fn trunc(self) -> Self;
    /// `self - self.trunc()`.
    fn fract(self) -> Self;
    /// The absolute value. PTX: `abs`.
    fn abs(self) -> Self;
    /// 1 with the sign of `self`, NaN for NaN.
    fn signum(self) -> Self;
    /// `self` with the sign of `sign`. PTX: `copysign`.
    fn copysign(self, sign: Self) -> Self;
    /// `self * a + b`, rounded once. PTX: `fma.rn`.
    fn mul_add(self, a: Self, b: Self) -> Self;
    /// The integer `n` for which `self = n * rhs + self.rem_euclid(rhs)`.
    fn div_euclid(self, rhs: Self) -> Self;
    /// The least nonnegative remainder of `self / rhs`.
    fn rem_euclid(self, rhs: Self) -> Self;
    /// `self` to the power `n`, by squaring.
    fn powi(self, n: i32) -> Self;
    /// `self` to the power `n`.
    fn powf(self, n: Self) -> Self;
    /// The square root. PTX: `sqrt.rn`.
    fn sqrt(self) -> Self;
    /// e to the power `self`.
    fn exp(self) -> Self;
    /// 2 to the power `self`.
    fn exp2(self) -> Self;
    /// The natural logarithm.
    fn ln(self) -> Self;
    /// The logarithm to `base`, as a quotient of natural logarithms.
    fn log(self, base: Self) -> Self;
    /// The logarithm to base 2.
    fn log2(self) -> Self;
    /// The logarithm to base 10.
    fn log10(self) -> Self;
    /// The cube root.
    fn cbrt(self) -> Self;
    /// The length of the vector (`self`, `other`).
    fn hypot(self, other: Self) -> Self;
    /// The sine.
    fn sin(self) -> Self;
    /// The cosine.
    fn cos(self) -> Self;
    /// The tangent.
    fn tan(self) -> Self;
    /// The inverse sine.
    fn asin(self) -> Self;
    /// The inverse cosine.
    fn acos(self) -> Self;
    /// The inverse tangent.
    fn atan(self) -> Self;
    /// The angle of the point (`other`, `self`).
    fn atan2(self, other: Self) -> Self;
    /// Sine and cosine.
    fn sin_cos(self) -> (Self, Self);
    /// `exp(self) - 1`, exact near 0.
    fn exp_m1(self) -> Self;
    /// `ln(1 + self)`, exact near 0.
    fn ln_1p(self) -> Self;
    /// The hyperbolic sine.
    fn sinh(self) -> Self;
    /// The hyperbolic cosine.
    fn cosh(self) -> Self;
    /// The hyperbolic tangent.
    fn tanh(self) -> Self;
    /// The inverse hyperbolic sine.
    fn asinh(self) -> Self;
    /// The inverse hyperbolic cosine.
    fn acosh(self) -> Self;
    /// The inverse hyperbolic tangent.
    fn atanh(self) -> Self;
}

mod private {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

macro_rules! forward {
    ($float:ident: $($name:ident($($argument:ident),*) = $function:path;)*) => {$(
        #[inline(always)]
        fn $name(self $(, $argument: $float)*) -> $float {
            $function(self $(, $argument)*)
        }
    )*};
}

macro_rules! shared_methods {
    ($float:ident, $remainder:path) => {
        forward! { $float:
            floor() = arch::$float::floor;
            ceil() = arch::$float::ceil;
            round() = arch::$float::round;
            round_ties_even() = arch::$float::round_ties_even;
            trunc() = arch::$float::trunc;
            mul_add(a, b) = arch::$float::mul_add;
            sqrt() = arch::$float::sqrt;
            abs() = $float::abs;
            signum() = $float::signum;
            copysign(sign) = $float::copysign;
        }

        #[inline(always)]
        fn fract(self) -> $float {
            self - arch::$float::trunc(self)
        }

        #[inline]
        fn div_euclid(self, rhs: $float) -> $float {
            let quotient = arch::$float::trunc(self / rhs);
            match $remainder(self, rhs) < 0.0 {
                true if rhs > 0.0 => quotient - 1.0,
                true => quotient + 1.0,
                false => quotient,
            }
        }

        #[inline]
        fn rem_euclid(self, rhs: $float) -> $float {
            let remainder = $remainder(self, rhs);
            if remainder < 0.0 { remainder + $float::abs(rhs) } else { remainder }
        }

        #[inline]
        fn powi(self, n: i32) -> $float {
            let (mut power, mut base, mut rest) = (1.0, self, n.unsigned_abs());
            while rest != 0 {
                if rest & 1 == 1 {
                    power *= base;
                }
                base *= base;
                rest >>= 1;
            }
            if n < 0 { 1.0 / power } else { power }
        }

        #[inline(always)]
        fn log(self, base: $float) -> $float {
            GpuFloat::ln(self) / GpuFloat::ln(base)
        }
    };
}

impl GpuFloat for f32 {
    shared_methods!(f32, libm::fmodf);

    forward! { f32:
        powf(n) = libm::powf;
        exp() = libm::expf;
        exp2() = libm::exp2f;
        ln() = libm::logf;
        log2() = libm::log2f;
        log10() = libm::log10f;
        cbrt() = libm::cbrtf;
        hypot(other) = libm::hypotf;
        sin() = libm::sinf;
        cos() = libm::cosf;
        tan() = libm::tanf;
        asin() = libm::asinf;
        acos() = libm::acosf;
        atan() = libm::atanf;
        atan2(other) = libm::atan2f;
        exp_m1() = libm::expm1f;
        ln_1p() = libm::log1pf;
        sinh() = libm::sinhf;
        cosh() = libm::coshf;
        tanh() = libm::tanhf;
        asinh() = libm::asinhf;
        acosh() = libm::acoshf;
        atanh() = libm::atanhf;
    }

    #[inline(always)]
    fn sin_cos(self) -> (f32, f32) {
        libm::sincosf(self)
    }
}

impl GpuFloat for f64 {
    shared_methods!(f64, libm::fmod);

    forward! { f64:
        powf(n) = libm::pow;
        exp() = libm::exp;
        exp2() = libm::exp2;
        ln() = libm::log;
        log2() = libm::log2;
        log10() = libm::log10;
        cbrt() = libm::cbrt;
        hypot(other) = libm::hypot;
        sin() = libm::sin;
        cos() = libm::cos;
        tan() = libm::tan;
        asin() = libm::asin;
        acos() = libm::acos;
        atan() = libm::atan;
        atan2(other) = libm::atan2;
        exp_m1() = libm::expm1;
        ln_1p() = libm::log1p;
        sinh() = libm::sinh;
        cosh() = libm::cosh;
        tanh() = libm::tanh;
        asinh() = libm::asinh;
        acosh() = libm::acosh;
        atanh() = libm::atanh;
    }

    #[inline(always)]
    fn sin_cos(self) -> (f64, f64) {
        libm::sincos(self)
    }
}

#[cfg(test)]
mod tests {
    use super::add_down;

    #[test]
    fn add_down_never_exceeds_the_sum() {
        let two_23 = 8_388_608.0_f32;
        for (value, whole) in [(0.0, 0.0), (0.99, 0.0), (1.0, 1.0), (1.5, 1.0), (2.5, 2.0), (3.999, 3.0), (4e6, 4e6)] {
            assert_eq!(add_down(value, two_23) - two_23, whole, "{value}");
        }
        assert_eq!(add_down(-0.25, two_23), two_23 - 0.5);
    }
}
