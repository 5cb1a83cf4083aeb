//! Converts voxels between bytes, of any type and byte order that files have, and f32.

use crate::PixelType;
use crate::backend::simd::widest;
use rayon::prelude::*;

/// Voxels that are converted at a time, few enough that bytes and floats both stay in cache.
pub const PART: usize = 1 << 16;

/// How a file stores voxels.
pub struct Coding {
    /// The type of a voxel.
    pub pixel: PixelType,
    /// Whether the most significant byte comes first.
    pub big_endian: bool,
    /// The slope and intercept that convert stored values to intensities.
    pub scale: Option<(f64, f64)>,
}

impl Coding {
    /// Whether numbers of this type are always finite, so that they need not be checked.
    pub fn is_always_finite(&self) -> bool {
        self.scale.is_none() && !matches!(self.pixel, PixelType::F32 | PixelType::F64)
    }

    /// Decodes the voxels in `bytes`, and appends them to `voxels`.
    pub fn decode(&self, bytes: &[u8], voxels: &mut Vec<f32>) {
        macro_rules! decode {
            ($type:ty) => {{
                let stored = bytes.as_chunks().0.iter();
                let value = |&b| if self.big_endian { <$type>::from_be_bytes(b) } else { <$type>::from_le_bytes(b) };
                match self.scale {
                    None => voxels.extend(stored.map(|b| value(b) as f32)),
                    Some((slope, intercept)) => {
                        voxels.extend(stored.map(|b| (value(b) as f64 * slope + intercept) as f32));
                    }
                }
            }};
        }
        match self.pixel {
            PixelType::U8 => decode!(u8),
            PixelType::I8 => decode!(i8),
            PixelType::U16 => decode!(u16),
            PixelType::I16 => decode!(i16),
            PixelType::U32 => decode!(u32),
            PixelType::I32 => decode!(i32),
            PixelType::U64 => decode!(u64),
            PixelType::I64 => decode!(i64),
            PixelType::F32 => decode!(f32),
            PixelType::F64 => decode!(f64),
        }
    }
}

/// Encodes `voxels` as little-endian `pixel`, with integers rounded to the nearest (ties to even) and clamped.
pub fn encode(voxels: &[f32], pixel: PixelType) -> Vec<u8> {
    let mut bytes = vec![0; voxels.len() * pixel.bytes()];
    encode_into(&mut bytes, voxels, pixel);
    bytes
}

/// As [`encode`], on all threads.
pub fn encode_at_once(voxels: &[f32], pixel: PixelType) -> Vec<u8> {
    let mut bytes = vec![0; voxels.len() * pixel.bytes()];
    let parts = bytes.par_chunks_mut(PART * pixel.bytes()).zip(voxels.par_chunks(PART));
    parts.for_each(|(bytes, voxels)| encode_into(bytes, voxels, pixel));
    bytes
}

widest! {
    fn encode_into(bytes: &mut [u8], voxels: &[f32], pixel: PixelType) {
        macro_rules! encode {
            ($type:ty, $convert:expr) => {
                for (stored, &voxel) in bytes.as_chunks_mut().0.iter_mut().zip(voxels) {
                    *stored = <$type>::to_le_bytes($convert(voxel));
                }
            };
            // A cast from float to integer clamps.
            ($type:ty) => {
                encode!($type, |voxel: f32| voxel.round_ties_even() as $type)
            };
        }
        match pixel {
            PixelType::U8 => encode!(u8),
            PixelType::I8 => encode!(i8),
            PixelType::U16 => encode!(u16),
            PixelType::I16 => encode!(i16),
            PixelType::U32 => encode!(u32),
            PixelType::I32 => encode!(i32),
            PixelType::U64 => encode!(u64),
            PixelType::I64 => encode!(i64),
            PixelType::F32 => encode!(f32, |voxel| voxel),
            PixelType::F64 => encode!(f64, f64::from),
        }
    }
}

/// As [`encode`], with the most significant byte first.
pub fn encode_big_endian(voxels: &[f32], pixel: PixelType) -> Vec<u8> {
    let mut bytes = encode(voxels, pixel);
    bytes.chunks_exact_mut(pixel.bytes()).for_each(<[u8]>::reverse);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both_ways(voxels: &[f32], pixel: PixelType) -> Vec<f32> {
        let mut back = Vec::new();
        Coding { pixel, big_endian: false, scale: None }.decode(&encode(voxels, pixel), &mut back);
        back
    }

    #[test]
    fn integers_are_rounded_to_even_and_clamped() {
        let voxels = [0.5, 1.5, 2.5, -0.5, -3.0, 254.6, 300.0, 1e30, -1e30];
        assert_eq!(both_ways(&voxels, PixelType::U8), [0.0, 2.0, 2.0, 0.0, 0.0, 255.0, 255.0, 255.0, 0.0]);
        assert_eq!(both_ways(&voxels, PixelType::I8)[3..], [0.0, -3.0, 127.0, 127.0, 127.0, -128.0]);
        assert_eq!(both_ways(&[1e30, -1e30], PixelType::I64), [i64::MAX as f32, i64::MIN as f32]);
    }

    #[test]
    fn big_endian_and_scale_are_applied() {
        let mut voxels = Vec::new();
        let coding = Coding { pixel: PixelType::I16, big_endian: true, scale: Some((0.5, 10.0)) };
        coding.decode(&[0x01, 0x02, 0xff, 0xfe], &mut voxels);
        assert_eq!(voxels, [258.0 / 2.0 + 10.0, 9.0]);
    }
}
