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

/// The threads that wait at the barrier, and what they brought.
#[derive(Default)]
pub struct Barrier {
    pub kind: Option<Kind>,
    pub arrived: u32,
    /// In how many threads the predicate holds.
    count: u32,
}

impl Barrier {
    /// A thread arrives; the kind at which others wait, if it is another one.
    pub fn arrive(&mut self, kind: Kind, predicate: u32) -> Result<(), Kind> {
        match self.kind {
            Some(other) if other != kind => return Err(other),
            _ => self.kind = Some(kind),
        }
        self.arrived += 1;
        self.count += u32::from(predicate != 0);
        Ok(())
    }

    /// All threads have arrived: what each gets, and the barrier is ready for the next round.
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
