//! Textures of the emulator.

use super::current::fail;
use super::fault::FaultKind;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

/// A 3-D texture of one `f32` channel, fetched at unnormalised coordinates: texel `i` spans `i` to `i + 1`.
#[derive(Debug, Clone, PartialEq)]
pub struct Texture3d {
    /// Texels along x, y and z.
    pub size: [u32; 3],
    /// The texels, x fastest: as many as the size says.
    pub texels: Vec<f32>,
    /// How the value of a fetch between texel centres is computed.
    pub filter: Filter,
    /// How the value of a fetch outside the texture is computed.
    pub border: Border,
}

/// How the value of a fetch between texel centres is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Filter {
    /// The texel that contains the coordinates.
    Point,
    /// Linear interpolation in f32. The fractions of the hardware have 9 bits only.
    Linear,
}

/// How the value of a fetch outside the texture is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Border {
    /// The nearest texel.
    Clamp,
    /// Zero.
    Zero,
}

/// A texture that kernels can fetch from, until this is dropped.
#[derive(Debug)]
pub struct RegisteredTexture {
    handle: u64,
}

static NEXT_HANDLE: AtomicU64 = AtomicU64::new(1);
static TEXTURES: RwLock<BTreeMap<u64, Arc<Texture3d>>> = RwLock::new(BTreeMap::new());

/// Registers `texture`, which gets a handle.
///
/// # Panics
/// If the number of texels is 0 or differs from the size.
pub fn register_texture(texture: Texture3d) -> RegisteredTexture {
    let texels: usize = texture.size.iter().map(|count| *count as usize).product();
    assert!(texels == texture.texels.len() && texels != 0, "a texture's size must be that of its texels");
    let handle = NEXT_HANDLE.fetch_add(1, Ordering::Relaxed);
    TEXTURES.write().unwrap_or_else(PoisonError::into_inner).insert(handle, Arc::new(texture));
    RegisteredTexture { handle }
}

impl RegisteredTexture {
    /// The handle to pass to a kernel.
    pub fn handle(&self) -> u64 {
        self.handle
    }
}

impl Drop for RegisteredTexture {
    fn drop(&mut self) {
        TEXTURES.write().unwrap_or_else(PoisonError::into_inner).remove(&self.handle);
    }
}

/// The texel of texture `handle` at `position`.
pub fn fetch(handle: u64, position: [f32; 3]) -> f32 {
    let texture = TEXTURES.read().unwrap_or_else(PoisonError::into_inner).get(&handle).cloned();
    match texture {
        Some(texture) => texture.fetch(position),
        None => fail(FaultKind::Misuse(format!("there is no texture {handle}"))),
    }
}

impl Texture3d {
    fn fetch(&self, position: [f32; 3]) -> f32 {
        match self.filter {
            Filter::Point => self.texel(position.map(|x| x.floor() as i64)),
            Filter::Linear => self.linear(position.map(|x| x - 0.5)),
        }
    }

    fn linear(&self, position: [f32; 3]) -> f32 {
        let low = position.map(|x| x.floor() as i64);
        let [x, y, z] = position.map(|x| x - x.floor());
        let lerp = |a: f32, b: f32, t: f32| (b - a).mul_add(t, a);
        let row = |j, k| {
            lerp(self.texel([low[0], low[1] + j, low[2] + k]), self.texel([low[0] + 1, low[1] + j, low[2] + k]), x)
        };
        let plane = |k| lerp(row(0, k), row(1, k), y);
        lerp(plane(0), plane(1), z)
    }

    fn texel(&self, index: [i64; 3]) -> f32 {
        let size = self.size.map(i64::from);
        let clamped: [i64; 3] = std::array::from_fn(|axis| index[axis].clamp(0, size[axis] - 1));
        if self.border == Border::Zero && clamped != index {
            return 0.0;
        }
        self.texels[(clamped[0] + size[0] * (clamped[1] + size[1] * clamped[2])) as usize]
    }
}
