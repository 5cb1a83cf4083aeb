//! The system's allocator, which notes what each thread asks for.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// What a thread asked for while something ran.
#[derive(Clone, Copy, Default)]
pub struct Asked {
    /// Bytes of the largest allocation.
    pub largest: usize,
    /// The most bytes that were allocated at a time, beyond those from before.
    pub peak: usize,
}

thread_local! {
    /// Since it was last reset.
    static ASKED: Cell<Asked> = const { Cell::new(Asked { largest: 0, peak: 0 }) };
    /// Bytes allocated since then and not given back.
    static HELD: Cell<isize> = const { Cell::new(0) };
}

/// Refuses more than `MOST` bytes at once.
pub struct Noting<const MOST: usize>;

/// What `run` returns, and what this thread asked for meanwhile.
pub fn noted<T>(run: impl FnOnce() -> T) -> (T, Asked) {
    ASKED.set(Asked::default());
    HELD.set(0);
    let returned = run();
    (returned, ASKED.get())
}

/// Notes that `bytes` take the place of `freed`.
fn note(bytes: usize, freed: usize) {
    // A thread that ends has no counts any more.
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
