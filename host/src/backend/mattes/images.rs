//! Quantises two images for Mattes mutual information, with the bins of ITK's metric of that name.

use super::{MattesPair, Windows};
use crate::Volume;
use crate::image::{BinImage, StoredImage};

/// A quantised fixed and moving image, ready to be loaded on a backend.
#[derive(Debug, Clone, PartialEq)]
pub struct MattesImages {
    /// As in [`MattesPair`].
    pub fixed: BinImage,
    /// As in [`MattesPair`].
    pub moving: StoredImage,
    /// Bins of each image, padding included.
    pub bins: u32,
    pub windows: Windows,
}

impl MattesImages {
    /// Quantises a fixed and a moving volume. Each comes with the range of intensities that is spread over the bins
    /// between the padding; in ITK that is from the smallest to the largest intensity. Intensities outside the range
    /// are clamped.
    pub fn new(
        (fixed, fixed_range): (&Volume, (f32, f32)),
        (moving, moving_range): (&Volume, (f32, f32)),
        bins: u32,
        windows: Windows,
    ) -> Self {
        let fixed = BinImage::new(fixed, windows.binning(fixed_range, bins));
        Self { fixed, moving: StoredImage::fine(moving, moving_range), bins, windows }
    }

    /// The pair that a backend loads.
    pub fn pair(&self) -> MattesPair<'_> {
        MattesPair {
            fixed: (&self.fixed).into(),
            moving: (&self.moving).into(),
            bins: [self.bins; 2],
            windows: self.windows,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Geometry, PixelType};
    use glam::DVec3;

    fn volume(voxels: Vec<f32>) -> Volume {
        let geometry = Geometry::axis_aligned([voxels.len(), 1, 1], DVec3::ONE, DVec3::ZERO);
        Volume { geometry, voxels, pixel: PixelType::F32 }
    }

    #[test]
    fn bins_between_the_padding_share_the_range() {
        let volume = volume(vec![-9.0, -1.0, -0.5, 0.0, 0.9, 1.0, 5.9, 6.9, 7.0, 9.0]);
        let images = |windows| MattesImages::new((&volume, (-1.0, 7.0)), (&volume, (-1.0, 7.0)), 12, windows);
        assert_eq!(images(Windows::Moving).fixed.bins, [2, 2, 2, 3, 3, 4, 8, 9, 9, 9]);
        let values = images(Windows::Both).fixed.bins;
        assert_eq!([values[0], values[1], values[8], values[9]], [0, 0, 65534, 65534]);
    }

    #[test]
    fn an_image_without_a_range_is_in_one_bin() {
        let volume = volume(vec![3.0; 2]);
        let images = MattesImages::new((&volume, (3.0, 3.0)), (&volume, (3.0, 3.0)), 12, Windows::Moving);
        assert_eq!(images.fixed.bins, [2, 2]);
        assert_eq!(images.moving.voxels(), [0, 0]);
    }
}
