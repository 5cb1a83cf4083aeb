//! Sample kernels that must compile both with the published `cuda_std` and with ours. `cargo check` in this crate
//! compiles them with the former, and `../../cuda_std/tests/upstream.rs` with the latter, where they are also run.

// The published macros test for the old target `nvptx`, and leave constants unused on other targets.
#![allow(unexpected_cfgs, dead_code)]

pub mod kernels;
