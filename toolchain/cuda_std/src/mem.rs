//! The amount of shared memory with which the kernel was launched.

use crate::arch::mem as arch;

/// Bytes of dynamic shared memory of the block. PTX: `mov.u32 %dynamic_smem_size`. Any thread.
#[inline(always)]
pub fn dynamic_smem_size() -> u32 {
    arch::dynamic_smem_size()
}

/// Bytes of static and dynamic shared memory of the block, rounded up to the device's unit of allocation.
/// PTX: `mov.u32 %total_smem_size`. Any thread.
#[inline(always)]
pub fn total_smem_size() -> u32 {
    arch::total_smem_size()
}
