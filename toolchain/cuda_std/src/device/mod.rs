//! The device half: PTX instructions behind the API, as inline assembly or as LLVM's NVPTX intrinsics.
//!
//! Whatever threads do together (barriers, shuffles, votes) must be an intrinsic: those are `convergent`, which keeps LLVM
//! from duplicating or sinking them into divergent branches; inline assembly is not.

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
