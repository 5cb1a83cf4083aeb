//! Warp operations: a lane waits until every lane of its mask has called the same operation with the same mask.

use super::fault::WarpProblem;

/// A warp operation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    Sync,
    Ballot,
    Any,
    All,
    MatchAny,
    ShuffleIdx,
    ShuffleUp,
    ShuffleDown,
    ShuffleXor,
}

/// A lane's part in an operation.
#[derive(Clone, Copy)]
pub struct Call {
    pub operation: Operation,
    pub mask: u32,
    pub value: u32,
    /// The operand of a shuffle, which determines the lane that is read.
    pub operand: u32,
}

/// Lanes of a warp that wait for one another: they called the same operation with the same mask.
#[derive(Clone, Copy)]
pub struct Meeting {
    pub operation: Operation,
    pub mask: u32,
    arrived: u32,
}

/// What the lanes of a warp wait for.
#[derive(Clone, Default)]
pub struct Warp {
    pub exited: u32,
    /// The meetings at which lanes wait: one, unless lanes have diverged.
    meetings: Vec<Meeting>,
    /// The value that each lane passed to its last call; below, the lane that a shuffle reads.
    values: [u32; 32],
    sources: [u32; 32],
}

impl Operation {
    pub fn name(self) -> &'static str {
        match self {
            Self::Sync => "sync_warp",
            Self::Ballot => "ballot",
            Self::Any => "any",
            Self::All => "all",
            Self::MatchAny => "match_any",
            Self::ShuffleIdx => "shuffle_idx",
            Self::ShuffleUp => "shuffle_up",
            Self::ShuffleDown => "shuffle_down",
            Self::ShuffleXor => "shuffle_xor",
        }
    }
}

impl Call {
    /// Returns the lane whose value `lane` reads.
    fn source(&self, lane: u32) -> u32 {
        let source = match self.operation {
            Operation::ShuffleIdx => self.operand % 32,
            Operation::ShuffleUp => lane.wrapping_sub(self.operand),
            Operation::ShuffleDown => lane.saturating_add(self.operand),
            Operation::ShuffleXor => lane ^ self.operand,
            _ => lane,
        };
        if source < 32 { source } else { lane }
    }

    fn belongs_to(&self, meeting: &Meeting) -> bool {
        self.operation == meeting.operation && self.mask == meeting.mask
    }
}

impl Meeting {
    /// Returns the lowest lane that has arrived.
    fn first(&self) -> u32 {
        self.arrived.trailing_zeros()
    }

    /// Returns the lowest lane of the mask that has not arrived.
    pub fn missing(&self) -> u32 {
        (self.mask & !self.arrived).trailing_zeros()
    }
}

impl Warp {
    pub fn begin_block(&mut self) {
        self.exited = 0;
        self.meetings.clear();
    }

    /// Returns what is wrong with the call of `lane`, if anything. `present` are the lanes that exist.
    fn problem(&self, lane: u32, present: u32, call: &Call) -> Option<WarpProblem> {
        let first = |lanes: u32| (lanes != 0).then(|| lanes.trailing_zeros());
        if call.mask >> lane & 1 == 0 {
            return Some(WarpProblem::CallerMissing(lane));
        }
        if let Some(absent) = first(call.mask & !present) {
            return Some(WarpProblem::LaneAbsent(absent));
        }
        if let Some(exited) = first(call.mask & self.exited) {
            return Some(WarpProblem::LaneExited(exited));
        }
        let source = call.source(lane);
        if call.mask >> source & 1 == 0 {
            return Some(WarpProblem::SourceMissing(source));
        }
        let others = self.meetings.iter().filter(|other| other.mask >> lane & 1 == 1 && !call.belongs_to(other));
        let disagree = others.filter_map(|other| Some((first(call.mask & other.arrived)?, other)));
        let (lane, other) = disagree.min_by_key(|(lane, _)| *lane)?;
        Some(WarpProblem::Disagreement { lane, operation: other.operation.name(), mask: other.mask })
    }

    /// Lets `lane` wait in an operation. The last lane of the mask to arrive completes it, and gets the results of all
    /// lanes.
    pub fn arrive(&mut self, lane: u32, present: u32, call: &Call) -> Result<Option<[u32; 32]>, WarpProblem> {
        if let Some(problem) = self.problem(lane, present, call) {
            return Err(problem);
        }
        self.values[lane as usize] = call.value;
        self.sources[lane as usize] = call.source(lane);
        let Some(number) = self.meetings.iter().position(|meeting| call.belongs_to(meeting)) else {
            let Call { operation, mask, .. } = *call;
            let alone = Meeting { operation, mask, arrived: 1 << lane };
            if mask == alone.arrived {
                return Ok(Some(self.results(operation, mask)));
            }
            self.meetings.push(alone);
            return Ok(None);
        };
        let meeting = &mut self.meetings[number];
        meeting.arrived |= 1 << lane;
        if meeting.arrived != meeting.mask {
            return Ok(None);
        }
        self.meetings.swap_remove(number);
        Ok(Some(self.results(call.operation, call.mask)))
    }

    /// Returns the result of each lane of `mask`, after all of them have arrived.
    fn results(&self, operation: Operation, mask: u32) -> [u32; 32] {
        let lanes_where = |holds: &dyn Fn(u32) -> bool| {
            (0..32)
                .filter(|lane| mask >> lane & 1 == 1 && holds(self.values[*lane]))
                .fold(0, |all, lane| all | 1 << lane)
        };
        let true_lanes = || lanes_where(&|value| value != 0);
        match operation {
            Operation::Sync => [0; 32],
            Operation::Ballot => [true_lanes(); 32],
            Operation::Any => [u32::from(true_lanes() != 0); 32],
            Operation::All => [u32::from(true_lanes() == mask); 32],
            Operation::MatchAny => self.values.map(|own| lanes_where(&|value| value == own)),
            _ => self.sources.map(|source| self.values[source as usize]),
        }
    }

    /// Registers that `lane` has exited. Returns a lane that waits for it, and the meeting.
    pub fn exit(&mut self, lane: u32) -> Option<(u32, &Meeting)> {
        self.exited |= 1 << lane;
        let waiting = self.meetings.iter().filter(|meeting| meeting.mask >> lane & 1 == 1);
        waiting.map(|meeting| (meeting.first(), meeting)).min_by_key(|(first, _)| *first)
    }

    /// Returns the lowest lane that waits, and its meeting.
    pub fn waiting(&self) -> Option<(u32, &Meeting)> {
        self.meetings.iter().map(|meeting| (meeting.first(), meeting)).min_by_key(|(first, _)| *first)
    }
}
