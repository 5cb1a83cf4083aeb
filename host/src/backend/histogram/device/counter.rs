//! The interface of the methods that count a joint histogram on a device, and the image memory that most of them share.

use crate::backend::histogram::Pair;
use crate::backend::image::device::Images;
use crate::backend::queue::{Memory, Queue};
use crate::error::{Setting, message};
use crate::image::CubicImage;
use crate::{Error, Result};
use gpu::params::{self, Affine};

/// A pair of images on a device, prepared for counting by one method.
pub trait Counter<Q: Queue> {
    /// Queues adding the joint histograms of 1 to [`BATCH`](crate::backend::queue::BATCH) transforms to `counters`,
    /// which are 0. The pair (f, m) of transform t is at `t * fixed_bins * moving_bins + f + fixed_bins * m`.
    fn count(&mut self, queue: &Q, transforms: &[Affine], counters: &mut Q::Memory<u32>) -> Result<()>;

    /// The marginal histograms of the fixed and the moving image for the last transform counted, if the method counts
    /// them too.
    ///
    /// # Errors
    /// [`Error::Device`] if the device fails.
    fn marginals(&self, _queue: &Q) -> Result<Option<[Vec<u32>; 2]>> {
        Ok(None)
    }
}

/// A pair of images on a device, in the form that most methods read.
pub struct UploadedPair<Q: Queue> {
    /// The memory that `params` points to: the fixed image, the moving image, and the padded moving image for cubic
    /// interpolators.
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

    /// Kernel parameters for one transform.
    pub fn params(&self, transform: &Affine) -> params::Images {
        params::Images { transform: *transform, ..self.params }
    }
}

/// Writes the coefficients of transforms into memory that kernels read.
pub fn write(memory: &mut [f32], transforms: &[Affine]) {
    for (coefficients, transform) in memory.chunks_exact_mut(12).zip(transforms) {
        coefficients.copy_from_slice(transform.rows.as_flattened());
    }
}

/// The error of a method that cannot count a pair.
pub fn cannot(method: &str, why: &str) -> Error {
    Error::option(Setting::Histogram, message!(Histogram, " {method} {why}"; "choose another, or auto"))
}
