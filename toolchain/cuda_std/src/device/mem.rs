//! Sizes of shared memory.

use core::arch::asm;

macro_rules! sizes {
    ($($name:ident)*) => {$(
        #[inline(always)]
        pub fn $name() -> u32 {
            let bytes;
            // SAFETY: reads a special register.
            unsafe {
                asm!(
                    concat!("mov.u32 {}, %", stringify!($name), ";"),
                    out(reg32) bytes,
                    options(pure, nomem, nostack, preserves_flags)
                )
            }
            bytes
        }
    )*};
}

sizes! { dynamic_smem_size total_smem_size }
