//! Images that stay on a device for a run.

use crate::backend::queue::{Memory, Queue};
use crate::{Result, Volume};
use cuda_std::global::DeviceSlice;
use std::sync::{Mutex, PoisonError};

/// Images that a device keeps: each goes there when it is first used.
pub struct Shelf<'v, Q: Queue>(Vec<Kept<'v, Q>>);

struct Kept<'v, Q: Queue> {
    image: &'v Volume,
    /// None until it is used.
    voxels: Mutex<Option<Q::Memory<f32>>>,
}

/// The voxels of an image on a device.
pub enum Voxels<Q: Queue> {
    /// On a shelf or lent, which is there for longer.
    Kept(DeviceSlice<f32>),
    Own(Q::Memory<f32>),
}

impl<Q: Queue> Voxels<Q> {
    pub fn view(&self) -> DeviceSlice<f32> {
        match self {
            Self::Kept(voxels) => *voxels,
            Self::Own(memory) => memory.view(),
        }
    }
}

impl<'v, Q: Queue> Shelf<'v, Q> {
    /// For these images, of which one may be there twice.
    pub fn new(images: &[&'v Volume]) -> Self {
        Self(images.iter().map(|image| Kept { image, voxels: Mutex::new(None) }).collect())
    }

    /// The voxels of an image, which go to the device unless they are lent or kept there.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where memory is short.
    pub fn voxels(&self, queue: &Q, image: &Volume) -> Result<Voxels<Q>> {
        if let Some(lent) = queue.lent(&image.voxels) {
            return Ok(Voxels::Kept(lent));
        }
        // What is kept is borrowed for as long, so that nothing else lies where it does.
        let Some(kept) = self.0.iter().find(|kept| std::ptr::eq(kept.image, image)) else {
            return Ok(Voxels::Own(queue.upload(&image.voxels)?));
        };
        let kept = || kept.voxels.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(memory) = &*kept() {
            return Ok(Voxels::Kept(memory.view()));
        }
        // Threads that copy may take up other work meanwhile, which may need this image too: nothing is locked.
        let memory = queue.upload(&image.voxels)?;
        Ok(Voxels::Kept(kept().get_or_insert(memory).view()))
    }
}
