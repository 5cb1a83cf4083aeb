//! Images that stay on a device during a run.

use crate::backend::queue::{Memory, Queue};
use crate::{Result, Volume};
use cuda_std::global::DeviceSlice;
use std::sync::{Mutex, PoisonError};

/// Images that a device keeps. Each is uploaded when it is first used.
pub struct ImageCache<'v, Q: Queue>(Vec<CachedImage<'v, Q>>);

struct CachedImage<'v, Q: Queue> {
    image: &'v Volume,
    /// `None` until it is first used.
    voxels: Mutex<Option<Q::Memory<f32>>>,
}

/// The voxels of an image on a device.
pub enum Voxels<Q: Queue> {
    /// In a cache or lent by the caller, and so in memory that outlives this value.
    Borrowed(DeviceSlice<f32>),
    Owned(Q::Memory<f32>),
}

impl<Q: Queue> Voxels<Q> {
    pub fn view(&self) -> DeviceSlice<f32> {
        match self {
            Self::Borrowed(voxels) => *voxels,
            Self::Owned(memory) => memory.view(),
        }
    }
}

impl<'v, Q: Queue> ImageCache<'v, Q> {
    /// A cache for these images. The same image may be listed twice.
    pub fn new(images: &[&'v Volume]) -> Self {
        Self(images.iter().map(|image| CachedImage { image, voxels: Mutex::new(None) }).collect())
    }

    /// The voxels of an image on the device. They are uploaded unless they are lent or kept there.
    ///
    /// # Errors
    /// [`crate::Error::Device`] if there is not enough memory.
    pub fn voxels(&self, queue: &Q, image: &Volume) -> Result<Voxels<Q>> {
        if let Some(lent) = queue.lent(&image.voxels) {
            return Ok(Voxels::Borrowed(lent));
        }
        // Images are compared by address. The cache borrows its images, so no other image can have the address of one.
        let Some(kept) = self.0.iter().find(|kept| std::ptr::eq(kept.image, image)) else {
            return Ok(Voxels::Owned(queue.upload(&image.voxels)?));
        };
        let kept = || kept.voxels.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(memory) = &*kept() {
            return Ok(Voxels::Borrowed(memory.view()));
        }
        // The lock is not held here: a thread that copies may take up other work meanwhile, which may need this image
        // too.
        let memory = queue.upload(&image.voxels)?;
        Ok(Voxels::Borrowed(kept().get_or_insert(memory).view()))
    }
}
