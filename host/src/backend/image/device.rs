//! Gathers, filters and packs images on a device.

use super::{ImageCache, Tensor, Voxels};
use crate::backend::histogram::{Counted, Interpolated, Pair};
use crate::backend::queue::{Kernel, Memory, Queue, Shape, kernels};
use crate::image::pyramid::Filters;
use crate::image::{ToBins, ToValues};
use crate::{Result, Volume};
use gpu::kernels::image;
use gpu::params::{self, Filter, GatherVoxels, PackBins, PackWords};

kernels! {
    FILTER_AXIS = image::filter_axis(params::Filter);
    GATHER_VOXELS = image::gather_voxels(params::GatherVoxels);
    PACK_BINS = image::pack_bins(params::PackBins);
    PACK_WORDS = image::pack_words(params::PackWords);
}

/// Threads per block.
const THREADS: u32 = 256;

/// Queues a launch of one thread for each of `len` elements.
///
/// # Safety
/// As [`Queue::launch`]. The kernel must ignore threads beyond `len`.
unsafe fn over<Q: Queue, P: Copy + Sync>(queue: &Q, kernel: &Kernel<P>, len: usize, params: P) -> Result<()> {
    let blocks = len.div_ceil(THREADS as usize) as u32;
    let shape = Shape { grid: [blocks, 1, 1], block: [THREADS, 1, 1], shared_bytes: 0 };
    // SAFETY: as this function's.
    unsafe { queue.launch(kernel, shape, params) }
}

/// Copies a caller's tensor into new device memory as intensities, i fastest.
///
/// # Errors
/// [`crate::Error::Device`] if there is not enough memory.
pub fn gathered<Q: Queue>(queue: &Q, tensor: &Tensor) -> Result<Q::Memory<f32>> {
    let &Tensor { numbers, first, size, strides, pixel, .. } = tensor;
    let mut voxels = queue.zeros(size.iter().product())?;
    let [width, height, _] = size.map(|n| n as u32);
    // `PixelType` has the same numbers as in the kernel.
    let (pixel, size) = (pixel as u32, [width, height]);
    let params = GatherVoxels { numbers, voxels: voxels.view_mut(), strides, first, size, pixel, unused: 0 };
    queue.after_default()?;
    // SAFETY: the tensor's creator guarantees that its numbers are there until the queue is done.
    unsafe { over(queue, &GATHER_VOXELS, voxels.view().len(), params)? };
    queue.wait()?;
    Ok(voxels)
}

/// Brings images to a device: `queue` does the work, and `cache` holds those that are there already.
pub struct Images<'s, 'v, Q: Queue> {
    pub queue: &'s Q,
    pub cache: &'s ImageCache<'v, Q>,
}

impl<Q: Queue> Images<'_, '_, Q> {
    /// Smooths and subsamples a volume, with the same bits as the CPU. Without filters the volume is returned as it is.
    ///
    /// # Errors
    /// [`crate::Error::Device`] if there is not enough memory.
    pub fn filtered(&self, volume: &Volume, filters: &Filters) -> Result<Voxels<Q>> {
        let (queue, mut size) = (self.queue, volume.geometry.size);
        let mut voxels = self.cache.voxels(queue, volume)?;
        for axis in [2, 1, 0] {
            let Some(filter) = &filters[axis] else { continue };
            let stride = size[..axis].iter().product::<usize>();
            let len = size[axis];
            size[axis] = filter.filtered_len();
            let mut to = queue.zeros::<f32>(size.iter().product())?;
            let weights = queue.upload(filter.weights())?;
            let params = Filter {
                from: voxels.view(),
                to: to.view_mut(),
                weights: weights.view(),
                len: len as u32,
                new_len: filter.filtered_len() as u32,
                stride: stride as u32,
                step: filter.step() as u32,
                first: filter.first() as i32,
                taps: filter.weights().len() as u32,
            };
            // SAFETY: the memory is as long as the sizes say. Memory that is dropped here waits for the queue first.
            unsafe { over(queue, &FILTER_AXIS, size.iter().product(), params)? };
            voxels = Voxels::Owned(to);
        }
        Ok(voxels)
    }

    /// The fixed image of a pair as bins, in device memory.
    ///
    /// # Errors
    /// [`crate::Error::Device`] if there is not enough memory.
    pub fn counted(&self, image: Counted) -> Result<Q::Memory<u16>> {
        match image {
            Counted::Bins(image) => self.queue.upload(&image.bins),
            Counted::Image(image) => self.bins(image),
        }
    }

    fn bins(&self, image: &ToBins) -> Result<Q::Memory<u16>> {
        let queue = self.queue;
        let voxels = self.cache.voxels(queue, &image.image)?;
        let keep = queue.upload(image.keep.as_deref().unwrap_or(&[1]))?;
        let mut out = queue.zeros::<u16>(image.image.voxels.len())?;
        let params = PackBins {
            voxels: voxels.view(),
            keep: keep.view(),
            out: out.view_mut(),
            binning: image.binning,
            masked: u32::from(image.keep.is_some()),
            unused: 0,
        };
        // SAFETY: as above.
        unsafe { over(queue, &PACK_BINS, image.image.voxels.len(), params)? };
        queue.wait()?;
        Ok(out)
    }

    /// The moving image of a pair as kernels read it: see [`params::Images::moving`].
    ///
    /// # Errors
    /// [`crate::Error::Device`] if there is not enough memory, and those of [`Pair::words`].
    pub fn sampled(&self, pair: &Pair) -> Result<Q::Memory<u32>> {
        match pair.moving {
            // With partial volumes kernels read 16-bit words even of an image with at most 256 bins, which is not fine.
            Interpolated::Image(image) if image.fine == pair.fine() => self.words(image),
            _ => self.queue.upload(&pair.words()?),
        }
    }

    /// Packs an image into words: pairs of 16-bit values if it is fine, else four 8-bit levels.
    ///
    /// # Errors
    /// [`crate::Error::Device`] if there is not enough memory.
    pub fn words(&self, image: &ToValues) -> Result<Q::Memory<u32>> {
        let queue = self.queue;
        let voxels = self.filtered(&image.image, &image.filters())?;
        let [width, height, _] = image.image.geometry.size;
        let ahead = width * height + if image.fine { width } else { 0 };
        let mut out = queue.zeros::<u32>(image.image.voxels.len() + ahead)?;
        let params = PackWords {
            voxels: voxels.view(),
            out: out.view_mut(),
            low: image.range.0,
            high: image.range.1,
            width: width as u32,
            fine: u32::from(image.fine),
        };
        // SAFETY: as above.
        unsafe { over(queue, &PACK_WORDS, image.image.voxels.len() + ahead, params)? };
        queue.wait()?;
        Ok(out)
    }
}
