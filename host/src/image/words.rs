//! Images of 8-bit levels, packed for linear interpolation.

use super::{Range, Volume};
use crate::threads::made_by_piece;
use gpu::math::{bin, eight_bit};

/// Voxels that are packed at a time.
const PART: usize = 1 << 16;

/// [Words](eight_bit::word) of 8-bit levels, x fastest. They equal [`StoredImage::words`](super::StoredImage::words)
/// for at most 256 bins, but are made without the stored image.
#[derive(Debug, Clone, PartialEq)]
pub struct WordImage {
    /// Voxels along x, y and z.
    pub size: [usize; 3],
    /// One word per voxel, and one more slice of words.
    pub words: Vec<u32>,
}

impl WordImage {
    /// Maps `low..=high` to the levels. Intensities outside the range are clamped.
    pub fn new(volume: &Volume, (low, high): Range) -> Self {
        let size = volume.geometry.size;
        let [width, height, _] = size;
        let level = |&v: &f32| eight_bit::level(bin::store(v, low, high, false)) as u8;
        let ahead = width + 1;
        let part = PART.max(8 * width);
        let words = made_by_piece(volume.voxels.len() + width * height, part, |n, words| {
            let left = volume.voxels.get(n * part..).unwrap_or_default();
            let mut levels: Vec<u8> = left.iter().take(words.len() + ahead).map(level).collect();
            // Beyond the last voxel, levels are 0.
            levels.resize(words.len() + ahead, 0);
            for (i, word) in words.iter_mut().enumerate() {
                *word = eight_bit::word([i, i + 1, i + width, i + width + 1].map(|i| u32::from(levels[i])));
            }
        });
        Self { size, words }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::StoredImage;
    use crate::random::uniform;
    use crate::{Geometry, PixelType};
    use glam::DVec3;

    #[test]
    fn words_are_those_of_the_stored_image() {
        // One part, several parts, one row, one slice.
        for size in [[7, 5, 3], [300, 120, 5], [90_000, 1, 1], [700, 300, 1], [1, 1, 9]] {
            let geometry = Geometry::axis_aligned(size, DVec3::ONE, DVec3::ZERO);
            let voxels = (0..geometry.voxels()).map(|n| 300.0 * uniform(7, n as u64) as f32 - 20.0).collect();
            let volume = Volume { geometry, voxels, pixel: PixelType::F32 };
            let range = (0.0, 255.0);
            assert_eq!(WordImage::new(&volume, range).words, StoredImage::new(&volume, range, 64).words(false));
        }
    }
}
