//! A tile of slots against the chunks of a set: what sums over A and sums over B have in common.
//!
//! A block of [`BLOCK`] threads holds a tile of 32 `R` slots, `R` a lane, and goes through segments of the other set: each warp takes a
//! chunk, and then the chunks' sums are added one after the other.

use super::BLOCK;
use crate::kernels::thread_number;
use crate::math::apart::Apart;
use crate::math::viola::{CHUNK, SEGMENT, Scaled, Weights};
use cuda_std::global::{DeviceSlice, DeviceSliceMut};
use cuda_std::shared::{self, SharedSlice};
use cuda_std::thread::sync_threads;
use cuda_std::warp;

/// Slots of a segment.
pub const SLOTS: u32 = (SEGMENT * CHUNK) as u32;

/// Bytes of dynamic shared memory for tiles of `samples` a lane against chunks that leave `sums` a slot.
pub const fn shared_bytes(samples: u32, sums: u32) -> u32 {
    16 * SLOTS + 4 * SEGMENT as u32 * sums * 32 * samples
}

/// The shared memory of a block.
#[derive(Clone, Copy)]
pub(super) struct Space {
    /// A segment's intensities, then their weights.
    segment: SharedSlice<u64>,
    /// Each chunk's sums, one kind of them after the other, for the slots of the tile.
    sums: SharedSlice<f32>,
}

/// Two numbers in one word.
#[inline(always)]
fn word([low, high]: [f32; 2]) -> u64 {
    u64::from(low.to_bits()) | u64::from(high.to_bits()) << 32
}

#[inline(always)]
fn halves(word: u64) -> [f32; 2] {
    [f32::from_bits(word as u32), f32::from_bits((word >> 32) as u32)]
}

impl Space {
    /// # Safety
    /// The launch gave [`shared_bytes`].
    #[inline(always)]
    pub(super) unsafe fn new(samples: u32, sums: u32) -> Self {
        // SAFETY: as this function's.
        unsafe {
            Self {
                segment: shared::dynamic(0, 2 * SLOTS),
                sums: shared::dynamic(16 * SLOTS, SEGMENT as u32 * sums * 32 * samples),
            }
        }
    }

    /// Brings the segment from slot `first` on; with weights, where there are some.
    #[inline(always)]
    pub(super) unsafe fn load(self, scaled: DeviceSlice<[f32; 2]>, weights: Option<DeviceSlice<[f32; 2]>>, first: u32) {
        sync_threads();
        let mut at = thread_number();
        while at < SLOTS {
            unsafe {
                self.segment.store(at, word(scaled.get((first + at) as usize)));
                if let Some(weights) = weights {
                    self.segment.store(at + SLOTS, word(weights.get((first + at) as usize)));
                }
            }
            at += BLOCK;
        }
        sync_threads();
    }

    /// Slot `k` of the segment.
    #[inline(always)]
    pub(super) unsafe fn slot(self, k: u32) -> Scaled {
        let [u, v] = halves(unsafe { self.segment.load(k) });
        Scaled { u, v }
    }

    /// The weights of slot `k`.
    #[inline(always)]
    pub(super) unsafe fn weights(self, k: u32) -> Weights {
        let [v, joint] = halves(unsafe { self.segment.load(k + SLOTS) });
        Weights { v, joint }
    }

    /// How far the chunk from slot `first` on lies from samples whose fixed intensities have these ends.
    #[inline(always)]
    pub(super) unsafe fn apart(self, first: u32, tile: [f32; 2], far: f32) -> Apart {
        let at = first + warp::lane_id();
        unsafe { Apart::of(tile, ends(self.slot(at).u, self.slot(at + 32).u), far) }
    }

    /// Calls `each` for every slot of the chunk from slot `first` on, four in a row, with its number and its turn among the four.
    #[inline(always)]
    pub(super) fn each(first: u32, mut each: impl FnMut(u32, u32)) {
        const _: () = assert!(CHUNK.is_multiple_of(4));
        let mut k = first;
        while k < first + CHUNK as u32 {
            // Written out: a loop would stay one, with the turn to be looked at.
            each(k, 0);
            each(k + 1, 1);
            each(k + 2, 2);
            each(k + 3, 3);
            k += 4;
        }
    }

    /// Notes a chunk's sum, the one with this number among the chunk's.
    #[inline(always)]
    pub(super) unsafe fn set(self, number: u32, sum: f32) {
        unsafe { self.sums.store(number, sum) };
    }

    /// Adds the segment's chunks up and onto `all`, which holds every [`BLOCK`]-th of the `count` sums of a chunk.
    #[inline(always)]
    pub(super) unsafe fn add_chunks<const N: usize>(self, all: &mut [f64; N], count: u32) {
        sync_threads();
        for n in 0..N {
            let at = thread_number() + n as u32 * BLOCK;
            if at < count {
                let mut sum = 0.0;
                for chunk in 0..SEGMENT as u32 {
                    sum += f64::from(unsafe { self.sums.load(chunk * count + at) });
                }
                all[n] += sum;
            }
        }
    }
}

/// The least of one number and the greatest of another over a warp; neither is negative, so that as bits they compare like integers.
#[inline(always)]
pub(super) unsafe fn ends(one: f32, other: f32) -> [f32; 2] {
    let (low, high) = if one < other { (one, other) } else { (other, one) };
    let (low, high) = (low.to_bits(), high.to_bits());
    unsafe { [warp::reduce_min(warp::ALL, low), warp::reduce_max(warp::ALL, high)].map(f32::from_bits) }
}

/// Writes what was added up: sum c of slot i of the tile, of `width` slots, to `first + c * stride + i`.
#[inline(always)]
pub(super) unsafe fn write<const N: usize>(
    all: &[f64; N],
    count: u32,
    width: u32,
    out: DeviceSliceMut<f64>,
    first: u32,
    stride: u32,
) {
    for n in 0..N {
        let at = thread_number() + n as u32 * BLOCK;
        if at < count {
            unsafe { out.set((first + at / width * stride + at % width) as usize, all[n]) };
        }
    }
}
