//! The implementation of the API on the device: PTX instructions, as inline assembly or as LLVM's NVPTX intrinsics.
//!
//! Operations that threads do together (barriers, shuffles, votes) must be intrinsics. Intrinsics are `convergent`,
//! which keeps LLVM from duplicating or sinking them into divergent branches. Inline assembly is not.

pub mod atomic;
pub mod bits;
pub mod float;
pub mod global;
pub mod mem;
pub mod misc;
pub mod shared;
pub mod texture;
pub mod thread;
pub mod warp;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    // SAFETY: traps, which ends the kernel with an error that the host sees.
    unsafe { core::arch::nvptx::trap() }
}
