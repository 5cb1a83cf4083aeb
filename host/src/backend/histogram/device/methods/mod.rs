//! The methods that count a joint histogram on a device, all with the same counts. To add one, add its file and its rows here.

mod byte_lanes;
mod global_copies;
mod per_thread;
mod shared_atomic;
mod sort_count;
mod tagged;
mod tiled;

use super::counter::{Counter, cannot};
use crate::Result;
use crate::backend::histogram::Pair;
use crate::backend::image::device::Images;
use crate::backend::queue::Queue;
use gpu::math::interpolate::Interpolator;
use strum::{Display, EnumMessage, EnumString, IntoStaticStr, VariantArray};

/// How a joint histogram is counted. Every method gives the same counts.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Display,
    EnumMessage,
    EnumString,
    IntoStaticStr,
    VariantArray,
    serde::Serialize,
)]
#[strum(serialize_all = "kebab-case")]
#[serde(rename_all = "kebab-case")]
pub enum HistogramMethod {
    /// The method that was fastest for the device, the bins and the image size.
    Auto,
    /// One histogram per warp in shared memory, counters tagged by thread, from a combined image (Shams & Kennedy's Method 1: Shams 2009
    /// section 4.1.1, Ledig section 2.2).
    WarpTagged,
    /// warp-tagged without the combined image: every launch samples again.
    WarpTaggedDirect,
    /// Two counters under one tag (Ledig section 2.3).
    Mbe,
    /// mbe, reading 16-bit bin pairs that the first launch stored (Ledig section 2.4).
    MbeBc,
    /// mbe without stored bin pairs, skipping samples that the fixed bin rules out (Ledig section 2.5).
    MbeStl,
    /// One histogram per thread, with packed counters in shared memory (Method 2: Shams 2009 section 4.1.2).
    PerThread,
    /// Bitonic sort and count (Method 3: Shams 2009 sections 3.2 to 3.8).
    SortCount,
    /// Copies of the histogram in global memory, then the marginals by projection (Jung & Wesarg section 2.2).
    GlobalCopies,
    /// global-copies, with the marginals counted in shared memory (Jung & Wesarg section 2.1).
    GlobalCopiesMarginals,
    /// Byte counters per thread for the marginals, atomics for the joint histogram (Ge's slides, after Podlozhnyuk).
    ByteLanes,
    /// One histogram per block in shared memory, by hardware atomics.
    SharedAtomic,
    /// mireg's own: bricks, packed counters, and no sampling where a brick falls into one pair of bins.
    Tiled,
}

impl HistogramMethod {
    /// All methods, without `auto`.
    pub const ALL: &[Self] = match Self::VARIANTS {
        [_, all @ ..] => all,
        [] => &[],
    };

    /// Its name, as in `shared-atomic`.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// What `auto` stands for with this pair on this device, from what was measured on an H200 (docs/histograms.md).
    pub fn resolve<Q: Queue>(self, queue: &Q, pair: &Pair) -> Self {
        match self {
            Self::Auto if tiled::is_best(queue, pair) => Self::Tiled,
            Self::Auto if pair.interpolator.is_cubic() && !shared_atomic::holds_cubic(queue, pair) => {
                Self::GlobalCopies
            }
            Self::Auto => Self::SharedAtomic,
            method => method,
        }
    }
}

/// Uploads a pair for a method, which is [resolved](HistogramMethod::resolve).
///
/// # Errors
/// [`crate::Error::Option`] if the method cannot count this pair, [`crate::Error::Device`] if it does not fit.
pub fn load<'a, Q: Queue + 'a>(
    images: &Images<Q>,
    pair: &Pair,
    method: HistogramMethod,
) -> Result<Box<dyn Counter<Q> + 'a>> {
    let weighs = matches!(method, HistogramMethod::SharedAtomic | HistogramMethod::SortCount);
    if pair.interpolator == Interpolator::PartialVolume && !weighs {
        return Err(cannot(method.name(), "does not count partial volumes"));
    }
    Ok(match method {
        // A resolved method is never `auto`.
        HistogramMethod::Auto | HistogramMethod::SharedAtomic => {
            Box::new(shared_atomic::SharedAtomic::new(images, pair)?)
        }
        HistogramMethod::SortCount => Box::new(sort_count::SortCount::new(images, pair)?),
        HistogramMethod::PerThread => Box::new(per_thread::PerThread::new(images, pair)?),
        HistogramMethod::Tiled => Box::new(tiled::Tiled::new(images, pair)?),
        HistogramMethod::WarpTagged => Box::new(tagged::combined(images, pair, 1)?),
        HistogramMethod::WarpTaggedDirect => Box::new(tagged::direct(images, pair)?),
        HistogramMethod::Mbe => Box::new(tagged::combined(images, pair, 2)?),
        HistogramMethod::MbeBc => Box::new(tagged::cached(images, pair)?),
        HistogramMethod::MbeStl => Box::new(tagged::stl(images, pair)?),
        HistogramMethod::GlobalCopies => Box::new(global_copies::GlobalCopies::new(images, pair, true)?),
        HistogramMethod::GlobalCopiesMarginals => Box::new(global_copies::GlobalCopies::new(images, pair, false)?),
        HistogramMethod::ByteLanes => Box::new(byte_lanes::ByteLanes::new(images, pair)?),
    })
}

/// The kernels of all methods.
#[cfg(test)]
pub const NAMES: &[&[&str]] = &[
    byte_lanes::NAMES,
    global_copies::NAMES,
    per_thread::NAMES,
    shared_atomic::NAMES,
    sort_count::NAMES,
    tagged::NAMES,
    tiled::NAMES,
];
