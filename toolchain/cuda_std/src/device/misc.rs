//! Debugging and clocks.

use core::arch::asm;

#[inline(always)]
pub fn breakpoint() {
    // SAFETY: only stops in a debugger.
    unsafe { asm!("brkpt;", options(nostack)) }
}

#[inline(always)]
pub fn profiler_counter(counter: u32) {
    // `pmevent` takes an immediate.
    macro_rules! event {
        ($($number:literal)*) => {
            match counter & 7 {
                // SAFETY: only counts.
                $($number => unsafe { asm!(concat!("pmevent ", $number, ";"), options(nomem, nostack)) },)*
                _ => {}
            }
        };
    }
    event!(0 1 2 3 4 5 6 7);
}

#[inline(always)]
pub fn clock() -> u64 {
    let clock;
    // SAFETY: reads a special register.
    unsafe { asm!("mov.u64 {}, %clock64;", out(reg64) clock, options(nomem, nostack, preserves_flags)) }
    clock
}
