//! Runs the GPU kernels in the SIMT emulator, which is slow and checks every step.

use super::{Element, Kernel, Limits, Loans, Memory, Opened, Queue, Shape};
use crate::error::message;
use crate::{Error, Result};
use cuda_std::emulator::{Fault, Launch, run};
use cuda_std::global::{DeviceSlice, DeviceSliceMut};

/// Limits of the emulated device. Blocks are small, to save time.
const LIMITS: Limits = Limits { threads: 128, multiprocessors: 8, memory: 1 << 32, clock: false };

/// Loans of all emulators, since they all use the host's memory.
static LOANS: Loans = Loans::none();

/// The emulator, a device that is always available.
#[derive(Debug, Clone, Copy)]
pub struct Emulated {
    /// Determines the order in which threads run. Results do not depend on it.
    seed: u64,
    /// Bytes of dynamic shared memory per block.
    shared_bytes: u32,
}

impl Default for Emulated {
    /// An emulator with the 48 KB of shared memory that every GPU has.
    fn default() -> Self {
        Self { seed: 0, shared_bytes: 48 << 10 }
    }
}

impl Emulated {
    /// An emulator that runs threads in another order.
    pub fn with_seed(seed: u64) -> Self {
        Self { seed, ..Self::default() }
    }

    /// An emulator with so much shared memory per block, as larger GPUs have.
    pub fn with_shared(kilobytes: u32) -> Self {
        Self { shared_bytes: kilobytes << 10, ..Self::default() }
    }
}

impl Opened for Emulated {
    type Queue<'a> = Self;

    fn kind(&self) -> &'static str {
        "emulated"
    }

    fn describe(&self) -> String {
        "SIMT emulator".into()
    }

    fn free_bytes(&self) -> Option<u64> {
        None
    }

    fn number(&self) -> Option<usize> {
        None
    }

    fn loans(&self) -> &Loans {
        &LOANS
    }

    fn queue(&self) -> Result<Self> {
        Ok(*self)
    }
}

impl<T> Memory<T> for Vec<T> {
    fn view(&self) -> DeviceSlice<T> {
        // SAFETY: the caller keeps the memory for as long as kernels run.
        unsafe { DeviceSlice::new(self.as_ptr(), self.len() as u64) }
    }

    fn view_mut(&mut self) -> DeviceSliceMut<T> {
        // SAFETY: the caller keeps the memory, and accesses it only after kernels have run.
        unsafe { DeviceSliceMut::new(self.as_mut_ptr(), self.len() as u64) }
    }
}

/// Launches run immediately, so there is never anything to wait for.
impl Queue for Emulated {
    type Memory<T: Element> = Vec<T>;
    type Pinned<T: Element> = Vec<T>;
    type Graph = ();

    fn limits(&self) -> Limits {
        LIMITS
    }

    fn shared_bytes<P>(&self, _: &Kernel<P>) -> u32 {
        self.shared_bytes
    }

    fn resident<P>(&self, _: &Kernel<P>, _: u32, _: u32) -> Result<u32> {
        Ok(LIMITS.multiprocessors)
    }

    fn upload<T: Element>(&self, host: &[T]) -> Result<Vec<T>> {
        Ok(host.to_vec())
    }

    fn lent(&self, voxels: &[f32]) -> Option<DeviceSlice<f32>> {
        LOANS.of(voxels)
    }

    fn after_default(&self) -> Result<()> {
        Ok(())
    }

    fn zeros<T: Element>(&self, len: usize) -> Result<Vec<T>> {
        Ok(vec![T::default(); len])
    }

    fn pinned<T: Element>(&self, len: usize) -> Result<Vec<T>> {
        self.zeros(len)
    }

    fn clear<T: Element>(&self, memory: &mut Vec<T>) -> Result<()> {
        memory.fill(T::default());
        Ok(())
    }

    fn copy<T: Element>(&self, from: &Vec<T>, to: &mut Vec<T>) -> Result<()> {
        to.copy_from_slice(from);
        Ok(())
    }

    fn download<T: Element>(&self, memory: &Vec<T>, len: usize) -> Result<Vec<T>> {
        Ok(memory[..len].to_vec())
    }

    unsafe fn launch<P: Copy + Sync>(&self, kernel: &Kernel<P>, shape: Shape, params: P) -> Result<()> {
        let launch = Launch::default().grid(shape.grid).block(shape.block);
        let launch = launch.shared_bytes(shape.shared_bytes).seed(self.seed);
        // SAFETY: as this function's.
        run(kernel.name, &launch, || unsafe { (kernel.run)(params) }).map_err(fault)
    }

    fn record_or_replay(&self, _: &mut Option<()>, work: impl FnOnce() -> Result<()>) -> Result<()> {
        work()
    }

    fn wait_until(&self, _: &dyn Fn() -> bool) -> Result<()> {
        Ok(())
    }

    fn wait(&self) -> Result<()> {
        Ok(())
    }

    fn seconds(&self, work: impl FnOnce() -> Result<()>) -> Result<Option<f64>> {
        work()?;
        Ok(None)
    }
}

fn fault(fault: Fault) -> Error {
    Error::device("emulated", message!("a kernel is wrong: {fault}"; "please report it"))
}
