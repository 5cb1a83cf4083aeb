//! Atomic addition of floats.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

macro_rules! additions {
    ($($name:ident: $float:ident in $bits:ident;)*) => {$(
        pub fn $name(target: &$bits, value: $float, order: Ordering) -> $float {
            let mut before = target.load(Ordering::Relaxed);
            loop {
                let after = ($float::from_bits(before) + value).to_bits();
                match target.compare_exchange_weak(before, after, order, Ordering::Relaxed) {
                    Ok(_) => return $float::from_bits(before),
                    Err(changed) => before = changed,
                }
            }
        }
    )*};
}

additions! {
    fetch_add_f32_device: f32 in AtomicU32;
    fetch_add_f64_device: f64 in AtomicU64;
    fetch_add_f32_block: f32 in AtomicU32;
    fetch_add_f64_block: f64 in AtomicU64;
    fetch_add_f32_system: f32 in AtomicU32;
    fetch_add_f64_system: f64 in AtomicU64;
}
