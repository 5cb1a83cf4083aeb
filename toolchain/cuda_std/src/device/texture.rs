//! Texture fetches.

use core::arch::asm;

#[inline(always)]
pub unsafe fn tex3d_f32(handle: u64, x: f32, y: f32, z: f32) -> [f32; 4] {
    let (r, g, b, a);
    // The fourth coordinate is ignored: the instruction takes a vector of four.
    // SAFETY: the caller says that `handle` is a texture. Textures are read-only while a kernel runs, so that the fetch
    // depends on its operands only.
    unsafe {
        asm!(
            "tex.3d.v4.f32.f32 {{{r}, {g}, {b}, {a}}}, [{handle}, {{{x}, {y}, {z}, {z}}}];",
            r = out(reg32) r, g = out(reg32) g, b = out(reg32) b, a = out(reg32) a,
            handle = in(reg64) handle, x = in(reg32) x, y = in(reg32) y, z = in(reg32) z,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    [r, g, b, a]
}
