//! Memory of a device and launches on it, in order: what the families' launchers are written against, once for the GPU and for the
//! emulator.

mod answers;
pub mod cuda;
pub mod emulated;
mod kernel;
mod loans;

pub use answers::Answers;
pub(crate) use kernel::kernels;
pub use kernel::{Kernel, Shape};
pub use loans::{Loans, Resident};

use crate::Result;
use cuda_std::global::{DeviceSlice, DeviceSliceMut};
use cust::memory::DeviceCopy;
use std::ops::DerefMut;

/// Transforms that one launch takes at most.
pub const BATCH: usize = 64;

/// What can lie in a device's memory.
pub trait Element: DeviceCopy + Default + Send + Sync {}

impl<T: DeviceCopy + Default + Send + Sync> Element for T {}

/// An allocation that kernels reach.
pub trait Memory<T> {
    /// As kernels read it.
    fn view(&self) -> DeviceSlice<T>;

    /// As kernels write it.
    fn view_mut(&mut self) -> DeviceSliceMut<T>;
}

/// What a device offers to a launch.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Threads that a block should have.
    pub threads: u32,
    /// Multiprocessors.
    pub multiprocessors: u32,
    /// Bytes that may be allocated.
    pub memory: u64,
    /// Whether [`Queue::seconds`] knows the time.
    pub clock: bool,
}

/// A device that was opened: what queues are made on, from any thread.
pub trait Opened: Send + Sync {
    type Queue<'a>: Queue + Send + 'a
    where
        Self: 'a;

    /// `cuda` or `emulated`.
    fn kind(&self) -> &'static str;

    /// The device's own name.
    fn describe(&self) -> String;

    /// Bytes of its own memory that can be allocated; `None` where it works in the host's, or does not know.
    fn free_bytes(&self) -> Option<u64>;

    /// Its number among the GPUs that the driver shows; `None` where it works in the host's memory.
    fn number(&self) -> Option<usize>;

    /// What is lent on it.
    fn loans(&self) -> &Loans;

    /// A queue of its own, which waits for no other.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where the device gives up.
    fn queue(&self) -> Result<Self::Queue<'_>>;
}

/// Work in order on one device.
pub trait Queue {
    /// Memory of the device, to be used on this queue alone.
    type Memory<T: Element>: Memory<T> + Send;
    /// Memory of the host that kernels reach, for a few numbers that are sooner read from there than copied.
    type Pinned<T: Element>: Memory<T> + DerefMut<Target = [T]>;

    /// Launches that were queued before, to be queued again as a whole.
    type Graph;

    fn limits(&self) -> Limits;

    /// Dynamic shared memory that a block of `kernel` may have at most, in bytes.
    fn shared_bytes<P>(&self, kernel: &Kernel<P>) -> u32;

    /// Blocks of this shape that run at the same time on the whole device, at least 1.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where the driver does not know.
    fn resident<P>(&self, kernel: &Kernel<P>, threads: u32, shared_bytes: u32) -> Result<u32>;

    /// # Errors
    /// [`crate::Error::Device`] where memory is short.
    fn upload<T: Element>(&self, host: &[T]) -> Result<Self::Memory<T>>;

    /// The device's memory of these voxels, if it is lent.
    fn lent(&self, voxels: &[f32]) -> Option<DeviceSlice<f32>>;

    /// Waits for what callers have queued on the device's default stream, where they hand memory over.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where the device gives up.
    fn after_default(&self) -> Result<()>;

    /// Elements whose bytes are 0.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where memory is short.
    fn zeros<T: Element>(&self, len: usize) -> Result<Self::Memory<T>>;

    /// # Errors
    /// [`crate::Error::Device`] where memory is short.
    fn pinned<T: Element>(&self, len: usize) -> Result<Self::Pinned<T>>;

    /// Sets all bytes to 0, after what was queued before.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where the device gives up.
    fn clear<T: Element>(&self, memory: &mut Self::Memory<T>) -> Result<()>;

    /// Copies all elements, of as many, after what was queued before.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where the device gives up.
    fn copy<T: Element>(&self, from: &Self::Memory<T>, to: &mut Self::Memory<T>) -> Result<()>;

    /// The first `len` elements, after what was queued before.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where the device gives up.
    fn download<T: Element>(&self, memory: &Self::Memory<T>, len: usize) -> Result<Vec<T>>;

    /// Queues a launch.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where the device refuses it, and where the emulator finds a fault in the kernel.
    ///
    /// # Safety
    /// What `params` points to is as the kernel asks and stays until the queue is done, and the shape is one that the kernel allows.
    unsafe fn launch<P: Copy + Sync>(&self, kernel: &Kernel<P>, shape: Shape, params: P) -> Result<()>;

    /// Queues the launches that `work` queues, and nothing else: always the same for the same `graph`, which remembers them.
    ///
    /// # Errors
    /// Those of `work`.
    fn again(&self, graph: &mut Option<Self::Graph>, work: impl FnOnce() -> Result<()>) -> Result<()>;

    /// Waits for something that a kernel of the queue writes to [`Queue::Pinned`] memory, while the device goes on with what comes after
    /// it; at most for all that was queued. `seen` says whether it is there.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where the device gives up.
    fn wait_until(&self, seen: &dyn Fn() -> bool) -> Result<()>;

    /// Waits for all that was queued.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where the device gives up.
    fn wait(&self) -> Result<()>;

    /// Seconds that the device spends on what `work` queues; `None` where the device has no clock.
    ///
    /// # Errors
    /// Those of `work`.
    fn seconds(&self, work: impl FnOnce() -> Result<()>) -> Result<Option<f64>>;
}
