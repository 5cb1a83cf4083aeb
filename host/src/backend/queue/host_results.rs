//! Results that kernels write into host memory.

use super::{Memory, Queue};
use crate::Result;
use cuda_std::global::DeviceSliceMut;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering, fence};

/// Numbers in page-locked memory, NaN until a kernel writes them. The host polls that memory instead of asking the
/// driver whether the device is done, which can take longer than the kernel.
pub struct HostResults<Q: Queue>(Q::Pinned<f64>);

impl<Q: Queue> HostResults<Q> {
    /// Allocates `len` numbers, none of them written.
    ///
    /// # Errors
    /// [`crate::Error::Device`] if there is not enough memory.
    pub fn new(queue: &Q, len: usize) -> Result<Self> {
        let mut numbers = queue.pinned(len)?;
        numbers.fill(f64::NAN);
        Ok(Self(numbers))
    }

    /// A view through which kernels write the numbers.
    pub fn view_mut(&mut self) -> DeviceSliceMut<f64> {
        self.0.view_mut()
    }

    /// Sets a range to NaN. Must be called before the kernel that writes the range is queued.
    pub fn forget(&mut self, range: Range<usize>) {
        self.0[range].fill(f64::NAN);
    }

    /// Waits until the numbers of a range are written, but no longer than until all queued work is done.
    ///
    /// # Errors
    /// [`crate::Error::Device`] if the device fails.
    pub fn wait(&self, queue: &Q, range: Range<usize>) -> Result<&[f64]> {
        queue.wait_until(&|| range.clone().all(|i| self.get(i).is_some()))?;
        Ok(&self.0[range])
    }

    /// Returns a number, or `None` if it is not written yet. The device may be writing it meanwhile.
    pub fn get(&self, i: usize) -> Option<f64> {
        let number: *const f64 = &self.0[i];
        // SAFETY: the pointer is that of a reference, and the device writes the number as a whole.
        let bits = unsafe { AtomicU64::from_ptr(number.cast_mut().cast()) }.load(Ordering::Relaxed);
        fence(Ordering::Acquire);
        let number = f64::from_bits(bits);
        (!number.is_nan()).then_some(number)
    }
}
