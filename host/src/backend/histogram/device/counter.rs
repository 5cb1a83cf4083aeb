//! What a method of counting is, and what most of them hold.

use crate::backend::histogram::Pair;
use crate::backend::image::device::Images;
use crate::backend::queue::{Memory, Queue};
use crate::error::{Setting, message};
use crate::image::CubicImage;
use crate::{Error, Result};
use gpu::params::{self, Affine};

/// A pair of images on a device, ready to be counted.
pub trait Counter<Q: Queue> {
    /// Queues the joint histogram of each transform, 1 to [`BATCH`](crate::backend::queue::BATCH) of them, onto `counters`, which are 0: the pair (f, m) of transform t is at
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

/// A pair of images as most methods want it.
pub struct UploadedPair<Q: Queue> {
    /// What `params` points to: the fixed image, the moving image and what cubics sample of it.
    pub memory: (Q::Memory<u16>, Q::Memory<u32>, Q::Memory<f32>),
    pub params: params::Images,
}

impl<Q: Queue> UploadedPair<Q> {
    pub fn new(images: &Images<Q>, pair: &Pair) -> Result<Self> {
        let (queue, how) = (images.queue, pair.interpolator);
        let (moving, cubic) = match how.is_cubic() {
            true => (queue.upload(&[0])?, queue.upload(&CubicImage::new(pair.moving.values()?, how)?.values)?),
            false => (images.sampled(pair)?, queue.upload(&[0.0])?),
        };
        let fixed = images.counted(pair.fixed)?;
        let params = params::Images {
            fixed: fixed.view(),
            moving: moving.view(),
            cubic: cubic.view(),
            transform: Affine { rows: [[0.0; 4]; 3] },
            fixed_size: pair.fixed.size().map(|n| n as u32),
            moving_size: pair.moving.size().map(|n| n as u32),
            bins: pair.bins,
            interpolator: how as u32,
            fine: u32::from(pair.fine()),
            unit: pair.unit()?,
            unused: 0,
        };
        Ok(Self { memory: (fixed, moving, cubic), params })
    }

    /// What kernels take, for one transform.
    pub fn params(&self, transform: &Affine) -> params::Images {
        params::Images { transform: *transform, ..self.params }
    }
}

/// Puts the coefficients of transforms where kernels read them.
pub fn write(memory: &mut [f32], transforms: &[Affine]) {
    for (coefficients, transform) in memory.chunks_exact_mut(12).zip(transforms) {
        coefficients.copy_from_slice(transform.rows.as_flattened());
    }
}

/// The error of a method that cannot count a pair.
pub fn cannot(method: &str, why: &str) -> Error {
    Error::option(Setting::Histogram, message!(Histogram, " {method} {why}"; "choose another, or auto"))
}
