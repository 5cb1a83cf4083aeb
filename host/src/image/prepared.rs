//! Prepares an image for metrics: clamps outliers, and fills and masks voxels without data and frames.

use super::filled::filled;
use super::frame::{extent, without_frame};
use super::volume::Part;
use super::{Intensities, IntensityRange, Volume};
use std::borrow::Cow;

/// An image with its outliers clamped, and its voxels without data and its frame filled and masked.
#[derive(Debug, Clone)]
pub struct Prepared<'a> {
    /// The image. All voxels are finite and within the range of [`Intensities`].
    pub image: Cow<'a, Volume>,
    /// Voxels below 0.5 are not to be counted. `None` if all are counted.
    pub mask: Option<Cow<'a, Volume>>,
    pub intensities: Intensities,
}

impl<'a> Prepared<'a> {
    /// Prepares an image and its mask, which must have the same grid. The uniform frame around a 2-D image counts as
    /// voxels without data.
    pub fn new(image: &'a Volume, mask: Option<&'a Volume>, range: IntensityRange) -> Self {
        let (image, framed) = match without_frame(image) {
            Some((inside, framed)) => (Cow::Owned(inside), framed),
            None => (Cow::Borrowed(image), 0),
        };
        let found = Intensities::of(&image, range);
        let intensities = Intensities { missing: found.missing - framed, framed, ..found };
        let (low, high) = intensities.range;
        let cut = intensities.below + intensities.above > 0;
        let clamped = if cut { Cow::Owned(image.with(|n| image.voxels[n].clamp(low, high))) } else { image };
        if found.missing == 0 {
            return Self { image: clamped, mask: mask.map(without_nan), intensities };
        }
        let counts = |n: usize| !clamped.voxels[n].is_nan() && mask.is_none_or(|mask| mask.voxels[n] >= 0.5);
        let mask = clamped.with(|n| f32::from(u8::from(counts(n))));
        Self { image: Cow::Owned(filled(clamped.into_owned())), mask: Some(Cow::Owned(mask)), intensities }
    }

    /// Replaces the voxels that the mask leaves out by interpolation of those around them, so that smoothing does not
    /// mix them into their neighbours.
    pub fn without_masked(self) -> Self {
        let Some(mask) = &self.mask else { return self };
        let kept = self.image.only(|n| mask.voxels[n] >= 0.5);
        Self { image: Cow::Owned(filled(kept)), ..self }
    }

    /// Returns the part that a box holds.
    pub(crate) fn cropped(&self, part: &Part) -> Prepared<'static> {
        let cropped = |image: &Volume| Cow::Owned(image.cropped(part));
        Prepared { image: cropped(&self.image), mask: self.mask().map(cropped), intensities: self.intensities }
    }

    /// Crops a 2-D image with a frame to what counts, so that the image ends there instead of being masked. A mask that
    /// leaves out nothing else is dropped.
    pub(crate) fn without_frame(self) -> Self {
        let Some(mask) = self.mask().filter(|_| self.intensities.framed > 0) else { return self };
        let [width, height, _] = mask.geometry.size;
        let counts = |voxels: &[f32], n: usize| voxels[n] >= 0.5;
        let Some([columns, rows]) = extent([width, height], |n| counts(&mask.voxels, n)) else { return self };
        let inside = self.cropped(&[columns, rows, 0..1]);
        let whole = inside.mask().is_some_and(|mask| (0..mask.voxels.len()).all(|n| counts(&mask.voxels, n)));
        Prepared { mask: inside.mask.filter(|_| !whole), ..inside }
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
