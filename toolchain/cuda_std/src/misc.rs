//! Breakpoints, profiler counters and the clock.

use crate::arch::misc as arch;

/// Suspends the kernel in a debugger. PTX: `brkpt`. Any thread.
#[inline(always)]
pub fn breakpoint() {
    arch::breakpoint();
}

/// Adds one per warp to the profiler's counter `counter`, 0 to 7; a larger number is taken modulo 8.
/// PTX: `pmevent`. Any thread.
#[inline(always)]
pub fn profiler_counter(counter: u32) {
    arch::profiler_counter(counter);
}

/// Clock cycles of the multiprocessor. PTX: `mov.u64 %clock64`. Any thread.
#[inline(always)]
pub fn clock() -> u64 {
    arch::clock()
}
