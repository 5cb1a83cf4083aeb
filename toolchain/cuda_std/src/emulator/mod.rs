//! The SIMT emulator: runs a grid of kernel threads on the CPU and checks how they share memory.
//!
//! ```
//! use cuda_std::emulator::{Launch, run};
//! use cuda_std::prelude::*;
//!
//! #[kernel]
//! pub unsafe fn double(values: DeviceSliceMut<u32>) {
//!     let i = thread::index_1d() as usize;
//!     // SAFETY: the launch below has a thread for each value.
//!     unsafe { values.set(i, 2 * values.get(i)) }
//! }
//!
//! let mut values = [1, 2, 3, 4];
//! // SAFETY: the array outlives the launch, which alone uses it.
//! let slice = unsafe { DeviceSliceMut::new(values.as_mut_ptr(), 4) };
//! // SAFETY: four threads, four values.
//! run("double", &Launch::default().grid(2).block(2), || unsafe { double(slice) }).unwrap();
//! assert_eq!(values, [2, 4, 6, 8]);
//! ```
//!
//! The threads of a block are coroutines on one thread of the CPU; blocks run in parallel. A thread runs without
//! interruption until it waits for other threads. Which thread runs next is drawn at random from the launch's seed. A
//! kernel whose result depends on the order of threads therefore gives different results for different seeds.
//!
//! [`FaultKind`] lists the faults that are reported. Two accesses to shared memory are ordered if there is a block
//! barrier between them, or a `sync_warp` in which both threads took part (directly, or through a chain of them).
//! Shuffles, votes and matches do not order memory on the device. Fences and atomics do on the device, but not in the
//! emulator: it reports a kernel that passes data from thread to thread through a flag.

pub(crate) mod arch;
mod barrier;
mod block;
mod clocks;
mod current;
mod fault;
mod grid;
mod launch;
mod memory;
mod shadow;
mod state;
mod texture;
mod warp;

#[doc(hidden)]
pub use current::static_shared;
pub(crate) use current::{check_device_index, check_dynamic_shared, check_shared_index};
pub use fault::{Access, Fault, FaultKind, WarpProblem};
pub use grid::run;
pub use launch::Launch;
pub use texture::{Border, Filter, RegisteredTexture, Texture3d, register_texture};
