//! Texture fetches.

use crate::arch::texture as arch;

/// The texel of the 3-D texture `handle` at (`x`, `y`, `z`), in the coordinates and by the filter and border mode that
/// the texture was made with. One-channel textures leave the other three values 0, 0, 1.
///
/// PTX: `tex.3d.v4.f32.f32`. Any thread.
///
/// The hardware's linear filter has fractions of 9 bits, so the result differs from an interpolation in f32.
///
/// # Safety
/// `handle` must be a texture object (`CUtexObject`), or one registered with the emulator.
#[inline(always)]
pub unsafe fn tex3d_f32(handle: u64, x: f32, y: f32, z: f32) -> [f32; 4] {
    // SAFETY: the caller says that `handle` is a texture.
    unsafe { arch::tex3d_f32(handle, x, y, z) }
}
