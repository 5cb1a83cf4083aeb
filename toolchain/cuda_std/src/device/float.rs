//! Float operations that are a single instruction.

macro_rules! single_instructions {
    ($($float:ident)*) => {$(
        pub mod $float {
            pub use core::$float::math::{ceil, floor, mul_add, round, round_ties_even, sqrt, trunc};
        }
    )*};
}

single_instructions! { f32 f64 }

#[inline(always)]
pub fn add_down(a: f32, b: f32) -> f32 {
    let sum;
    // SAFETY: only computes on registers.
    unsafe {
        core::arch::asm!(
            "add.rm.f32 {}, {}, {};",
            out(reg32) sum, in(reg32) a, in(reg32) b,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    sum
}

#[inline(always)]
pub fn exp2_approximate(x: f32) -> f32 {
    let power;
    // SAFETY: only computes on registers.
    unsafe {
        core::arch::asm!(
            "ex2.approx.ftz.f32 {}, {};",
            out(reg32) power, in(reg32) x,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    power
}
