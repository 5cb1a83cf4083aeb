//! The methods that count a joint histogram on a device: one method a file, all with the same counts.

mod byte_lanes;
mod from_pairs;
mod global_copies;
mod marginals;
mod partials;
mod per_thread;
mod shared_atomic;
mod sort_count;
mod tagged;
mod tiled;

pub use from_pairs::{FromPairs, count_pairs};

use super::Pair;
use super::queue::{Memory, Queue};
use crate::error::{Setting, message};
use crate::image::CubicImage;
use crate::{Error, Result};
use gpu::math::interpolate::Interpolator;
use gpu::params::{self, Affine};
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
    /// What was fastest for the device, the bins and the size.
    Auto,
    /// A histogram a warp in shared memory, counters tagged with the thread, from a combined image (Shams & Kennedy's Method 1: Shams 2009
    /// section 4.1.1, Ledig section 2.2).
    WarpTagged,
    /// The same without the combined image: every launch samples again.
    WarpTaggedDirect,
    /// Two counters under one tag (Ledig section 2.3).
    Mbe,
    /// The same, reading 16-bit bin pairs that the first launch stored (Ledig section 2.4).
    MbeBc,
    /// The same without memory, skipping samples that the fixed bin rules out (Ledig section 2.5).
    MbeStl,
    /// A histogram a thread, with packed counters in shared memory (Method 2: Shams 2009 section 4.1.2).
    PerThread,
    /// Bitonic sort and count (Method 3: Shams 2009 sections 3.2 to 3.8).
    SortCount,
    /// Copies of the histogram in global memory, then the marginals by projection (Jung & Wesarg section 2.2).
    GlobalCopies,
    /// The same, the marginals counted beside it in shared memory (Jung & Wesarg section 2.1).
    GlobalCopiesMarginals,
    /// Byte counters a thread for the marginals, atomics for the joint histogram (Ge's slides, after Podlozhnyuk).
    ByteLanes,
    /// A block's counters in shared memory, with the hardware's atomics.
    SharedAtomic,
    /// Ours: bricks, packed counters, and no sample where a brick falls into one pair of bins.
    Tiled,
}

impl HistogramMethod {
    /// All methods, without `auto`.
    pub const ALL: &[Self] = &[
        Self::WarpTagged,
        Self::WarpTaggedDirect,
        Self::Mbe,
        Self::MbeBc,
        Self::MbeStl,
        Self::PerThread,
        Self::SortCount,
        Self::GlobalCopies,
        Self::GlobalCopiesMarginals,
        Self::ByteLanes,
        Self::SharedAtomic,
        Self::Tiled,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::WarpTagged => "warp-tagged",
            Self::WarpTaggedDirect => "warp-tagged-direct",
            Self::Mbe => "mbe",
            Self::MbeBc => "mbe-bc",
            Self::MbeStl => "mbe-stl",
            Self::PerThread => "per-thread",
            Self::SortCount => "sort-count",
            Self::GlobalCopies => "global-copies",
            Self::GlobalCopiesMarginals => "global-copies-marginals",
            Self::ByteLanes => "byte-lanes",
            Self::SharedAtomic => "shared-atomic",
            Self::Tiled => "tiled",
        }
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

/// Transforms that are counted in one go at most.
pub const BATCH: usize = 64;

/// A pair of images on a device, ready to be counted.
pub trait Counter<Q: Queue> {
    /// Queues the joint histogram of each transform, 1 to [`BATCH`] of them, onto `counters`, which are 0: the pair (f, m) of transform t is at
    /// `t * bins + f + fixed_bins * m`.
    fn count(&mut self, queue: &Q, transforms: &[Affine], counters: &mut Q::Memory<u32>) -> Result<()>;

    /// The marginal histograms of the fixed and the moving image for the last transform that was counted, where the
    /// method counts them as well.
    ///
    /// # Errors
    /// [`Error::Device`] where the device gives up.
    fn marginals(&self, _queue: &Q) -> Result<Option<[Vec<u32>; 2]>> {
        Ok(None)
    }
}

/// Uploads a pair for a method, which is [resolved](HistogramMethod::resolve).
///
/// # Errors
/// [`Error::Option`] where the method cannot count this pair, [`Error::Device`] where it does not fit.
pub fn load<'a, Q: Queue + 'a>(queue: &Q, pair: &Pair, method: HistogramMethod) -> Result<Box<dyn Counter<Q> + 'a>> {
    let weighs = matches!(method, HistogramMethod::SharedAtomic | HistogramMethod::SortCount);
    if pair.interpolator == Interpolator::PartialVolume && !weighs {
        return Err(cannot(method, "does not count partial volumes"));
    }
    Ok(match method {
        // A resolved method is never `auto`.
        HistogramMethod::Auto | HistogramMethod::SharedAtomic => {
            Box::new(shared_atomic::SharedAtomic::new(queue, pair)?)
        }
        HistogramMethod::SortCount => Box::new(sort_count::SortCount::new(queue, pair)?),
        HistogramMethod::PerThread => Box::new(per_thread::PerThread::new(queue, pair)?),
        HistogramMethod::Tiled => Box::new(tiled::Tiled::new(queue, pair)?),
        HistogramMethod::WarpTagged => Box::new(tagged::combined(queue, pair, 1)?),
        HistogramMethod::WarpTaggedDirect => Box::new(tagged::direct(queue, pair)?),
        HistogramMethod::Mbe => Box::new(tagged::combined(queue, pair, 2)?),
        HistogramMethod::MbeBc => Box::new(tagged::cached(queue, pair)?),
        HistogramMethod::MbeStl => Box::new(tagged::stl(queue, pair)?),
        method @ (HistogramMethod::GlobalCopies | HistogramMethod::GlobalCopiesMarginals) => {
            Box::new(global_copies::GlobalCopies::new(queue, pair, method)?)
        }
        HistogramMethod::ByteLanes => Box::new(byte_lanes::ByteLanes::new(queue, pair)?),
    })
}

/// A pair of images as most methods want it.
struct Images<Q: Queue> {
    /// What `params` points to.
    _memory: (Q::Memory<u16>, Q::Memory<u32>, Q::Memory<f32>),
    params: params::Images,
}

impl<Q: Queue> Images<Q> {
    fn upload(queue: &Q, pair: &Pair) -> Result<Self> {
        let how = pair.interpolator;
        let (words, cubic) = match how.is_cubic() {
            true => (vec![0], CubicImage::new(pair.moving, how)?.values),
            false => (pair.moving.words(pair.fine()), vec![0.0]),
        };
        let (fixed, moving, cubic) = (queue.upload(&pair.fixed.bins)?, queue.upload(&words)?, queue.upload(&cubic)?);
        let params = params::Images {
            fixed: fixed.view(),
            moving: moving.view(),
            cubic: cubic.view(),
            transform: Affine { rows: [[0.0; 4]; 3] },
            fixed_size: pair.fixed.size.map(|n| n as u32),
            moving_size: pair.moving.size.map(|n| n as u32),
            bins: pair.bins,
            interpolator: how as u32,
            fine: u32::from(pair.fine()),
            unit: pair.unit()?,
            unused: 0,
        };
        Ok(Self { _memory: (fixed, moving, cubic), params })
    }

    /// What kernels take, for one transform.
    fn params(&self, transform: &Affine) -> params::Images {
        params::Images { transform: *transform, ..self.params }
    }
}

/// Puts the coefficients of transforms where kernels read them.
fn write(memory: &mut [f32], transforms: &[Affine]) {
    for (coefficients, transform) in memory.chunks_exact_mut(12).zip(transforms) {
        coefficients.copy_from_slice(transform.rows.as_flattened());
    }
}

/// The error of a method that cannot count a pair.
fn cannot(method: HistogramMethod, why: &str) -> Error {
    let name = method.name();
    Error::option(Setting::Histogram, message!(Histogram, " {name} {why}"; "choose another, or auto"))
}
