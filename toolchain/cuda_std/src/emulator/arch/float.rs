//! Float operations that IEEE 754 defines, by those of `std`.

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

#[inline(always)]
pub fn add_down(a: f32, b: f32) -> f32 {
    let sum = a + b;
    // The rounding error, exactly (Knuth's two-sum).
    let taken = sum - a;
    let error = (a - (sum - taken)) + (b - taken);
    if error < 0.0 { sum.next_down() } else { sum }
}

#[inline(always)]
pub fn exp2_approximate(x: f32) -> f32 {
    let power = x.exp2();
    if power < f32::MIN_POSITIVE { 0.0 } else { power }
}
