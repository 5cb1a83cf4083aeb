//! The faults that the emulator reports.

use std::fmt;
use thiserror::Error;

/// The first fault of a launch: that of the lowest block that has one.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("kernel {kernel}, block {}, thread {}: {kind}", Index(.block), Index(.thread))]
pub struct Fault {
    /// Name of the kernel, as given to [`run`](super::run).
    pub kernel: String,
    /// Index of the block in the grid.
    pub block: [u32; 3],
    /// Index of the thread in the block.
    pub thread: [u32; 3],
    /// What the thread did.
    pub kind: FaultKind,
}

/// The kinds of faults of a kernel.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FaultKind {
    /// The thread has exited without reaching a barrier at which all other threads wait.
    #[error("exited before {name}, at which {waiting} threads wait")]
    BarrierNotReached {
        /// The barrier's function.
        name: &'static str,
        /// How many threads wait.
        waiting: u32,
    },
    /// The thread calls one kind of barrier while others wait at another.
    #[error("calls {name} while other threads wait at {other}")]
    BarrierMismatch {
        /// The barrier called.
        name: &'static str,
        /// The barrier at which others wait.
        other: &'static str,
    },
    /// A warp operation whose mask is wrong.
    #[error("{operation} with mask {mask:#010x}: {problem}")]
    WarpMask {
        /// The operation's function.
        operation: &'static str,
        /// The mask that the thread passed.
        mask: u32,
        /// What is wrong with it.
        problem: WarpProblem,
    },
    /// Two accesses to the same shared memory without a barrier in between, which are neither both reads nor both
    /// atomic.
    #[error("{access} of shared address {address:#x} races with {other_access} by thread {}", Index(.other))]
    SharedRace {
        /// Byte address in the block's shared memory: dynamic memory first, then static allocations.
        address: u32,
        /// What the thread does.
        access: Access,
        /// What the other thread did.
        other_access: Access,
        /// The other thread's index in the block.
        other: [u32; 3],
    },
    /// An index out of the bounds of a shared slice.
    #[error("index {index} of a shared slice of {len}")]
    SharedOutOfBounds {
        /// The index.
        index: u32,
        /// Number of elements.
        len: u32,
    },
    /// A read from, or an atomic on, shared memory that no thread of the block has written.
    #[error("{access} of shared address {address:#x}, which nobody has written")]
    SharedUnwritten {
        /// Byte address in the block's shared memory.
        address: u32,
        /// What the thread does.
        access: Access,
    },
    /// An index out of the bounds of a device slice.
    #[error("index {index} of a device slice of {len}")]
    DeviceOutOfBounds {
        /// The index.
        index: usize,
        /// Number of elements.
        len: usize,
    },
    /// A call that is invalid on the device.
    #[error("{0}")]
    Misuse(String),
    /// The kernel panicked.
    #[error("panicked: {0}")]
    Panic(String),
}

/// What is wrong with the mask of a warp operation.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum WarpProblem {
    /// The mask lacks the thread's own lane.
    #[error("it lacks the caller's own lane {0}")]
    CallerMissing(u32),
    /// The mask contains a lane that the block does not have.
    #[error("the block has no lane {0}")]
    LaneAbsent(u32),
    /// The mask contains a lane that has exited.
    #[error("lane {0} has exited")]
    LaneExited(u32),
    /// A lane of the mask waits for the caller, but in another operation or with another mask.
    #[error("lane {lane} waits in {operation} with mask {mask:#010x}")]
    Disagreement {
        /// The other lane.
        lane: u32,
        /// Its operation.
        operation: &'static str,
        /// Its mask.
        mask: u32,
    },
    /// A lane of the mask waits for something that never happens.
    #[error("lane {0} never arrives")]
    LaneStuck(u32),
    /// A shuffle reads the value of a lane outside the mask.
    #[error("it lacks lane {0}, whose value is read")]
    SourceMissing(u32),
}

/// A kind of access to memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// A plain load.
    Read,
    /// A plain store.
    Write,
    /// An atomic read and write.
    Atomic,
}

impl fmt::Display for Access {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str(match self {
            Self::Read => "a read",
            Self::Write => "a write",
            Self::Atomic => "an atomic",
        })
    }
}

/// An index of a block or thread, printed as (x, y, z).
struct Index<'a>(&'a [u32; 3]);

impl fmt::Display for Index<'_> {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let [x, y, z] = self.0;
        write!(out, "({x}, {y}, {z})")
    }
}
