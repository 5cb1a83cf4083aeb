//! Resampling on a device.

use crate::backend::image::Voxels;
use crate::backend::image::device::Images;
use crate::backend::queue::{Memory, Queue, Shape, kernels};
use crate::image::CubicImage;
use crate::{Result, Volume};
use gpu::kernels::{WARP, resample};
use gpu::math::interpolate::Interpolator;
use gpu::params::{self, Affine};

kernels! {
    RESAMPLE = resample::resample(params::Resample);
}

/// See [`crate::backend::Backend::resample`].
pub fn resample<Q: Queue>(
    Images { queue, cache }: &Images<Q>,
    moving: &Volume,
    size: [usize; 3],
    affine: &Affine,
    how: Interpolator,
) -> Result<Vec<f32>> {
    let samples = match how.is_cubic() {
        true => Voxels::Owned(queue.upload(&CubicImage::samples(moving, how)?)?),
        false => cache.voxels(queue, moving)?,
    };
    let mut out = queue.zeros::<f32>(size.iter().product())?;
    let params = params::Resample {
        moving: samples.view(),
        out: out.view_mut(),
        affine: *affine,
        size: size.map(|n| n as u32),
        moving_size: moving.geometry.size.map(|n| n as u32),
        interpolator: how as u32,
        unused: 0,
    };
    let [x, y, z] = params.size;
    let shape = Shape { grid: [x.div_ceil(WARP), y.div_ceil(4), z], block: [WARP, 4, 1], shared_bytes: 0 };
    // SAFETY: the memory is as long as the sizes say and lives until the download is done.
    unsafe { queue.launch(&RESAMPLE, shape, params)? };
    queue.download(&out, size.iter().product())
}
