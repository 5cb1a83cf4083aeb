//! Tests of the emulator: correct kernels pass, each kind of fault is reported at its thread, and the seed changes the
//! order of threads.

mod correct;
mod faults;
mod order;
mod textures;
