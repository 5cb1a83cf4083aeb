//! Sizes of shared memory.

use crate::emulator::current::with;

pub fn dynamic_smem_size() -> u32 {
    with(|current| current.launch.shared_bytes)
}

pub fn total_smem_size() -> u32 {
    with(|current| current.state.borrow().memory.used())
}
