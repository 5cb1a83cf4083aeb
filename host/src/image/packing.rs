//! Images that are quantised by the backend that loads them, on the host or on a device. A device then needs no upload
//! of quantised voxels.

use super::pyramid::{self, Filters};
use super::{BinImage, Range, StoredImage, Volume, WordImage};
use gpu::math::bin;
use gpu::math::binning::Binning;
use std::borrow::Cow;
use std::sync::OnceLock;

/// Returns the contents of `place`, after making them if there are none. No lock is held meanwhile: `make` runs on all
/// threads, and a thread that waits for the others may take up other work that asks for the same contents. At worst
/// they are made twice.
fn made<T>(place: &OnceLock<T>, make: impl FnOnce() -> T) -> &T {
    if let Some(made) = place.get() {
        return made;
    }
    let new = make();
    place.get_or_init(|| new)
}

/// A fixed image, whose voxels are quantised to bins when it is loaded.
#[derive(Debug)]
pub struct ToBins<'v> {
    pub image: Cow<'v, Volume>,
    pub binning: Binning,
    /// For each voxel, 0 if it is not to be counted. `None` if all are counted.
    pub keep: Option<Vec<u8>>,
    packed: OnceLock<BinImage>,
}

impl<'v> ToBins<'v> {
    /// `keep` says for each voxel whether it counts.
    pub fn new(image: Cow<'v, Volume>, binning: Binning, keep: Option<Vec<bool>>) -> Self {
        let keep = keep.map(|keep| keep.into_iter().map(u8::from).collect());
        Self { image, binning, keep, packed: OnceLock::new() }
    }

    /// The bins, made on the host when they are first asked for.
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

/// A moving image, which is smoothed and quantised when it is loaded.
#[derive(Debug)]
pub struct ToValues<'v> {
    pub image: Cow<'v, Volume>,
    /// Standard deviations of the Gaussian that smooths it first, in voxels; 0 for none.
    pub sigmas: [f64; 3],
    pub range: Range,
    /// Whether values keep all 16 bits; otherwise they have 8-bit levels.
    pub fine: bool,
    values: OnceLock<StoredImage>,
    words: OnceLock<WordImage>,
}

impl<'v> ToValues<'v> {
    /// An image to be smoothed by `sigmas`, and counted in this many bins.
    pub fn new(image: Cow<'v, Volume>, sigmas: [f64; 3], range: Range, bins: u32) -> Self {
        Self { image, sigmas, range, fine: bin::fine(bins), values: OnceLock::new(), words: OnceLock::new() }
    }

    /// An image to be smoothed by `sigmas`, with 16 bits per voxel.
    pub fn fine(image: Cow<'v, Volume>, sigmas: [f64; 3], range: Range) -> Self {
        Self { fine: true, ..Self::new(image, sigmas, range, 0) }
    }

    /// The values, made on the host when they are first asked for.
    pub fn values(&self) -> &StoredImage {
        made(&self.values, || StoredImage::packed(&self.smoothed(), self.range, self.fine))
    }

    /// The words of 8-bit levels, made on the host when they are first asked for.
    pub fn words(&self) -> &WordImage {
        made(&self.words, || WordImage::new(&self.smoothed(), self.range))
    }

    /// The filters that smooth the image.
    pub(crate) fn filters(&self) -> Filters {
        pyramid::smoothing(self.image.geometry.size, self.sigmas)
    }

    fn smoothed(&self) -> Cow<'_, Volume> {
        pyramid::smoothed(&self.image, self.sigmas)
    }
}
