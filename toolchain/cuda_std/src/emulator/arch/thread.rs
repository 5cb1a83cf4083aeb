//! Indices, barriers and fences.

use crate::emulator::barrier::Kind;
use crate::emulator::current::{barrier, give_way, with};
use std::sync::atomic::{Ordering, fence};

macro_rules! indices {
    ($($x:ident, $y:ident, $z:ident = $get:expr;)*) => {$(
        #[inline]
        pub fn $x() -> u32 {
            with($get)[0]
        }

        #[inline]
        pub fn $y() -> u32 {
            with($get)[1]
        }

        #[inline]
        pub fn $z() -> u32 {
            with($get)[2]
        }
    )*};
}

indices! {
    thread_idx_x, thread_idx_y, thread_idx_z = |current| current.thread_idx.get();
    block_idx_x, block_idx_y, block_idx_z = |current| current.block_idx.get();
    block_dim_x, block_dim_y, block_dim_z = |current| current.launch.block;
    grid_dim_x, grid_dim_y, grid_dim_z = |current| current.launch.grid;
}

pub fn sync_threads() {
    barrier(Kind::Sync, 0);
}

pub fn sync_threads_count(predicate: u32) -> u32 {
    barrier(Kind::Count, predicate)
}

pub fn sync_threads_and(predicate: u32) -> u32 {
    barrier(Kind::And, predicate)
}

pub fn sync_threads_or(predicate: u32) -> u32 {
    barrier(Kind::Or, predicate)
}

pub fn grid_fence() {
    fence(Ordering::SeqCst);
}

pub fn device_fence() {
    fence(Ordering::SeqCst);
}

pub fn system_fence() {
    fence(Ordering::SeqCst);
}

pub fn nanosleep(_nanos: u32) {
    give_way();
}
