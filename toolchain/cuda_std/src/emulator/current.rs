//! Gives the functions of the API access to the kernel thread that runs on the present thread of the CPU.

use super::barrier::Kind;
use super::fault::{Access, FaultKind};
use super::launch::Launch;
use super::state::State;
use super::warp::Call;
use corosensei::Yielder;
use std::cell::{Cell, RefCell};
use std::ptr;
use std::sync::atomic::AtomicU32;

/// The state of a worker, to which the functions of the API have access.
pub struct Current {
    pub launch: Launch,
    pub block_idx: Cell<[u32; 3]>,
    pub thread_idx: Cell<[u32; 3]>,
    pub thread: Cell<u16>,
    pub state: RefCell<State>,
    /// For each thread of the block that has begun, the means to suspend its coroutine.
    pub yielders: Vec<Cell<*const Yielder<(), ()>>>,
}

thread_local! {
    static CURRENT: Cell<*const Current> = const { Cell::new(ptr::null()) };
}

/// A guard: while it lives, a [`Current`] is that of this thread of the CPU.
pub struct Installed;

impl Installed {
    /// # Safety
    /// `current` must outlive the value returned.
    pub unsafe fn new(current: &Current) -> Self {
        CURRENT.set(current);
        Self
    }
}

impl Drop for Installed {
    fn drop(&mut self) {
        CURRENT.set(ptr::null());
    }
}

impl Current {
    /// Goes back to the scheduler, until it resumes this thread.
    fn suspend(&self) {
        let yielder = self.yielders[usize::from(self.thread.get())].get();
        // SAFETY: this runs in the coroutine of the current thread, which put its yielder there when it began.
        unsafe { (*yielder).suspend(()) }
    }

    fn result(&self) -> u32 {
        self.state.borrow().results[usize::from(self.thread.get())]
    }
}

/// Calls `use_it` with the current kernel thread.
#[inline]
pub fn with<R>(use_it: impl FnOnce(&Current) -> R) -> R {
    // SAFETY: `Installed` keeps the pointer null or valid.
    match unsafe { CURRENT.get().as_ref() } {
        Some(current) => use_it(current),
        None => outside(),
    }
}

#[cold]
fn outside() -> ! {
    panic!("a function of cuda_std's thread, warp or shared was called on the CPU outside of emulator::run");
}

/// Ends the launch with a fault of the current thread; panics outside of a launch.
#[cold]
pub fn fail(kind: FaultKind) -> ! {
    assert!(!CURRENT.get().is_null(), "{kind}");
    with(|current| {
        current.state.borrow_mut().fault = Some((current.thread.get(), kind));
        loop {
            current.suspend();
        }
    })
}

fn check<T>(result: Result<T, FaultKind>) -> T {
    result.unwrap_or_else(|kind| fail(kind))
}

/// Waits, as the current thread, at the barrier of its block.
pub fn barrier(kind: Kind, predicate: u32) -> u32 {
    with(|current| {
        let arrived = current.state.borrow_mut().arrive(kind, predicate);
        check(arrived);
        current.suspend();
        current.result()
    })
}

/// Waits, as the current thread, for the other lanes of a warp operation.
pub fn warp_call(call: Call) -> u32 {
    with(|current| {
        let called = current.state.borrow_mut().call(current.thread.get(), call);
        check(called);
        current.suspend();
        current.result()
    })
}

/// Lets other threads run before the current one continues.
pub fn give_way() {
    with(|current| {
        current.state.borrow_mut().give_way(current.thread.get());
        current.suspend();
    });
}

/// Checks an access by the current thread, and returns a pointer to the memory.
#[inline]
pub fn shared_access(address: u32, bytes: usize, access: Access) -> *mut u8 {
    with(|current| {
        let pointer = current.state.borrow_mut().access(current.thread.get(), address, bytes as u32, access);
        check(pointer)
    })
}

/// Returns the address of the static allocation of a call site.
#[doc(hidden)]
pub fn static_shared(site: &'static AtomicU32, bytes: usize) -> u32 {
    let address = with(|current| current.state.borrow_mut().allocate(ptr::from_ref(site).addr(), bytes));
    address.unwrap_or_else(|| fail(FaultKind::Misuse("needs more than 48 KiB of static shared memory".into())))
}

/// Stops the kernel if a shared slice of `len` elements has no element `index`.
#[inline]
pub fn check_shared_index(index: u32, len: u32) {
    if index >= len {
        fail(FaultKind::SharedOutOfBounds { index, len });
    }
}

/// Stops the kernel if a device slice of `len` elements has no element `index`.
#[inline]
pub fn check_device_index(index: usize, len: usize) {
    if index >= len {
        fail(FaultKind::DeviceOutOfBounds { index, len });
    }
}

/// Stops the kernel unless dynamic shared memory has `len` elements of `size` bytes at `byte_offset`.
pub fn check_dynamic_shared(byte_offset: u32, len: u32, size: usize) {
    let has = with(|current| current.launch.shared_bytes);
    let needs = u64::from(byte_offset) + u64::from(len) * size as u64;
    if needs > u64::from(has) {
        fail(FaultKind::Misuse(format!("needs {needs} bytes of dynamic shared memory; the launch has {has}")));
    }
    if !(byte_offset as usize).is_multiple_of(size) {
        fail(FaultKind::Misuse(format!("dynamic shared elements of {size} bytes at unaligned offset {byte_offset}")));
    }
}
