//! Keeps freed allocations and reuses them for others of the same size. The driver takes longer to allocate memory than
//! a small kernel takes to run, and freeing memory makes all work on the device wait.

use crate::Result;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Allocations of up to this many bytes are rounded up to powers of two.
const SMALL: usize = 1 << 20;

/// The smallest allocation, in bytes. Allocations above [`SMALL`] are multiples of [`PAGE`], the page size that the
/// driver itself uses.
const LEAST: usize = 512;
const PAGE: usize = 2 << 20;

/// Allocates and frees one kind of memory.
pub trait Allocator {
    /// Allocates this many bytes, more than 0, and returns their address.
    ///
    /// # Errors
    /// [`crate::Error::Device`] if there is not enough memory.
    fn allocate(&self, bytes: usize) -> Result<u64>;

    /// Frees an allocation, which nothing may use any more.
    fn free(&self, address: u64);
}

/// An allocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    pub address: u64,
    bytes: usize,
}

/// The allocations of one kind of memory of an opened device.
pub struct Pool<A: Allocator> {
    allocator: A,
    /// The most freed bytes that are kept.
    most: usize,
    kept: Mutex<Kept>,
    /// The number of allocations.
    allocations: AtomicU64,
}

/// Freed allocations, the last freed at the end.
#[derive(Default)]
struct Kept {
    blocks: VecDeque<Block>,
    bytes: usize,
}

impl Kept {
    /// Takes the last freed block of this size, whose contents are most likely still in a cache.
    fn take(&mut self, bytes: usize) -> Option<Block> {
        let place = self.blocks.iter().rposition(|block| block.bytes == bytes)?;
        self.bytes -= bytes;
        self.blocks.remove(place)
    }

    fn put(&mut self, block: Block) {
        self.bytes += block.bytes;
        self.blocks.push_back(block);
    }

    /// Removes the block that was freed first, if more than `most` bytes are kept.
    fn beyond(&mut self, most: usize) -> Option<Block> {
        let block = if self.bytes > most { self.blocks.pop_front() } else { None };
        self.bytes -= block.map_or(0, |block| block.bytes);
        block
    }
}

impl<A: Allocator> Pool<A> {
    /// A pool that keeps at most this many freed bytes.
    pub fn new(allocator: A, most: usize) -> Self {
        Self { allocator, most, kept: Mutex::default(), allocations: AtomicU64::new(0) }
    }

    /// Takes a block of at least this many bytes, with undefined contents. If the allocation fails, all kept blocks are
    /// freed and it is tried again.
    ///
    /// # Errors
    /// [`crate::Error::Device`] if memory still does not suffice.
    pub fn take(&self, bytes: usize) -> Result<Block> {
        let bytes = rounded(bytes);
        if let Some(block) = self.kept().take(bytes) {
            return Ok(block);
        }
        let address = self.allocator.allocate(bytes).or_else(|_| {
            self.keep(0);
            self.allocator.allocate(bytes)
        })?;
        self.allocations.fetch_add(1, Relaxed);
        Ok(Block { address, bytes })
    }

    /// The number of allocations so far.
    pub fn allocations(&self) -> u64 {
        self.allocations.load(Relaxed)
    }

    /// Takes back a block, which nothing may use any more.
    pub fn give(&self, block: Block) {
        self.kept().put(block);
        self.keep(self.most);
    }

    /// The freed bytes that are kept.
    pub fn bytes(&self) -> usize {
        self.kept().bytes
    }

    /// Frees kept blocks, the oldest first, until at most this many bytes are kept.
    fn keep(&self, most: usize) {
        loop {
            // The lock is not held while the driver frees, because freeing waits for the device.
            let block = self.kept().beyond(most);
            let Some(block) = block else { break };
            self.allocator.free(block.address);
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<A: Allocator> Drop for Pool<A> {
    fn drop(&mut self) {
        self.keep(0);
    }
}

/// The size of the block for this many bytes.
fn rounded(bytes: usize) -> usize {
    if bytes <= SMALL { bytes.next_power_of_two().max(LEAST) } else { bytes.next_multiple_of(PAGE) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;
    use std::collections::HashMap;

    const MEGABYTE: usize = 1 << 20;

    /// A device with this many bytes. Keeps its allocations by address, and their number so far.
    struct FakeDevice {
        bytes: usize,
        state: Mutex<(HashMap<u64, usize>, u64)>,
    }

    impl FakeDevice {
        fn new(bytes: usize) -> Self {
            Self { bytes, state: Mutex::default() }
        }

        fn used(&self) -> usize {
            self.state.lock().unwrap().0.values().sum()
        }

        fn allocations(&self) -> u64 {
            self.state.lock().unwrap().1
        }
    }

    impl Allocator for &FakeDevice {
        fn allocate(&self, bytes: usize) -> Result<u64> {
            if self.used() + bytes > self.bytes {
                return Err(Error::device("fake", "memory is short"));
            }
            let mut state = self.state.lock().unwrap();
            state.1 += 1;
            let address = state.1;
            state.0.insert(address, bytes);
            Ok(address)
        }

        fn free(&self, address: u64) {
            self.state.lock().unwrap().0.remove(&address).expect("it was allocated, and freed once");
        }
    }

    #[test]
    fn a_size_is_allocated_once_however_often_it_is_asked_for() {
        let device = FakeDevice::new(64 * MEGABYTE);
        let pool = Pool::new(&device, 32 * MEGABYTE);
        for _ in 0..5 {
            let blocks = [300, 3000, 3 * MEGABYTE, 3 * MEGABYTE].map(|bytes| pool.take(bytes).unwrap());
            let mut addresses = blocks.map(|block| block.address);
            addresses.sort_unstable();
            assert!(addresses.windows(2).all(|pair| pair[0] != pair[1]), "{blocks:?}");
            blocks.into_iter().for_each(|block| pool.give(block));
        }
        assert_eq!([device.allocations(), pool.allocations()], [4; 2]);
        assert_eq!(pool.bytes(), 512 + 4096 + 8 * MEGABYTE);
        drop(pool);
        assert_eq!(device.used(), 0);
    }

    #[test]
    fn sizes_of_one_class_share_blocks() {
        let device = FakeDevice::new(64 * MEGABYTE);
        let pool = Pool::new(&device, 64 * MEGABYTE);
        for class in [[0, 1, 512].as_slice(), &[513, 1024], &[MEGABYTE - 1, MEGABYTE], &[MEGABYTE + 1, 2 * MEGABYTE]] {
            let before = device.allocations();
            for &bytes in class {
                let block = pool.take(bytes).unwrap();
                assert!(block.bytes >= bytes);
                pool.give(block);
            }
            assert_eq!(device.allocations(), before + 1, "{class:?}");
        }
    }

    #[test]
    fn no_more_is_kept_than_was_said_and_the_oldest_goes_first() {
        let device = FakeDevice::new(64 * MEGABYTE);
        let pool = Pool::new(&device, 8 * MEGABYTE);
        let blocks = [2, 4, 6].map(|megabytes| pool.take(megabytes * MEGABYTE).unwrap());
        blocks.into_iter().for_each(|block| pool.give(block));
        assert_eq!(pool.bytes(), 6 * MEGABYTE);
        assert_eq!(device.used(), 6 * MEGABYTE);
        assert_eq!(pool.take(6 * MEGABYTE).unwrap(), blocks[2]);
        assert_eq!(pool.bytes(), 0);
        // A block larger than all that may be kept is freed at once.
        let large = pool.take(10 * MEGABYTE).unwrap();
        pool.give(large);
        assert_eq!(pool.bytes(), 0);
        assert_eq!(device.used(), 6 * MEGABYTE);
        (&device).free(blocks[2].address);
    }

    #[test]
    fn what_is_kept_gives_way_where_memory_is_short() {
        let device = FakeDevice::new(16 * MEGABYTE);
        let pool = Pool::new(&device, 16 * MEGABYTE);
        let blocks = [4, 6].map(|megabytes| pool.take(megabytes * MEGABYTE).unwrap());
        blocks.into_iter().for_each(|block| pool.give(block));
        let large = pool.take(12 * MEGABYTE).unwrap();
        assert_eq!(pool.bytes(), 0);
        assert_eq!(device.used(), 12 * MEGABYTE);
        let error = pool.take(6 * MEGABYTE).unwrap_err();
        assert_eq!(error.to_string(), "memory is short");
        pool.give(large);
        assert_eq!(pool.take(12 * MEGABYTE).unwrap(), large);
        pool.give(large);
    }

    #[test]
    fn threads_get_blocks_of_their_own() {
        let device = FakeDevice::new(64 * MEGABYTE);
        let pool = Pool::new(&device, 64 * MEGABYTE);
        let owners: Mutex<HashMap<u64, usize>> = Mutex::default();
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let (pool, owners) = (&pool, &owners);
                scope.spawn(move || {
                    for round in 0..200 {
                        let block = pool.take(1000 * (round % 3 + 1)).unwrap();
                        assert_eq!(owners.lock().unwrap().insert(block.address, thread), None);
                        std::thread::yield_now();
                        assert_eq!(owners.lock().unwrap().remove(&block.address), Some(thread));
                        pool.give(block);
                    }
                });
            }
        });
        assert!(device.allocations() <= 24, "{}", device.allocations());
    }
}
