//! Prepares an image for metrics: clamps outliers, and fills and masks voxels without data.

use super::{Intensities, IntensityRange, Volume, filled::filled};
use std::borrow::Cow;

/// An image with its outliers clamped and its voxels without data filled and masked.
#[derive(Debug, Clone)]
pub struct Prepared<'a> {
    /// The image. All voxels are finite and within the range of [`Intensities`].
    pub image: Cow<'a, Volume>,
    /// Voxels below 0.5 are not to be counted. `None` if all are counted.
    pub mask: Option<Cow<'a, Volume>>,
    pub intensities: Intensities,
}

impl<'a> Prepared<'a> {
    /// Prepares an image and its mask, which must have the same grid.
    pub fn new(image: &'a Volume, mask: Option<&'a Volume>, range: IntensityRange) -> Self {
        let intensities = Intensities::of(image, range);
        let (low, high) = intensities.range;
        let clamped =
            (intensities.below + intensities.above > 0).then(|| image.with(|n| image.voxels[n].clamp(low, high)));
        let clamped = clamped.map_or(Cow::Borrowed(image), Cow::Owned);
        if intensities.missing == 0 {
            return Self { image: clamped, mask: mask.map(without_nan), intensities };
        }
        let counts = |n: usize| !image.voxels[n].is_nan() && mask.is_none_or(|mask| mask.voxels[n] >= 0.5);
        let mask = image.with(|n| f32::from(u8::from(counts(n))));
        Self { image: Cow::Owned(filled(clamped.into_owned())), mask: Some(Cow::Owned(mask)), intensities }
    }

    /// Replaces the voxels that the mask leaves out by interpolation of those around them, so that smoothing does not
    /// mix them into their neighbours.
    pub fn without_masked(self) -> Self {
        let Some(mask) = &self.mask else { return self };
        let kept = self.image.only(|n| mask.voxels[n] >= 0.5);
        Self { image: Cow::Owned(filled(kept)), ..self }
    }

    /// A copy that borrows image and mask.
    pub fn borrowed(&self) -> Prepared<'_> {
        let mask = self.mask().map(Cow::Borrowed);
        Prepared { image: Cow::Borrowed(&*self.image), mask, intensities: self.intensities }
    }

    /// The mask, if there is one.
    pub fn mask(&self) -> Option<&Volume> {
        self.mask.as_deref()
    }
}

/// Replaces NaN in a mask by 0, which also leaves out voxels, because smoothing would spread NaN.
fn without_nan(mask: &Volume) -> Cow<'_, Volume> {
    match mask.has_gaps() {
        true => Cow::Owned(mask.with(|n| f32::from(u8::from(mask.voxels[n] >= 0.5)))),
        false => Cow::Borrowed(mask),
    }
}
