//! Float operations that IEEE 754 defines.

macro_rules! operations {
    ($($float:ident)*) => {$(
        pub mod $float {
            operations! { @ $float: floor() ceil() round() round_ties_even() trunc() sqrt() mul_add(a, b) }
        }
    )*};
    (@ $float:ident: $($name:ident($($argument:ident),*))*) => {$(
        #[inline(always)]
        pub fn $name(x: $float $(, $argument: $float)*) -> $float {
            $float::$name(x $(, $argument)*)
        }
    )*};
}

operations! { f32 f64 }
