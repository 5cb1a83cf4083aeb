//! Warp operations.

use crate::emulator::current::{warp_call, with};
use crate::emulator::warp::{Call, Operation};

pub fn lane_id() -> u32 {
    with(|current| u32::from(current.thread.get() % 32))
}

/// Returns the caller's lane alone, which a device may return as well.
pub fn active_mask() -> u32 {
    1 << lane_id()
}

pub unsafe fn sync_warp(mask: u32) {
    warp_call(Call { operation: Operation::Sync, mask, value: 0, operand: 0 });
}

pub unsafe fn ballot(mask: u32, predicate: bool) -> u32 {
    warp_call(Call { operation: Operation::Ballot, mask, value: predicate.into(), operand: 0 })
}

pub unsafe fn any(mask: u32, predicate: bool) -> bool {
    warp_call(Call { operation: Operation::Any, mask, value: predicate.into(), operand: 0 }) != 0
}

pub unsafe fn all(mask: u32, predicate: bool) -> bool {
    warp_call(Call { operation: Operation::All, mask, value: predicate.into(), operand: 0 }) != 0
}

pub unsafe fn match_any(mask: u32, value: u32) -> u32 {
    warp_call(Call { operation: Operation::MatchAny, mask, value, operand: 0 })
}

pub unsafe fn shuffle_idx(mask: u32, value: u32, lane: u32) -> u32 {
    warp_call(Call { operation: Operation::ShuffleIdx, mask, value, operand: lane })
}

pub unsafe fn shuffle_up(mask: u32, value: u32, delta: u32) -> u32 {
    warp_call(Call { operation: Operation::ShuffleUp, mask, value, operand: delta })
}

pub unsafe fn shuffle_down(mask: u32, value: u32, delta: u32) -> u32 {
    warp_call(Call { operation: Operation::ShuffleDown, mask, value, operand: delta })
}

pub unsafe fn shuffle_xor(mask: u32, value: u32, lanes: u32) -> u32 {
    warp_call(Call { operation: Operation::ShuffleXor, mask, value, operand: lanes })
}
