//! A wrapper of the system's allocator that records what each thread requests.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// What a thread has requested.
#[derive(Clone, Copy, Default)]
pub struct Asked {
    /// Bytes of the largest allocation.
    pub largest: usize,
    /// The largest number of bytes that were allocated at the same time, beyond those at the start.
    pub peak: usize,
}

thread_local! {
    /// What was requested since the last reset.
    static ASKED: Cell<Asked> = const { Cell::new(Asked { largest: 0, peak: 0 }) };
    /// Bytes allocated and not freed since then.
    static HELD: Cell<isize> = const { Cell::new(0) };
}

/// Refuses more than `MOST` bytes at once.
pub struct Noting<const MOST: usize>;

/// Returns what `run` returns, and what this thread requested in the meantime.
pub fn noted<T>(run: impl FnOnce() -> T) -> (T, Asked) {
    ASKED.set(Asked::default());
    HELD.set(0);
    let returned = run();
    (returned, ASKED.get())
}

/// Records that `bytes` were allocated in place of `freed` bytes.
fn note(bytes: usize, freed: usize) {
    // While a thread ends, its counts may already have been dropped.
    let _ = HELD.try_with(|held| {
        held.set(held.get() + bytes as isize - freed as isize);
        let _ = ASKED.try_with(|asked| {
            let Asked { largest, peak } = asked.get();
            asked.set(Asked { largest: largest.max(bytes), peak: peak.max(held.get().max(0) as usize) });
        });
    });
}

// SAFETY: everything is passed on to the system's allocator, or refused, as an allocator may.
unsafe impl<const MOST: usize> GlobalAlloc for Noting<MOST> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size(), 0);
        if layout.size() > MOST {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller keeps the contract of `GlobalAlloc`, which `System` has as well.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(layout.size(), 0);
        if layout.size() > MOST {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller keeps the contract of `GlobalAlloc`, which `System` has as well.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note(size, layout.size());
        if size > MOST {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller keeps the contract of `GlobalAlloc`, which `System` has as well.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        note(0, layout.size());
        // SAFETY: the caller keeps the contract of `GlobalAlloc`, which `System` has as well.
        unsafe { System.dealloc(pointer, layout) }
    }
}
