//! The happened-before order of the accesses of a block's threads, by vector clocks.
//!
//! A block barrier orders everything before it against everything after it, so that the number of barriers passed (the
//! epoch) decides most cases. Within an epoch, only `sync_warp` orders accesses, and only within a warp. For this, each
//! thread has a vector clock over the 32 lanes of its warp.

/// The time at which a thread did something. Thread and clock are meaningless after the end of the epoch.
#[derive(Clone, Copy, Default)]
pub struct Stamp {
    pub epoch: u32,
    pub clock: u32,
    pub thread: u16,
}

pub struct Clocks {
    /// Counts block barriers, from 1 on, and goes on counting from block to block.
    epoch: u32,
    /// For each thread and each lane of its warp, the lane's clock up to which everything the lane did happened before
    /// the thread's present.
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

    /// Begins a new epoch: everything so far happened before everything that follows.
    pub fn next_epoch(&mut self) {
        self.epoch += 1;
    }

    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// Returns the present time of `thread`.
    #[inline]
    pub fn now(&self, thread: u16) -> Stamp {
        Stamp { epoch: self.epoch, clock: self.known[usize::from(thread)][lane_of(thread)], thread }
    }

    /// Returns whether what was done at `stamp` happened before what `thread` does now.
    #[inline]
    pub fn ordered(&self, stamp: Stamp, thread: u16) -> bool {
        stamp.epoch < self.epoch
            || (warp_of(stamp.thread) == warp_of(thread) && self.knows(thread, lane_of(stamp.thread), stamp.clock))
    }

    /// Returns whether everything that `lane` of its warp did up to `clock` happened before what `thread` does now.
    #[inline]
    pub fn knows(&self, thread: u16, lane: usize, clock: u32) -> bool {
        self.known[usize::from(thread)][lane] >= clock
    }

    /// Registers that the threads of `mask` in the warp of `first_thread` have synchronised: each takes over the clocks
    /// of all.
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
