//! Texture fetches.

use crate::arch::texture as arch;

/// Fetches from the 3-D texture `handle` at (`x`, `y`, `z`), with the coordinates, the filter and the border mode that
/// were set when the texture was created. With one-channel textures, the other three values are 0, 0, 1.
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
