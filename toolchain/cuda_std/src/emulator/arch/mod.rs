//! The implementation of the API in the emulator, with the same functions as that on the device.

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
