//! An image as metrics look at it.

use super::{Intensities, IntensityRange, Volume, filled::filled};
use std::borrow::Cow;

/// An image with its outliers clamped and its voxels without data filled and masked.
#[derive(Debug, Clone)]
pub struct Prepared<'a> {
    /// All finite, and within the range.
    pub image: Cow<'a, Volume>,
    /// Voxels of less than 0.5 are not to be counted; none where all are.
    pub mask: Option<Cow<'a, Volume>>,
    pub intensities: Intensities,
}

impl<'a> Prepared<'a> {
    /// Of an image and its mask, which are on one grid.
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

    /// The same with what the mask leaves out filled from what surrounds it, so that no smoothing brings it back.
    pub fn without_masked(self) -> Self {
        let Some(mask) = &self.mask else { return self };
        let kept = self.image.only(|n| mask.voxels[n] >= 0.5);
        Self { image: Cow::Owned(filled(kept)), ..self }
    }

    /// The same, which is kept elsewhere.
    pub fn borrowed(&self) -> Prepared<'_> {
        let mask = self.mask().map(Cow::Borrowed);
        Prepared { image: Cow::Borrowed(&*self.image), mask, intensities: self.intensities }
    }

    /// The mask, if there is one.
    pub fn mask(&self) -> Option<&Volume> {
        self.mask.as_deref()
    }
}

/// A mask of which NaN leaves out voxels as 0 does: smoothing would spread it.
fn without_nan(mask: &Volume) -> Cow<'_, Volume> {
    match mask.has_gaps() {
        true => Cow::Owned(mask.with(|n| f32::from(u8::from(mask.voxels[n] >= 0.5)))),
        false => Cow::Borrowed(mask),
    }
}
