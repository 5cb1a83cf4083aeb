//! The barrier of a block.

/// Which barrier function a thread called.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Sync,
    Count,
    And,
    Or,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Sync => "sync_threads",
            Self::Count => "sync_threads_count",
            Self::And => "sync_threads_and",
            Self::Or => "sync_threads_or",
        }
    }
}

/// The number of threads that wait at the barrier, and their predicates.
#[derive(Default)]
pub struct Barrier {
    pub kind: Option<Kind>,
    pub arrived: u32,
    /// The number of threads whose predicate is true.
    count: u32,
}

impl Barrier {
    /// Registers that a thread has arrived. The error is the kind of barrier at which others wait, if it differs.
    pub fn arrive(&mut self, kind: Kind, predicate: u32) -> Result<(), Kind> {
        match self.kind {
            Some(other) if other != kind => return Err(other),
            _ => self.kind = Some(kind),
        }
        self.arrived += 1;
        self.count += u32::from(predicate != 0);
        Ok(())
    }

    /// Completes the barrier when all threads have arrived. Returns the result that each thread gets, and resets the
    /// barrier.
    pub fn complete(&mut self) -> u32 {
        let done = std::mem::take(self);
        match done.kind {
            Some(Kind::Count) => done.count,
            Some(Kind::And) => u32::from(done.count == done.arrived),
            Some(Kind::Or) => u32::from(done.count != 0),
            Some(Kind::Sync) | None => 0,
        }
    }
}
