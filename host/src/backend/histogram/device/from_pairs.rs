//! Counts 16-bit numbers, such as joint indices, that are already in a device's memory.

use crate::backend::queue::cuda::Cuda;
use crate::backend::queue::emulated::Emulated;
use crate::backend::queue::{Kernel, Memory, Opened, Queue, Shape, kernels};
use crate::error::Setting;
use crate::{Error, Result};
use cuda_std::global::DeviceSliceMut;
use gpu::kernels::histogram::from_pairs::{self, VECTOR, VECTORS_AT_ONCE};
use gpu::params;

kernels! {
    COUNT_PAIRS = from_pairs::count_pairs(params::FromPairs);
    COUNT_PAIRS_PACKED = from_pairs::count_pairs_packed(params::FromPairs);
}

/// The largest number of numbers. It leaves room for the last step of a kernel's loop within 32 bits.
const MOST: usize = u32::MAX as usize - (1 << 24);

/// Numbers and their counters on a device.
pub struct FromPairs<Q: Queue> {
    pairs: Q::Memory<[u32; 4]>,
    counters: Q::Memory<u32>,
    len: u32,
    bins: u32,
    counting: Counting,
}

/// The kernel and the shape of its launch.
struct Counting {
    kernel: Kernel<params::FromPairs>,
    shape: Shape,
    range: u32,
}

impl Counting {
    /// Chooses counters of 32 bits if all fit into a block's shared memory, else of 16 bits, in several ranges if
    /// necessary. One more word takes the numbers that are not counted.
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
        let steps = len.div_ceil(VECTOR * VECTORS_AT_ONCE as u32 * threads);
        let blocks = (queue.resident(&kernel, threads, 4 * words)? / passes).clamp(1, steps.max(1));
        let shape = Shape { grid: [blocks, 1, passes], block: [threads, 1, 1], shared_bytes: 4 * words };
        Ok(Self { kernel, shape, range })
    }
}

impl<Q: Queue> FromPairs<Q> {
    /// Uploads numbers. Those below `bins` will be counted.
    pub fn new(queue: &Q, numbers: &[u16], bins: u32) -> Result<Self> {
        let len = checked(numbers.len(), bins)?;
        Self::of(queue, queue.upload(&vectors(numbers))?, len, bins)
    }

    /// Allocates memory for `len` numbers, which kernels write.
    pub fn allocate(queue: &Q, len: usize, bins: u32) -> Result<Self> {
        let checked = checked(len, bins)?;
        Self::of(queue, queue.zeros(len / VECTOR as usize + 1)?, checked, bins)
    }

    fn of(queue: &Q, pairs: Q::Memory<[u32; 4]>, len: u32, bins: u32) -> Result<Self> {
        let counting = Counting::new(queue, len, bins)?;
        Ok(Self { pairs, counters: queue.zeros(bins as usize)?, len, bins, counting })
    }

    /// The numbers, for kernels to write.
    pub fn numbers(&mut self) -> DeviceSliceMut<u16> {
        // SAFETY: a vector is eight numbers in order.
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

    /// Queues counting the numbers; adds to the counters.
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

    /// Downloads the counters.
    pub fn counts(&self, queue: &Q) -> Result<Vec<u32>> {
        queue.download(&self.counters, self.bins as usize)
    }

    /// The mean time of a count over `times` in a row, in seconds; `None` if the device has no clock.
    pub fn seconds(&mut self, queue: &Q, times: u32) -> Result<Option<f64>> {
        let seconds = queue.seconds(|| (0..times).try_for_each(|_| self.count(queue)))?;
        Ok(seconds.filter(|_| times > 0).map(|seconds| seconds / f64::from(times)))
    }
}

/// Returns `len`, after checking that this many numbers can be counted in `bins` bins.
fn checked(len: usize, bins: u32) -> Result<u32> {
    match (1..=1 << 16).contains(&bins) && len <= MOST {
        true => Ok(len as u32),
        false => Err(Error::option(Setting::Bins, format!("{len} numbers in {bins} bins cannot be counted"))),
    }
}

/// Packs numbers into vectors, with one more vector for the remainder.
fn vectors(numbers: &[u16]) -> Vec<[u32; 4]> {
    let mut vectors = vec![[0; 4]; numbers.len() / VECTOR as usize + 1];
    for (vector, numbers) in vectors.iter_mut().zip(numbers.chunks(VECTOR as usize)) {
        for (i, &number) in numbers.iter().enumerate() {
            vector[i / 2] |= u32::from(number) << (16 * (i % 2));
        }
    }
    vectors
}

/// How often each of the numbers below `bins` occurs, and the mean time of a count over `times` more, in seconds;
/// `None` if `times` is 0 or the device has no clock.
pub fn count_pairs<Q: Queue>(queue: &Q, numbers: &[u16], bins: u32, times: u32) -> Result<(Vec<u32>, Option<f64>)> {
    let mut from_pairs = FromPairs::new(queue, numbers, bins)?;
    from_pairs.count(queue)?;
    let counts = from_pairs.counts(queue)?;
    Ok((counts, from_pairs.seconds(queue, times)?))
}

impl Cuda {
    /// How often each of the numbers below `bins`, 1 to 65536, occurs; others are not counted. Also the mean time that
    /// the device spends on a count over `times` more in a row, in seconds, if `times` is not 0.
    ///
    /// # Errors
    /// [`Error::Option`] for other `bins`, [`Error::Device`] if the numbers do not fit into memory or the device fails.
    pub fn count_pairs(&self, numbers: &[u16], bins: u32, times: u32) -> Result<(Vec<u32>, Option<f64>)> {
        count_pairs(&self.queue()?, numbers, bins, times)
    }
}

impl Emulated {
    /// How often each of the numbers below `bins`, 1 to 65536, occurs. Others are not counted.
    ///
    /// # Errors
    /// [`Error::Option`] for other `bins`, [`Error::Device`] if the emulator finds a fault in the kernel.
    pub fn count_pairs(&self, numbers: &[u16], bins: u32) -> Result<Vec<u32>> {
        Ok(count_pairs(self, numbers, bins, 0)?.0)
    }
}
