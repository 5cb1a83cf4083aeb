//! Queues: memory of a device, and launches that run on it in order. The launchers of all families are written against
//! this interface, once for the GPU and the emulator.

pub mod cuda;
pub mod emulated;
mod host_results;
mod kernel;
mod loans;

pub use host_results::HostResults;
pub(crate) use kernel::kernels;
pub use kernel::{Kernel, Shape};
pub use loans::{Loans, Resident};

use crate::Result;
use cuda_std::global::{DeviceSlice, DeviceSliceMut};
use cust::memory::DeviceCopy;
use std::ops::DerefMut;

/// The most transforms that one launch takes.
pub const BATCH: usize = 64;

/// Types that can lie in a device's memory.
pub trait Element: DeviceCopy + Default + Send + Sync {}

impl<T: DeviceCopy + Default + Send + Sync> Element for T {}

/// An allocation that kernels can access.
pub trait Memory<T> {
    /// A view through which kernels read it.
    fn view(&self) -> DeviceSlice<T>;

    /// A view through which kernels write it.
    fn view_mut(&mut self) -> DeviceSliceMut<T>;
}

/// Properties of a device that launches depend on.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Threads that a block should have.
    pub threads: u32,
    /// The number of multiprocessors.
    pub multiprocessors: u32,
    /// Bytes of memory in all.
    pub memory: u64,
    /// Whether [`Queue::seconds`] can measure time.
    pub clock: bool,
}

/// A device that is open. Queues on it can be made from any thread.
pub trait Opened: Send + Sync {
    type Queue<'a>: Queue + Send + 'a
    where
        Self: 'a;

    /// `cuda` or `emulated`.
    fn kind(&self) -> &'static str;

    /// A description of the device.
    fn describe(&self) -> String;

    /// Bytes of its own memory that can be allocated; `None` if it uses the host's memory, or does not know.
    fn free_bytes(&self) -> Option<u64>;

    /// Its number among the GPUs that the driver shows; `None` if it uses the host's memory.
    fn number(&self) -> Option<usize>;

    /// The images that are lent on it.
    fn loans(&self) -> &Loans;

    /// Makes a queue, which waits for no other queue.
    ///
    /// # Errors
    /// [`crate::Error::Device`] if the device fails.
    fn queue(&self) -> Result<Self::Queue<'_>>;
}

/// Work that is done in order on one device.
pub trait Queue {
    /// Memory of the device. It must be used on this queue only.
    type Memory<T: Element>: Memory<T> + Send;
    /// Host memory that kernels can access, for a few numbers that are faster to access there than to copy.
    type Pinned<T: Element>: Memory<T> + DerefMut<Target = [T]>;

    /// Recorded launches, which can be queued again as a whole.
    type Graph;

    fn limits(&self) -> Limits;

    /// The most dynamic shared memory that a block of `kernel` can have, in bytes.
    fn shared_bytes<P>(&self, kernel: &Kernel<P>) -> u32;

    /// The number of blocks of this shape that run at the same time on the whole device, at least 1.
    ///
    /// # Errors
    /// [`crate::Error::Device`] if the driver cannot tell.
    fn resident<P>(&self, kernel: &Kernel<P>, threads: u32, shared_bytes: u32) -> Result<u32>;

    /// # Errors
    /// [`crate::Error::Device`] if there is not enough memory.
    fn upload<T: Element>(&self, host: &[T]) -> Result<Self::Memory<T>>;

    /// The device memory that holds these voxels, if it is lent.
    fn lent(&self, voxels: &[f32]) -> Option<DeviceSlice<f32>>;

    /// Waits for the device's default stream, on which callers may have queued work on memory that they hand over.
    ///
    /// # Errors
    /// [`crate::Error::Device`] if the device fails.
    fn after_default(&self) -> Result<()>;

    /// Allocates elements whose bytes are all 0.
    ///
    /// # Errors
    /// [`crate::Error::Device`] if there is not enough memory.
    fn zeros<T: Element>(&self, len: usize) -> Result<Self::Memory<T>>;

    /// # Errors
    /// [`crate::Error::Device`] if there is not enough memory.
    fn pinned<T: Element>(&self, len: usize) -> Result<Self::Pinned<T>>;

    /// Sets all bytes to 0, after all work queued before.
    ///
    /// # Errors
    /// [`crate::Error::Device`] if the device fails.
    fn clear<T: Element>(&self, memory: &mut Self::Memory<T>) -> Result<()>;

    /// Copies all elements to a memory of the same length, after all work queued before.
    ///
    /// # Errors
    /// [`crate::Error::Device`] if the device fails.
    fn copy<T: Element>(&self, from: &Self::Memory<T>, to: &mut Self::Memory<T>) -> Result<()>;

    /// Copies the first `len` elements to the host, after all work queued before.
    ///
    /// # Errors
    /// [`crate::Error::Device`] if the device fails.
    fn download<T: Element>(&self, memory: &Self::Memory<T>, len: usize) -> Result<Vec<T>>;

    /// Queues a launch.
    ///
    /// # Errors
    /// [`crate::Error::Device`] if the device refuses it, or the emulator finds a fault in the kernel.
    ///
    /// # Safety
    /// The memory that `params` points to must be as the kernel requires, and live until the queue is done. The kernel
    /// must allow the shape.
    unsafe fn launch<P: Copy + Sync>(&self, kernel: &Kernel<P>, shape: Shape, params: P) -> Result<()>;

    /// Queues the launches that `work` queues. They are recorded in `graph` on the first call and replayed from it
    /// later, without calling `work`. So `work` must do nothing else, and always the same for the same `graph`.
    ///
    /// # Errors
    /// Those of `work`.
    fn record_or_replay(&self, graph: &mut Option<Self::Graph>, work: impl FnOnce() -> Result<()>) -> Result<()>;

    /// Waits until `seen` returns `true`, which polls something that a kernel writes to [`Queue::Pinned`] memory. The
    /// device may continue with later work meanwhile. Returns at the latest when all queued work is done.
    ///
    /// # Errors
    /// [`crate::Error::Device`] if the device fails.
    fn wait_until(&self, seen: &dyn Fn() -> bool) -> Result<()>;

    /// Waits for all queued work.
    ///
    /// # Errors
    /// [`crate::Error::Device`] if the device fails.
    fn wait(&self) -> Result<()>;

    /// The seconds that the device spends on the work that `work` queues; `None` if the device has no clock.
    ///
    /// # Errors
    /// Those of `work`.
    fn seconds(&self, work: impl FnOnce() -> Result<()>) -> Result<Option<f64>>;
}
