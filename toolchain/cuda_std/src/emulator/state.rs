//! The state of the block that runs: which thread waits for what, and the shared memory with its history.

use super::barrier::{Barrier, Kind};
use super::clocks::{Clocks, lane_of};
use super::fault::{Access, FaultKind, WarpProblem};
use super::memory::Memory;
use super::shadow::{Finding, Shadow};
use super::warp::{Call, Operation, results, warp_part};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Status {
    Running,
    AtBarrier,
    InWarpCall,
    Exited,
}

pub struct State {
    block_dim: [u32; 3],
    status: Vec<Status>,
    /// Threads that can run, in no order.
    ready: Vec<u16>,
    random: u64,
    barrier: Barrier,
    /// The warp operation in which each thread waits.
    calls: Vec<Option<Call>>,
    /// The result of the last barrier or warp operation for each thread.
    pub results: Vec<u32>,
    clocks: Clocks,
    shadow: Shadow,
    pub memory: Memory,
    /// The fault that ends the block, and its thread.
    pub fault: Option<(u16, FaultKind)>,
}

impl State {
    pub fn new(block_dim: [u32; 3], dynamic_shared: u32) -> Self {
        let threads = block_dim.iter().product::<u32>() as usize;
        let memory = Memory::new(dynamic_shared);
        Self {
            block_dim,
            status: vec![Status::Running; threads],
            ready: Vec::with_capacity(threads),
            random: 0,
            barrier: Barrier::default(),
            calls: vec![None; threads],
            results: vec![0; threads],
            clocks: Clocks::new(threads),
            shadow: Shadow::new(memory.bytes()),
            memory,
            fault: None,
        }
    }

    /// Makes all threads ready and the memory unwritten, for a block that draws its order from `seed`.
    pub fn begin_block(&mut self, seed: u64) {
        self.random = seed | 1;
        self.status.fill(Status::Running);
        self.calls.fill(None);
        self.ready.clear();
        self.ready.extend(0..self.status.len() as u16);
        self.barrier = Barrier::default();
        self.clocks.next_epoch();
        self.shadow.begin_block(self.clocks.epoch());
        self.memory.begin_block();
        self.fault = None;
    }

    /// Draws one of the threads that can run.
    pub fn next_ready(&mut self) -> Option<u16> {
        if self.ready.is_empty() {
            return None;
        }
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        let drawn = (self.random >> 32) % self.ready.len() as u64;
        Some(self.ready.swap_remove(drawn as usize))
    }

    /// The thread lets others run.
    pub fn give_way(&mut self, thread: u16) {
        self.ready.push(thread);
    }

    /// The thread waits at the barrier; the last one to arrive frees them all.
    pub fn arrive(&mut self, thread: u16, kind: Kind, predicate: u32) -> Result<(), FaultKind> {
        self.barrier
            .arrive(kind, predicate)
            .map_err(|other| FaultKind::BarrierMismatch { name: kind.name(), other: other.name() })?;
        self.status[usize::from(thread)] = Status::AtBarrier;
        if self.barrier.arrived as usize == self.status.len() {
            let result = self.barrier.complete();
            self.results.fill(result);
            self.status.fill(Status::Running);
            self.ready.extend(0..self.status.len() as u16);
            self.clocks.next_epoch();
            self.shadow.begin_epoch();
        }
        Ok(())
    }

    /// The thread waits in a warp operation; the last lane of the mask to arrive frees them all.
    pub fn call(&mut self, thread: u16, call: Call) -> Result<(), FaultKind> {
        let status = warp_part(&self.status, thread);
        let exited =
            (0..status.len()).filter(|lane| status[*lane] == Status::Exited).fold(0, |all, lane| all | 1 << lane);
        let present = u32::MAX >> (32 - status.len());
        let problem = call.problem(lane_of(thread) as u32, present, exited, warp_part(&self.calls, thread));
        if let Some(problem) = problem {
            return Err(warp_fault(&call, problem));
        }
        self.status[usize::from(thread)] = Status::InWarpCall;
        self.calls[usize::from(thread)] = Some(call);
        let calls = warp_part(&self.calls, thread);
        if call.missing(calls).is_none() {
            let results = results(calls, call.mask);
            let first = usize::from(thread) - lane_of(thread);
            self.complete(first, call.mask, results);
            // The others exchange values, but neither PTX nor LLVM has them order memory.
            if call.operation == Operation::Sync {
                self.clocks.meet(first, call.mask);
            }
        }
        Ok(())
    }

    /// Frees the lanes of `mask` in the warp that begins with `first`.
    fn complete(&mut self, first: usize, mask: u32, results: [u32; 32]) {
        for lane in (0..32).filter(|lane| mask >> lane & 1 == 1) {
            self.results[first + lane] = results[lane];
            self.status[first + lane] = Status::Running;
            self.calls[first + lane] = None;
            self.ready.push((first + lane) as u16);
        }
    }

    /// The thread is done; a fault of a thread of its warp that waits for it.
    pub fn exit(&mut self, thread: u16) -> Option<(u16, FaultKind)> {
        self.status[usize::from(thread)] = Status::Exited;
        let lane = lane_of(thread);
        let first = usize::from(thread) - lane;
        let waits = |(other, call): (usize, &Option<Call>)| {
            let call = call.as_ref().filter(|call| call.mask >> lane & 1 == 1)?;
            Some(((first + other) as u16, warp_fault(call, WarpProblem::LaneExited(lane as u32))))
        };
        warp_part(&self.calls, thread).iter().enumerate().find_map(waits)
    }

    /// Why no thread can run although some have not exited; none where all have.
    pub fn deadlock(&self) -> Option<(u16, FaultKind)> {
        let stuck = |(thread, call): (usize, &Option<Call>)| {
            let call = call.as_ref()?;
            let lane = call.missing(warp_part(&self.calls, thread as u16))?;
            Some((thread as u16, warp_fault(call, WarpProblem::LaneStuck(lane))))
        };
        if let Some(fault) = self.calls.iter().enumerate().find_map(stuck) {
            return Some(fault);
        }
        let name = self.barrier.kind?.name();
        let exited = self.status.iter().position(|status| *status == Status::Exited)?;
        Some((exited as u16, FaultKind::BarrierNotReached { name, waiting: self.barrier.arrived }))
    }

    /// Checks and notes an access of `bytes` of shared memory, and points to them.
    #[inline]
    pub fn access(&mut self, thread: u16, address: u32, bytes: u32, access: Access) -> Result<*mut u8, FaultKind> {
        let unchecked = self.memory.raw_dynamic && address < self.memory.dynamic();
        match self.shadow.access(&self.clocks, thread, (address, bytes), access, unchecked) {
            Ok(()) => Ok(self.memory.pointer(address)),
            Err(Finding::Unwritten) => Err(FaultKind::SharedUnwritten { address, access }),
            Err(Finding::Race { thread, access: other_access }) => {
                let other = self.thread_idx(thread);
                Err(FaultKind::SharedRace { address, access, other_access, other })
            }
        }
    }

    /// The index in the block of thread number `thread`.
    pub fn thread_idx(&self, thread: u16) -> [u32; 3] {
        let [x, y, _] = self.block_dim;
        let thread = u32::from(thread);
        [thread % x, thread / x % y, thread / x / y]
    }
}

fn warp_fault(call: &Call, problem: WarpProblem) -> FaultKind {
    FaultKind::WarpMask { operation: call.operation.name(), mask: call.mask, problem }
}
