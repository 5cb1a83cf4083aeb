//! The shared memory of a block: dynamic memory first, then static allocations in the order of their first use.

use std::cell::UnsafeCell;

/// The limit of static shared memory of a kernel, in bytes, on any device.
const STATIC_LIMIT: u32 = 48 << 10;

/// The content of unwritten memory. It is not 0, so that a read through a raw pointer does not seem initialised.
const GARBAGE: u128 = 0xa5a5_a5a5_a5a5_a5a5_a5a5_a5a5_a5a5_a5a5;

pub struct Memory {
    /// The memory. It is accessed through raw pointers only, because kernels keep pointers into it.
    blocks: Box<[UnsafeCell<u128>]>,
    dynamic: u32,
    /// Call site and address of each static allocation.
    statics: Vec<(usize, u32)>,
    end: u32,
    /// Whether a raw pointer to dynamic memory has been returned. Writes through it are not observed.
    pub raw_dynamic: bool,
}

impl Memory {
    /// Creates memory with `dynamic` bytes of dynamic memory.
    pub fn new(dynamic: u32) -> Self {
        let bytes = dynamic.next_multiple_of(16) + STATIC_LIMIT;
        let blocks = (0..bytes / 16).map(|_| UnsafeCell::new(GARBAGE)).collect();
        Self { blocks, dynamic, statics: Vec::new(), end: dynamic.next_multiple_of(16), raw_dynamic: false }
    }

    pub fn bytes(&self) -> usize {
        16 * self.blocks.len()
    }

    pub fn dynamic(&self) -> u32 {
        self.dynamic
    }

    /// Returns the bytes of dynamic memory and static allocations.
    pub fn used(&self) -> u32 {
        self.end
    }

    pub fn begin_block(&mut self) {
        for block in &mut self.blocks {
            *block.get_mut() = GARBAGE;
        }
        self.statics.clear();
        self.end = self.dynamic.next_multiple_of(16);
        self.raw_dynamic = false;
    }

    /// Returns the address of the allocation of `bytes` for the call site `site`, or `None` if memory is exhausted.
    pub fn allocate(&mut self, site: usize, bytes: usize) -> Option<u32> {
        if let Some((_, address)) = self.statics.iter().find(|(known, _)| *known == site) {
            return Some(*address);
        }
        let address = self.end;
        let end = (address as usize).checked_add(bytes)?.checked_next_multiple_of(16)?;
        if end > self.bytes() {
            return None;
        }
        self.end = end as u32;
        self.statics.push((site, address));
        Some(address)
    }

    /// Returns a pointer to `address`.
    #[inline]
    pub fn pointer(&self, address: u32) -> *mut u8 {
        self.blocks.as_ptr().cast::<u8>().cast_mut().wrapping_add(address as usize)
    }
}
