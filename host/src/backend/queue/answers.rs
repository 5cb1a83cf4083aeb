//! Numbers that kernels write where the host reads them.

use super::{Memory, Queue};
use crate::Result;
use cuda_std::global::DeviceSliceMut;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering, fence};

/// Numbers in page-locked memory. The host looks for them there instead of asking the driver whether the device is done, which takes
/// longer than many a kernel. Until a kernel has written one it is NaN.
pub struct Answers<Q: Queue>(Q::Pinned<f64>);

impl<Q: Queue> Answers<Q> {
    /// So many, none of them written.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where memory is short.
    pub fn new(queue: &Q, len: usize) -> Result<Self> {
        let mut numbers = queue.pinned(len)?;
        numbers.fill(f64::NAN);
        Ok(Self(numbers))
    }

    /// As kernels write them.
    pub fn view_mut(&mut self) -> DeviceSliceMut<f64> {
        self.0.view_mut()
    }

    /// Makes place for the next ones, before what writes them is queued.
    pub fn forget(&mut self, range: Range<usize>) {
        self.0[range].fill(f64::NAN);
    }

    /// Waits for the numbers of a range, at most for all that was queued.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where the device gives up.
    pub fn wait(&self, queue: &Q, range: Range<usize>) -> Result<&[f64]> {
        queue.wait_until(&|| range.clone().all(|i| self.get(i).is_some()))?;
        Ok(&self.0[range])
    }

    /// A number, once it is there. The device may write it now.
    pub fn get(&self, i: usize) -> Option<f64> {
        let number: *const f64 = &self.0[i];
        // SAFETY: a reference to a number, which the device writes as a whole.
        let bits = unsafe { AtomicU64::from_ptr(number.cast_mut().cast()) }.load(Ordering::Relaxed);
        fence(Ordering::Acquire);
        let number = f64::from_bits(bits);
        (!number.is_nan()).then_some(number)
    }
}
