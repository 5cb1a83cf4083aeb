//! The emulator: correct kernels pass, each kind of fault is reported where it is, and the seed changes the order.

mod correct;
mod faults;
mod order;
mod textures;
