//! Texture fetches.

use crate::emulator::texture::fetch;

pub unsafe fn tex3d_f32(handle: u64, x: f32, y: f32, z: f32) -> [f32; 4] {
    [fetch(handle, [x, y, z]), 0.0, 0.0, 1.0]
}
