//! Indices out of bounds, and reads of unwritten memory.

use super::{fault_of, faulty, thread_and_kind};
use cuda_std::emulator::{Access, FaultKind};
use cuda_std::prelude::*;

#[kernel]
unsafe fn reaches_too_far_in_shared_memory() {
    let words = shared_slice![u32; 64];
    let me = thread::thread_idx_x();
    // SAFETY: the emulator stops the kernel at its fault.
    unsafe { words.store(if faulty() && me == 63 { 64 } else { me }, me) }
}

#[test]
fn a_shared_index_out_of_bounds() {
    // SAFETY: the emulator stops the kernel at its fault.
    let fault = fault_of(|| unsafe { reaches_too_far_in_shared_memory() });
    assert_eq!(thread_and_kind(&fault), (63, &FaultKind::SharedOutOfBounds { index: 64, len: 64 }));
}

#[kernel]
unsafe fn reads_unwritten(access: Access) {
    let words = shared_slice![u64; 64];
    let me = thread::thread_idx_x();
    // SAFETY: the emulator stops the kernel at its fault.
    unsafe {
        if !(faulty() && me == 12) {
            words.store(me, 0);
        }
        thread::sync_threads();
        match access {
            Access::Atomic => words.add(me, 1),
            _ => _ = words.load(me),
        }
    }
}

#[test]
fn a_read_of_unwritten_shared_memory() {
    for access in [Access::Read, Access::Atomic] {
        // SAFETY: the emulator stops the kernel at its fault.
        let fault = fault_of(|| unsafe { reads_unwritten(access) });
        let expected = FaultKind::SharedUnwritten { address: 64 + 12 * 8, access };
        assert_eq!(thread_and_kind(&fault), (12, &expected));
    }
}

#[kernel]
unsafe fn reaches_too_far_in_device_memory(values: DeviceSliceMut<f32>) {
    let i = thread::index_1d() as usize;
    // SAFETY: the emulator stops the kernel at its fault.
    unsafe { values.set(if faulty() && thread::thread_idx_x() == 1 { 10_000 } else { i }, 1.0) }
}

#[test]
fn a_device_index_out_of_bounds() {
    let mut values = vec![0.0; 576];
    // SAFETY: the memory outlives the launch, which alone uses it.
    let slice = unsafe { DeviceSliceMut::new(values.as_mut_ptr(), 576) };
    // SAFETY: the emulator stops the kernel at its fault.
    let fault = fault_of(|| unsafe { reaches_too_far_in_device_memory(slice) });
    assert_eq!(thread_and_kind(&fault), (1, &FaultKind::DeviceOutOfBounds { index: 10_000, len: 576 }));
}
