//! Warp operations: a lane waits until every lane of its mask has called the same operation with the same mask.

use super::clocks::lane_of;
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
    /// Which lane a shuffle reads, in the terms of its kind.
    pub operand: u32,
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
    fn same_operation(&self, other: &Self) -> bool {
        self.operation == other.operation && self.mask == other.mask
    }

    /// The lane whose value `lane` reads.
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

    /// What is wrong with the call of `lane`, given which lanes there are, which of them have exited, and what the
    /// others wait for.
    pub fn problem(&self, lane: u32, present: u32, exited: u32, waiting: &[Option<Call>]) -> Option<WarpProblem> {
        let first = |lanes: u32| (lanes != 0).then(|| lanes.trailing_zeros());
        if self.mask >> lane & 1 == 0 {
            return Some(WarpProblem::CallerMissing(lane));
        }
        if let Some(absent) = first(self.mask & !present) {
            return Some(WarpProblem::LaneAbsent(absent));
        }
        if let Some(exited) = first(self.mask & exited) {
            return Some(WarpProblem::LaneExited(exited));
        }
        let source = self.source(lane);
        if self.mask >> source & 1 == 0 {
            return Some(WarpProblem::SourceMissing(source));
        }
        let disagrees = |(other, call): (usize, &Option<Call>)| {
            let call = call.as_ref()?;
            let meet = self.mask >> other & 1 == 1 && call.mask >> lane & 1 == 1;
            (meet && !self.same_operation(call)).then_some(WarpProblem::Disagreement {
                lane: other as u32,
                operation: call.operation.name(),
                mask: call.mask,
            })
        };
        waiting.iter().enumerate().find_map(disagrees)
    }

    /// The lowest lane of the mask that does not wait for this very operation.
    pub fn missing(&self, waiting: &[Option<Call>]) -> Option<u32> {
        let arrived = |lane: u32| {
            waiting.get(lane as usize).is_some_and(|call| call.as_ref().is_some_and(|call| self.same_operation(call)))
        };
        (0..32).find(|lane| self.mask >> lane & 1 == 1 && !arrived(*lane))
    }
}

/// The result of a complete operation for each lane; `calls` are those of the warp, those of the mask among them.
pub fn results(calls: &[Option<Call>], mask: u32) -> [u32; 32] {
    let value = |lane: u32| calls[lane as usize].map_or(0, |call| call.value);
    let lanes_where = |holds: &dyn Fn(u32) -> bool| {
        (0..32).filter(|lane| mask >> lane & 1 == 1 && holds(*lane)).fold(0, |lanes, lane| lanes | 1 << lane)
    };
    std::array::from_fn(|lane| match calls.get(lane).copied().flatten() {
        Some(call) if mask >> lane & 1 == 1 => match call.operation {
            Operation::Sync => 0,
            Operation::Ballot => lanes_where(&|lane| value(lane) != 0),
            Operation::Any => u32::from(lanes_where(&|lane| value(lane) != 0) != 0),
            Operation::All => u32::from(lanes_where(&|lane| value(lane) != 0) == mask),
            Operation::MatchAny => lanes_where(&|lane| value(lane) == call.value),
            _ => value(call.source(lane as u32)),
        },
        _ => 0,
    })
}

/// The part of `per_thread` that belongs to the warp of `thread`.
pub fn warp_part<T>(per_thread: &[T], thread: u16) -> &[T] {
    let start = usize::from(thread) - lane_of(thread);
    &per_thread[start..per_thread.len().min(start + 32)]
}
