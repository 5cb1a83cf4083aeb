//! Finds races and reads of unwritten memory, by recording which threads accessed which part of shared memory, and
//! when.

use super::clocks::{Clocks, Stamp, lane_of, warp_of};
use super::fault::Access;

const NOBODY: u16 = u16::MAX;

/// The history of one cell of memory: four bytes, or one byte if the kernel uses elements of less than four bytes.
#[derive(Clone, Copy, Default)]
struct Cell {
    written: Stamp,
    reads: Accesses,
    atomics: Accesses,
}

/// The accesses of one kind in one epoch, as far as they are needed to check later accesses.
#[derive(Clone, Copy)]
struct Accesses {
    /// The first access in the latest epoch that has one.
    first: Stamp,
    /// A thread of another warp than the first's that made an access. Any later access in this epoch races with one of
    /// the two.
    other: u16,
    /// If several lanes of the first's warp made accesses that are not ordered, 1 + the index of their clocks.
    lanes: u32,
}

impl Default for Accesses {
    fn default() -> Self {
        Self { first: Stamp::default(), other: NOBODY, lanes: 0 }
    }
}

/// What is wrong with an access.
pub enum Finding {
    Unwritten,
    Race { thread: u16, access: Access },
}

pub struct Shadow {
    cells: Vec<Cell>,
    /// log2 of the bytes of a cell.
    shift: u32,
    /// The epoch in which the block began. Older accesses are those of other blocks.
    first_epoch: u32,
    /// Clocks of the lanes of [`Accesses::lanes`], for the present epoch.
    lanes: Vec<[u32; 32]>,
}

impl Shadow {
    /// Creates the history of no memory.
    pub fn new() -> Self {
        Self { cells: Vec::new(), shift: 2, first_epoch: 0, lanes: Vec::new() }
    }

    /// Extends the history to at least `bytes` of memory.
    #[inline]
    pub fn reach(&mut self, bytes: u32) {
        let cells = (bytes as usize).div_ceil(1 << self.shift);
        if cells > self.cells.len() {
            self.cells.resize(cells, Cell::default());
        }
    }

    /// Begins another block, in epoch `epoch`.
    pub fn begin_block(&mut self, epoch: u32) {
        self.first_epoch = epoch;
        self.lanes.clear();
    }

    /// Begins another epoch.
    pub fn begin_epoch(&mut self) {
        self.lanes.clear();
    }

    /// Checks and records an access of `bytes` at `address` by `thread`. `unchecked` says that memory may have been
    /// written through a raw pointer, so that a read of unwritten memory is no fault.
    #[inline]
    pub fn access(
        &mut self,
        clocks: &Clocks,
        thread: u16,
        (address, bytes): (u32, u32),
        access: Access,
        unchecked: bool,
    ) -> Result<(), Finding> {
        if bytes < 4 && self.shift == 2 {
            self.refine();
        }
        let cells = (address >> self.shift) as usize..=((address + bytes - 1) >> self.shift) as usize;
        for cell in &mut self.cells[cells] {
            if !unchecked && access != Access::Write && cell.written.epoch < self.first_epoch {
                return Err(Finding::Unwritten);
            }
            cell.access(clocks, &mut self.lanes, thread, access)?;
        }
        Ok(())
    }

    /// Splits each cell of four bytes into four of one.
    fn refine(&mut self) {
        self.cells = self.cells.iter().flat_map(|cell| [*cell; 4]).collect();
        self.shift = 0;
    }
}

impl Cell {
    #[inline]
    fn access(
        &mut self,
        clocks: &Clocks,
        lanes: &mut Vec<[u32; 32]>,
        thread: u16,
        access: Access,
    ) -> Result<(), Finding> {
        let race = |thread, access| Err(Finding::Race { thread, access });
        if !clocks.ordered(self.written, thread) {
            return race(self.written.thread, Access::Write);
        }
        if access != Access::Read
            && let Some(other) = self.reads.unordered(clocks, lanes, thread)
        {
            return race(other, Access::Read);
        }
        if access != Access::Atomic
            && let Some(other) = self.atomics.unordered(clocks, lanes, thread)
        {
            return race(other, Access::Atomic);
        }
        match access {
            Access::Read => self.reads.record(clocks, lanes, thread),
            Access::Atomic => self.atomics.record(clocks, lanes, thread),
            Access::Write => *self = Self { written: clocks.now(thread), ..Self::default() },
        }
        Ok(())
    }
}

impl Accesses {
    /// Returns a thread whose access did not happen before what `thread` does now.
    #[inline]
    fn unordered(&self, clocks: &Clocks, lanes: &[[u32; 32]], thread: u16) -> Option<u16> {
        if self.first.epoch < clocks.epoch() {
            return None;
        }
        if warp_of(self.first.thread) != warp_of(thread) {
            return Some(self.first.thread);
        }
        if self.other != NOBODY {
            return Some(self.other);
        }
        if self.lanes == 0 {
            return (!clocks.ordered(self.first, thread)).then_some(self.first.thread);
        }
        let unknown = |lane: &usize| {
            *lane != lane_of(thread) && !clocks.knows(thread, *lane, lanes[self.lanes as usize - 1][*lane])
        };
        (0..32).find(unknown).map(|lane| warp_of(thread) * 32 + lane as u16)
    }

    #[inline]
    fn record(&mut self, clocks: &Clocks, lanes: &mut Vec<[u32; 32]>, thread: u16) {
        let now = clocks.now(thread);
        if self.first.epoch < now.epoch {
            *self = Self { first: now, ..Self::default() };
        } else if self.other != NOBODY {
            // Nothing to add.
        } else if warp_of(self.first.thread) != warp_of(thread) {
            self.other = thread;
        } else if self.lanes != 0 {
            lanes[self.lanes as usize - 1][lane_of(thread)] = now.clock;
        } else if clocks.ordered(self.first, thread) {
            self.first = now;
        } else {
            let mut clocks = [0; 32];
            clocks[lane_of(self.first.thread)] = self.first.clock;
            clocks[lane_of(thread)] = now.clock;
            lanes.push(clocks);
            self.lanes = lanes.len() as u32;
        }
    }
}
