//! Sums for a tile of slots over the chunks of the other set; the code that the sums over A and those over B share.
//!
//! A thread block of [`BLOCK`] threads has a tile of 32 `R` slots, `R` per lane, and goes through the segments of the
//! other set. In a segment, each warp takes a chunk, for the whole tile. Then the sums of the chunks are added one
//! after the other.

use super::BLOCK;
use crate::kernels::{WARP, thread_number};
use crate::math::pair_distance::PairDistance;
use crate::math::viola::{CHUNKS_PER_SEGMENT, SAMPLES_PER_CHUNK, Scaled, Weights};
use cuda_std::global::{DeviceSlice, DeviceSliceMut};
use cuda_std::shared::{self, SharedSlice};
use cuda_std::thread::sync_threads;
use cuda_std::warp;

/// Slots of a segment.
pub const SLOTS_PER_SEGMENT: u32 = (CHUNKS_PER_SEGMENT * SAMPLES_PER_CHUNK) as u32;

/// Returns the bytes of dynamic shared memory for tiles of `samples` slots per lane and `sums` sums per slot and chunk.
pub const fn shared_bytes(samples: u32, sums: u32) -> u32 {
    16 * SLOTS_PER_SEGMENT + 4 * CHUNKS_PER_SEGMENT as u32 * sums * WARP * samples
}

/// The dynamic shared memory of a thread block.
#[derive(Clone, Copy)]
pub(super) struct TileMemory {
    /// A segment's intensities, then their weights.
    segment: SharedSlice<u64>,
    /// The sums of each chunk, one kind after the other, for the slots of the tile.
    sums: SharedSlice<f32>,
}

/// Packs two numbers in one word.
#[inline(always)]
fn pack([low, high]: [f32; 2]) -> u64 {
    u64::from(low.to_bits()) | u64::from(high.to_bits()) << 32
}

#[inline(always)]
fn unpack(word: u64) -> [f32; 2] {
    [f32::from_bits(word as u32), f32::from_bits((word >> 32) as u32)]
}

impl TileMemory {
    /// # Safety
    /// The launch gave [`shared_bytes`].
    #[inline(always)]
    pub(super) unsafe fn new(samples: u32, sums: u32) -> Self {
        // SAFETY: by this function's contract.
        unsafe {
            Self {
                segment: shared::dynamic(0, 2 * SLOTS_PER_SEGMENT),
                sums: shared::dynamic(16 * SLOTS_PER_SEGMENT, CHUNKS_PER_SEGMENT as u32 * sums * WARP * samples),
            }
        }
    }

    /// Loads the segment from slot `first` on, with its weights if given.
    ///
    /// # Safety All threads of the block call it; the slices have [`SLOTS_PER_SEGMENT`] slots from `first` on, which no
    /// thread writes meanwhile.
    #[inline(always)]
    pub(super) unsafe fn load(self, scaled: DeviceSlice<[f32; 2]>, weights: Option<DeviceSlice<[f32; 2]>>, first: u32) {
        sync_threads();
        let mut at = thread_number();
        while at < SLOTS_PER_SEGMENT {
            // SAFETY: `at` is below `SLOTS_PER_SEGMENT`, and its words are this thread's between the barriers; the
            // caller says that there are such slots.
            unsafe {
                self.segment.store(at, pack(scaled.get((first + at) as usize)));
                if let Some(weights) = weights {
                    self.segment.store(at + SLOTS_PER_SEGMENT, pack(weights.get((first + at) as usize)));
                }
            }
            at += BLOCK;
        }
        sync_threads();
    }

    /// Slot `k` of the segment.
    ///
    /// # Safety
    /// `k` is below [`SLOTS_PER_SEGMENT`], and a segment has been loaded.
    #[inline(always)]
    pub(super) unsafe fn slot(self, k: u32) -> Scaled {
        // SAFETY: the caller says that it has been loaded.
        let [u, v] = unpack(unsafe { self.segment.load(k) });
        Scaled { u, v }
    }

    /// The weights of slot `k`.
    ///
    /// # Safety
    /// As [`slot`](Self::slot), of a segment with weights.
    #[inline(always)]
    pub(super) unsafe fn weights(self, k: u32) -> Weights {
        // SAFETY: the caller says that it has been loaded.
        let [v, joint] = unpack(unsafe { self.segment.load(k + SLOTS_PER_SEGMENT) });
        Weights { v, joint }
    }

    /// Compares the fixed intensities of the chunk from slot `first` on with those of a tile, whose least and greatest
    /// are `tile`.
    ///
    /// # Safety
    /// Whole warps call it, for a chunk of a loaded segment.
    #[inline(always)]
    pub(super) unsafe fn distance(self, first: u32, tile: [f32; 2], far: f32) -> PairDistance {
        let at = first + warp::lane_id();
        // SAFETY: a chunk is 64 slots, two per lane; the caller says that whole warps come here.
        unsafe { PairDistance::of(tile, warp_range(self.slot(at).u, self.slot(at + WARP).u), far) }
    }

    /// Calls `each` for every slot of the chunk from slot `first` on, unrolled by four, with the slot's number and its
    /// turn, 0 to 3.
    #[inline(always)]
    pub(super) fn each(first: u32, mut each: impl FnMut(u32, u32)) {
        const _: () = assert!(SAMPLES_PER_CHUNK.is_multiple_of(4));
        let mut k = first;
        while k < first + SAMPLES_PER_CHUNK as u32 {
            // This is written out so that the turn is a constant.
            each(k, 0);
            each(k + 1, 1);
            each(k + 2, 2);
            each(k + 3, 3);
            k += 4;
        }
    }

    /// Stores a sum at index `number` of the sums of all chunks.
    ///
    /// # Safety
    /// The index is in bounds, and no other thread uses it before [`add_chunks`](Self::add_chunks).
    #[inline(always)]
    pub(super) unsafe fn set(self, number: u32, sum: f32) {
        // SAFETY: the caller says that there is this sum.
        unsafe { self.sums.store(number, sum) };
    }

    /// Adds up the sums of the segment's chunks and adds the results to `all`. This thread is responsible for every
    /// [`BLOCK`]-th of the `count` sums of a chunk.
    ///
    /// # Safety
    /// All threads of the block call it, after every chunk's `count` sums were set.
    #[inline(always)]
    pub(super) unsafe fn add_chunks<const N: usize>(self, all: &mut [f64; N], count: u32) {
        sync_threads();
        for n in 0..N {
            let at = thread_number() + n as u32 * BLOCK;
            if at < count {
                let mut sum = 0.0;
                for chunk in 0..CHUNKS_PER_SEGMENT as u32 {
                    // SAFETY: `at` is below `count`, of which each chunk has as many; they were set before the barrier.
                    sum += f64::from(unsafe { self.sums.load(chunk * count + at) });
                }
                all[n] += sum;
            }
        }
    }
}

/// Returns the least and the greatest fixed intensity of the samples of a warp, which are those of the tile.
///
/// # Safety
/// Whole warps call it.
#[inline(always)]
pub(super) unsafe fn fixed_range<const R: usize>(samples: &[Scaled; R]) -> [f32; 2] {
    let (mut low, mut high) = (samples[0].u, samples[0].u);
    for r in 1..R {
        low = if samples[r].u < low { samples[r].u } else { low };
        high = if samples[r].u > high { samples[r].u } else { high };
    }
    // SAFETY: the caller says that whole warps come here.
    unsafe { warp_range(low, high) }
}

/// Returns the least and the greatest of two numbers per lane over a warp. No number is negative, so that their bits
/// compare like integers.
///
/// # Safety
/// Whole warps call it.
#[inline(always)]
unsafe fn warp_range(one: f32, other: f32) -> [f32; 2] {
    let (low, high) = if one < other { (one, other) } else { (other, one) };
    let (low, high) = (low.to_bits(), high.to_bits());
    // SAFETY: the caller says that whole warps come here.
    unsafe { [warp::reduce_min(warp::ALL, low), warp::reduce_max(warp::ALL, high)].map(f32::from_bits) }
}

/// Writes what [`TileMemory::add_chunks`] added up: sum c of slot i of the tile, of `width` slots, to index `first + c
/// * stride + i`.
///
/// # Safety
/// `out` has these numbers, and no other block writes them.
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
            // SAFETY: `at` is below `count`; the caller says that there are these numbers.
            unsafe { out.set((first + at / width * stride + at % width) as usize, all[n]) };
        }
    }
}
