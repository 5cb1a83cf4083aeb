//! Sample kernels that must compile with the published `cuda_std` as they do with ours: `cargo check` here does the one,
//! `../../cuda_std/tests/upstream.rs` the other, and runs them.

// Its macros test for the old target `nvptx`, and leave constants unused where the target is another.
#![allow(unexpected_cfgs, dead_code)]

pub mod kernels;
