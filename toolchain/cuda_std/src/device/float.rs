//! Float operations that are one instruction, in LLVM's terms.

macro_rules! single_instructions {
    ($($float:ident)*) => {$(
        pub mod $float {
            pub use core::$float::math::{ceil, floor, mul_add, round, round_ties_even, sqrt, trunc};
        }
    )*};
}

single_instructions! { f32 f64 }
