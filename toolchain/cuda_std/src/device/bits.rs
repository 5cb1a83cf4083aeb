//! Operations on the bytes and bits of words.

#[inline(always)]
pub fn permute(a: u32, b: u32, selector: u32) -> u32 {
    let bytes;
    // SAFETY: only selects bytes.
    unsafe {
        core::arch::asm!(
            "prmt.b32 {}, {}, {}, {};",
            out(reg32) bytes, in(reg32) a, in(reg32) b, in(reg32) selector,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    bytes
}

#[inline(always)]
pub fn dot4(a: u32, b: u32, sum: u32) -> u32 {
    let total;
    // SAFETY: only computes on registers.
    unsafe {
        core::arch::asm!(
            "dp4a.u32.u32 {}, {}, {}, {};",
            out(reg32) total, in(reg32) a, in(reg32) b, in(reg32) sum,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    total
}

#[inline(always)]
pub fn opaque(value: u32) -> u32 {
    let same;
    // SAFETY: only copies a register.
    unsafe {
        core::arch::asm!("mov.u32 {}, {};", out(reg32) same, in(reg32) value, options(pure, nomem, nostack, preserves_flags));
    }
    same
}

#[inline(always)]
pub fn select(mask: u32, a: u32, b: u32) -> u32 {
    let bits;
    // SAFETY: only selects bits.
    unsafe {
        core::arch::asm!(
            "lop3.b32 {}, {}, {}, {}, 0xE4;",
            out(reg32) bits, in(reg32) a, in(reg32) b, in(reg32) mask,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    bits
}
