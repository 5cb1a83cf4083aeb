//! Large copies between the host and the device. The driver copies pageable memory by one thread. Here, all threads
//! copy to or from page-locked pieces, and one piece is transferred while the threads copy another.

use super::driver::{HostAllocator, check};
use super::memory::Lease;
use super::pool::Pool;
use crate::Result;
use cust::event::{Event, EventFlags};
use cust::stream::Stream;
use cust::sys;
use rayon::prelude::*;
use std::mem::MaybeUninit;
use std::sync::Arc;

/// Bytes of a piece, and of the part of it that a thread copies at once.
const PIECE: usize = 4 << 20;
const PART: usize = 1 << 18;

/// Two page-locked pieces of memory, used in turn.
pub struct Pieces<'a> {
    lease: Lease<'a, HostAllocator>,
    stream: &'a Stream,
    /// For each piece, the event that its last queued copy is done.
    done: [Event; 2],
}

impl<'a> Pieces<'a> {
    /// Whether copying this many bytes by pieces is worthwhile.
    pub fn is_worthwhile(bytes: usize) -> bool {
        bytes > PIECE
    }

    pub fn new(pool: &'a Pool<HostAllocator>, stream: &'a Arc<Stream>) -> Result<Self> {
        let event = || Event::new(EventFlags::DISABLE_TIMING);
        Ok(Self { lease: Lease::new(pool, stream, 2 * PIECE)?, stream, done: [event()?, event()?] })
    }

    /// Copies bytes to the device, and waits until they are there.
    ///
    /// # Safety
    /// The device memory at `address` must have room for all bytes of `host`.
    pub unsafe fn upload(&mut self, host: &[u8], address: u64) -> Result<()> {
        for (number, bytes) in host.chunks(PIECE).enumerate() {
            self.done[number % 2].synchronize()?;
            let piece = &mut self.piece(number)[..bytes.len()];
            piece.par_chunks_mut(PART).zip(bytes.par_chunks(PART)).for_each(|(to, from)| {
                to.write_copy_of_slice(from);
            });
            let (piece, to) = (piece.as_ptr(), address + (number * PIECE) as u64);
            // SAFETY: the piece is not written again before its event. The caller guarantees the address.
            check(unsafe { sys::cuMemcpyHtoDAsync_v2(to, piece.cast(), bytes.len(), self.stream.as_inner()) })?;
            self.done[number % 2].record(self.stream)?;
        }
        Ok(self.stream.synchronize()?)
    }

    /// Copies bytes from the device, after all work queued before.
    ///
    /// # Safety
    /// The device memory at `address` must have as many bytes as `host`.
    pub unsafe fn download(&mut self, address: u64, host: &mut [MaybeUninit<u8>]) -> Result<()> {
        let (all, pieces) = (host.len(), host.len().div_ceil(PIECE));
        let len = |number: usize| PIECE.min(all - number * PIECE);
        for (number, to) in std::iter::once(None).chain(host.chunks_mut(PIECE).map(Some)).enumerate() {
            if number < pieces {
                let (piece, from) = (self.piece(number).as_mut_ptr(), address + (number * PIECE) as u64);
                // SAFETY: the threads finished reading the piece two rounds ago. The caller guarantees the address.
                check(unsafe { sys::cuMemcpyDtoHAsync_v2(piece.cast(), from, len(number), self.stream.as_inner()) })?;
                self.done[number % 2].record(self.stream)?;
            }
            // While that piece is transferred, the threads copy the one before to its destination.
            let Some(to) = to else { continue };
            self.done[(number - 1) % 2].synchronize()?;
            let piece = &self.piece(number - 1)[..to.len()];
            to.par_chunks_mut(PART).zip(piece.par_chunks(PART)).for_each(|(to, from)| to.copy_from_slice(from));
        }
        Ok(())
    }

    /// The piece that round `number` uses.
    fn piece(&mut self, number: usize) -> &mut [MaybeUninit<u8>] {
        let pointer = self.lease.address() as *mut MaybeUninit<u8>;
        // SAFETY: half of the leased block, which only `self` uses.
        unsafe { std::slice::from_raw_parts_mut(pointer.add(number % 2 * PIECE), PIECE) }
    }
}
