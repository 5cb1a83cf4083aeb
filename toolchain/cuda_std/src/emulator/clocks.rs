//! The order "happened before" of the threads of a block, by vector clocks.
//!
//! A barrier of the block orders everything before it, so the number of barriers passed (the epoch) settles most
//! questions. Within an epoch only `sync_warp` orders anything, and only within a warp: each thread has a vector clock
//! over the 32 lanes of its warp.

/// When a thread did something. Thread and clock mean nothing once the epoch is over.
#[derive(Clone, Copy, Default)]
pub struct Stamp {
    pub epoch: u32,
    pub clock: u32,
    pub thread: u16,
}

pub struct Clocks {
    /// Counts block barriers, from 1 on, and goes on counting from block to block.
    epoch: u32,
    /// For each thread, the clock of each lane of its warp up to which it knows what the lane did.
    known: Vec<[u32; 32]>,
}

pub fn warp_of(thread: u16) -> u16 {
    thread / 32
}

pub fn lane_of(thread: u16) -> usize {
    usize::from(thread % 32)
}

impl Clocks {
    pub fn new(threads: usize) -> Self {
        let own_only = |thread: usize| std::array::from_fn(|lane| u32::from(lane == thread % 32));
        Self { epoch: 0, known: (0..threads).map(own_only).collect() }
    }

    /// Everything so far happened before everything to come.
    pub fn next_epoch(&mut self) {
        self.epoch += 1;
    }

    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// The present of `thread`.
    #[inline]
    pub fn now(&self, thread: u16) -> Stamp {
        Stamp { epoch: self.epoch, clock: self.known[usize::from(thread)][lane_of(thread)], thread }
    }

    /// Whether what happened at `stamp` happened before what `thread` does now.
    #[inline]
    pub fn ordered(&self, stamp: Stamp, thread: u16) -> bool {
        stamp.epoch < self.epoch
            || (warp_of(stamp.thread) == warp_of(thread) && self.knows(thread, lane_of(stamp.thread), stamp.clock))
    }

    /// Whether `thread` knows what `lane` of its warp did up to `clock`.
    #[inline]
    pub fn knows(&self, thread: u16, lane: usize, clock: u32) -> bool {
        self.known[usize::from(thread)][lane] >= clock
    }

    /// The threads of `mask` in the warp of `first_thread` have met: each now knows what any of them knew.
    pub fn meet(&mut self, first_thread: usize, mask: u32) {
        let lanes = || (0..32).filter(move |lane| mask >> lane & 1 == 1);
        let mut joint = [0; 32];
        for lane in lanes() {
            for (joint, known) in joint.iter_mut().zip(self.known[first_thread + lane]) {
                *joint = known.max(*joint);
            }
        }
        for lane in lanes() {
            self.known[first_thread + lane] = joint;
            self.known[first_thread + lane][lane] += 1;
        }
    }
}
