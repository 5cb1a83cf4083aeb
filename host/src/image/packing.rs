//! Images that are packed where they are counted: here, or on a device, which then needs no copy of what is packed.

use super::pyramid::{self, Filters};
use super::{BinImage, Range, StoredImage, Volume, WordImage};
use gpu::math::bin;
use gpu::math::binning::Binning;
use std::borrow::Cow;
use std::sync::OnceLock;

/// What lies there, made first where nothing does. All threads make it: while one waits for the others it may take up other work that asks
/// for the same, and so must hold no lock. At worst it is made twice.
fn made<T>(place: &OnceLock<T>, make: impl FnOnce() -> T) -> &T {
    if let Some(made) = place.get() {
        return made;
    }
    let new = make();
    place.get_or_init(|| new)
}

/// An image whose voxels are counted.
#[derive(Debug)]
pub struct ToBins<'v> {
    pub image: Cow<'v, Volume>,
    pub binning: Binning,
    /// For each voxel 0 where it is not to be counted; none where all are.
    pub keep: Option<Vec<u8>>,
    packed: OnceLock<BinImage>,
}

impl<'v> ToBins<'v> {
    /// An image, and for each voxel whether it counts.
    pub fn new(image: Cow<'v, Volume>, binning: Binning, keep: Option<Vec<bool>>) -> Self {
        let keep = keep.map(|keep| keep.into_iter().map(u8::from).collect());
        Self { image, binning, keep, packed: OnceLock::new() }
    }

    /// Packed here, when it is first asked for.
    pub fn bins(&self) -> &BinImage {
        made(&self.packed, || {
            let mut bins = BinImage::new(&self.image, self.binning);
            if let Some(keep) = &self.keep {
                bins.keep(|voxel| keep[voxel] != 0);
            }
            bins
        })
    }
}

/// An image that is interpolated.
#[derive(Debug)]
pub struct ToValues<'v> {
    pub image: Cow<'v, Volume>,
    /// Gaussians that it is first smoothed by, voxels; 0 for none.
    pub sigmas: [f64; 3],
    pub range: Range,
    /// Whether all 16 bits are kept.
    pub fine: bool,
    values: OnceLock<StoredImage>,
    words: OnceLock<WordImage>,
}

impl<'v> ToValues<'v> {
    /// An image that is smoothed by `sigmas`, to be counted in so many bins.
    pub fn new(image: Cow<'v, Volume>, sigmas: [f64; 3], range: Range, bins: u32) -> Self {
        Self { image, sigmas, range, fine: bin::fine(bins), values: OnceLock::new(), words: OnceLock::new() }
    }

    /// With 16 bits a voxel.
    pub fn fine(image: Cow<'v, Volume>, sigmas: [f64; 3], range: Range) -> Self {
        Self { fine: true, ..Self::new(image, sigmas, range, 0) }
    }

    /// Packed here, when they are first asked for.
    pub fn values(&self) -> &StoredImage {
        made(&self.values, || StoredImage::packed(&self.smoothed(), self.range, self.fine))
    }

    /// The words of 256 levels, packed here when they are first asked for.
    pub fn words(&self) -> &WordImage {
        made(&self.words, || WordImage::new(&self.smoothed(), self.range))
    }

    /// The filters that smooth it.
    pub(crate) fn filters(&self) -> Filters {
        pyramid::smoothing(self.image.geometry.size, self.sigmas)
    }

    fn smoothed(&self) -> Cow<'_, Volume> {
        pyramid::smoothed(&self.image, self.sigmas)
    }
}
