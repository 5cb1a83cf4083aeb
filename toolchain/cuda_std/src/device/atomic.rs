//! Atomic addition of floats at generic addresses.

use core::arch::asm;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

macro_rules! additions {
    ($($name:ident: $float:ident in $bits:ident $class:ident, $instruction:literal;)*) => {$(
        #[inline(always)]
        pub fn $name(target: &$bits, value: $float, order: Ordering) -> $float {
            if matches!(order, Ordering::Release | Ordering::AcqRel | Ordering::SeqCst) {
                fence(order);
            }
            let before;
            // SAFETY: one atomic step on memory that the reference keeps valid.
            unsafe {
                asm!(
                    concat!($instruction, " {}, [{}], {};"),
                    out($class) before, in(reg64) target.as_ptr(), in($class) value,
                    options(nostack, preserves_flags)
                );
            }
            if matches!(order, Ordering::Acquire | Ordering::AcqRel | Ordering::SeqCst) {
                fence(order);
            }
            before
        }
    )*};
}

additions! {
    fetch_add_f32_device: f32 in AtomicU32 reg32, "atom.gpu.add.f32";
    fetch_add_f64_device: f64 in AtomicU64 reg64, "atom.gpu.add.f64";
    fetch_add_f32_block: f32 in AtomicU32 reg32, "atom.cta.add.f32";
    fetch_add_f64_block: f64 in AtomicU64 reg64, "atom.cta.add.f64";
    fetch_add_f32_system: f32 in AtomicU32 reg32, "atom.sys.add.f32";
    fetch_add_f64_system: f64 in AtomicU64 reg64, "atom.sys.add.f64";
}
