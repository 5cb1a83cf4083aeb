//! A histogram of 16-bit numbers that lie in the device's memory: counting alone.

use crate::backend::queue::cuda::Cuda;
use crate::backend::queue::emulated::Emulated;
use crate::backend::queue::{Kernel, Memory, Opened, Queue, Shape, kernels};
use crate::error::Setting;
use crate::{Error, Result};
use cuda_std::global::DeviceSliceMut;
use gpu::kernels::histogram::from_pairs::{self, TOGETHER, VECTOR};
use gpu::params;

kernels! {
    COUNT_PAIRS = from_pairs::count_pairs(params::FromPairs);
    COUNT_PAIRS_PACKED = from_pairs::count_pairs_packed(params::FromPairs);
}

/// Numbers that there may be at most; their number and the last step fit in 32 bits.
const MOST: usize = u32::MAX as usize - (1 << 24);

/// Numbers and their counters on a device.
pub struct FromPairs<Q: Queue> {
    pairs: Q::Memory<[u32; 4]>,
    counters: Q::Memory<u32>,
    len: u32,
    bins: u32,
    counting: Counting,
}

/// The launch.
struct Counting {
    kernel: Kernel<params::FromPairs>,
    shape: Shape,
    range: u32,
}

impl Counting {
    /// Counters of 32 bits where a block has room for all of them, else of 16 bits, a range of them at a time where it must be. One word
    /// more is for what is not counted.
    fn new<Q: Queue>(queue: &Q, len: u32, bins: u32) -> Result<Self> {
        let threads = queue.limits().threads;
        let words = queue.shared_bytes(&COUNT_PAIRS) / 4 - 1;
        let (kernel, passes, range, words) = if bins <= words {
            (COUNT_PAIRS, 1, bins, bins + 1)
        } else {
            let passes = bins.div_ceil(2 * (queue.shared_bytes(&COUNT_PAIRS_PACKED) / 4 - 1));
            let range = bins.div_ceil(passes).next_multiple_of(2);
            (COUNT_PAIRS_PACKED, passes, range, range / 2 + 1)
        };
        let steps = len.div_ceil(VECTOR * TOGETHER as u32 * threads);
        let blocks = (queue.resident(&kernel, threads, 4 * words)? / passes).clamp(1, steps.max(1));
        let shape = Shape { grid: [blocks, 1, passes], block: [threads, 1, 1], shared_bytes: 4 * words };
        Ok(Self { kernel, shape, range })
    }
}

impl<Q: Queue> FromPairs<Q> {
    /// Uploads numbers, of which those below `bins` are counted.
    pub fn new(queue: &Q, numbers: &[u16], bins: u32) -> Result<Self> {
        let len = checked(numbers.len(), bins)?;
        Self::of(queue, queue.upload(&vectors(numbers))?, len, bins)
    }

    /// Room for so many numbers, which kernels write.
    pub fn room(queue: &Q, len: usize, bins: u32) -> Result<Self> {
        let checked = checked(len, bins)?;
        Self::of(queue, queue.zeros(len / VECTOR as usize + 1)?, checked, bins)
    }

    fn of(queue: &Q, pairs: Q::Memory<[u32; 4]>, len: u32, bins: u32) -> Result<Self> {
        let counting = Counting::new(queue, len, bins)?;
        Ok(Self { pairs, counters: queue.zeros(bins as usize)?, len, bins, counting })
    }

    /// The numbers, for kernels to write.
    pub fn numbers(&mut self) -> DeviceSliceMut<u16> {
        // SAFETY: eight numbers a vector, in their order.
        unsafe { self.pairs.view_mut().cast() }
    }

    /// Queues setting the counters to 0.
    pub fn clear(&mut self, queue: &Q) -> Result<()> {
        queue.clear(&mut self.counters)
    }

    /// The counters, for kernels.
    pub fn counters(&mut self) -> DeviceSliceMut<u32> {
        self.counters.view_mut()
    }

    /// Queues adding the numbers to the counters.
    pub fn count(&mut self, queue: &Q) -> Result<()> {
        let params = params::FromPairs {
            pairs: self.pairs.view(),
            counters: self.counters.view_mut(),
            len: self.len,
            bins: self.bins,
            range: self.counting.range,
            unused: 0,
        };
        // SAFETY: the memory is as long as the lengths say and lives until the queue is done.
        unsafe { queue.launch(&self.counting.kernel, self.counting.shape, params) }
    }

    /// The counters.
    pub fn counts(&self, queue: &Q) -> Result<Vec<u32>> {
        queue.download(&self.counters, self.bins as usize)
    }

    /// Seconds of a count, as the mean of `times` in a row; `None` where the device has no clock.
    pub fn seconds(&mut self, queue: &Q, times: u32) -> Result<Option<f64>> {
        let seconds = queue.seconds(|| (0..times).try_for_each(|_| self.count(queue)))?;
        Ok(seconds.filter(|_| times > 0).map(|seconds| seconds / f64::from(times)))
    }
}

/// How many numbers there are.
fn checked(len: usize, bins: u32) -> Result<u32> {
    match (1..=1 << 16).contains(&bins) && len <= MOST {
        true => Ok(len as u32),
        false => Err(Error::option(Setting::Bins, format!("{len} numbers in {bins} bins cannot be counted"))),
    }
}

/// Full vectors and one more for what is left.
fn vectors(numbers: &[u16]) -> Vec<[u32; 4]> {
    let mut vectors = vec![[0; 4]; numbers.len() / VECTOR as usize + 1];
    for (vector, numbers) in vectors.iter_mut().zip(numbers.chunks(VECTOR as usize)) {
        for (i, &number) in numbers.iter().enumerate() {
            vector[i / 2] |= u32::from(number) << (16 * (i % 2));
        }
    }
    vectors
}

/// How often each of the numbers below `bins` occurs, and the seconds of a count as the mean of `times`, if there are any.
pub fn count_pairs<Q: Queue>(queue: &Q, numbers: &[u16], bins: u32, times: u32) -> Result<(Vec<u32>, Option<f64>)> {
    let mut from_pairs = FromPairs::new(queue, numbers, bins)?;
    from_pairs.count(queue)?;
    let counts = from_pairs.counts(queue)?;
    Ok((counts, from_pairs.seconds(queue, times)?))
}

impl Cuda {
    /// How often each of the numbers below `bins`, 1 to 65536, occurs; others are not counted. Also the seconds that the device
    /// spends on it, as the mean of `times` more in a row, if that is not 0.
    ///
    /// # Errors
    /// [`Error::Option`] for other `bins`, [`Error::Device`] where the numbers do not fit or the device gives up.
    pub fn count_pairs(&self, numbers: &[u16], bins: u32, times: u32) -> Result<(Vec<u32>, Option<f64>)> {
        count_pairs(&self.queue()?, numbers, bins, times)
    }
}

impl Emulated {
    /// How often each of the numbers below `bins`, 1 to 65536, occurs. Others are not counted.
    ///
    /// # Errors
    /// [`Error::Option`] for other `bins`, [`Error::Device`] where the emulator finds a fault in the kernel.
    pub fn count_pairs(&self, numbers: &[u16], bins: u32) -> Result<Vec<u32>> {
        Ok(count_pairs(self, numbers, bins, 0)?.0)
    }
}
