//! The functions behind the API, as the device half has them.

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
