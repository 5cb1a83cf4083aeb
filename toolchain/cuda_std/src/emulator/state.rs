//! The state of the running block: what each thread waits for, and the shared memory with its history.

use super::barrier::{Barrier, Kind};
use super::clocks::{Clocks, lane_of, warp_of};
use super::fault::{Access, FaultKind, WarpProblem};
use super::memory::Memory;
use super::shadow::{Finding, Shadow};
use super::warp::{Call, Operation, Warp};

pub struct State {
    /// The index of each thread in the block.
    indices: Vec<[u32; 3]>,
    /// Threads that can run, in no order.
    ready: Vec<u16>,
    random: u64,
    barrier: Barrier,
    warps: Vec<Warp>,
    /// The result of the last barrier or warp operation for each thread.
    pub results: Vec<u32>,
    clocks: Clocks,
    shadow: Shadow,
    pub memory: Memory,
    /// The fault that ends the block, and its thread.
    pub fault: Option<(u16, FaultKind)>,
}

impl State {
    pub fn new([x, y, z]: [u32; 3], dynamic_shared: u32) -> Self {
        let indices: Vec<_> = (0..x * y * z).map(|thread| [thread % x, thread / x % y, thread / x / y]).collect();
        let threads = indices.len();
        let memory = Memory::new(dynamic_shared);
        let mut shadow = Shadow::new();
        shadow.reach(memory.used());
        Self {
            indices,
            ready: Vec::with_capacity(threads),
            random: 0,
            barrier: Barrier::default(),
            warps: vec![Warp::default(); threads.div_ceil(32)],
            results: vec![0; threads],
            clocks: Clocks::new(threads),
            shadow,
            memory,
            fault: None,
        }
    }

    /// Begins a block whose order of threads is drawn from `seed`: all threads are ready, and the memory is unwritten.
    pub fn begin_block(&mut self, seed: u64) {
        self.random = seed | 1;
        self.warps.iter_mut().for_each(Warp::begin_block);
        self.ready.clear();
        self.ready.extend(0..self.indices.len() as u16);
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
        // A division in 32 bits is faster.
        let drawn = (self.random >> 32) as u32 % self.ready.len() as u32;
        Some(self.ready.swap_remove(drawn as usize))
    }

    /// Lets other threads run before this one.
    pub fn give_way(&mut self, thread: u16) {
        self.ready.push(thread);
    }

    /// Lets the thread wait at the barrier. The last one to arrive makes all threads ready.
    pub fn arrive(&mut self, kind: Kind, predicate: u32) -> Result<(), FaultKind> {
        self.barrier
            .arrive(kind, predicate)
            .map_err(|other| FaultKind::BarrierMismatch { name: kind.name(), other: other.name() })?;
        if self.barrier.arrived as usize == self.indices.len() {
            let result = self.barrier.complete();
            self.results.fill(result);
            self.ready.extend(0..self.indices.len() as u16);
            self.clocks.next_epoch();
            self.shadow.begin_epoch();
        }
        Ok(())
    }

    /// Lets the thread wait in a warp operation. The last lane of the mask to arrive makes all lanes ready.
    pub fn call(&mut self, thread: u16, call: Call) -> Result<(), FaultKind> {
        let (warp, lane) = (warp_of(thread), lane_of(thread));
        let first = usize::from(thread) - lane;
        let present = u32::MAX >> (32 - (self.indices.len() - first).min(32));
        let arrived = self.warps[usize::from(warp)].arrive(lane as u32, present, &call);
        if let Some(results) = arrived.map_err(|problem| warp_fault(call.operation, call.mask, problem))? {
            self.complete(first, call.mask, results);
            // The other operations exchange values, but order no memory, neither in PTX nor in LLVM.
            if call.operation == Operation::Sync {
                self.clocks.meet(first, call.mask);
            }
        }
        Ok(())
    }

    /// Makes the lanes of `mask` ready, in the warp that begins with thread `first`.
    fn complete(&mut self, first: usize, mask: u32, results: [u32; 32]) {
        for lane in (0..32).filter(|lane| mask >> lane & 1 == 1) {
            self.results[first + lane] = results[lane];
            self.ready.push((first + lane) as u16);
        }
    }

    /// Registers that the thread has exited. Returns a fault if a thread of its warp waits for it.
    pub fn exit(&mut self, thread: u16) -> Option<(u16, FaultKind)> {
        let lane = lane_of(thread);
        let (waiting, meeting) = self.warps[usize::from(warp_of(thread))].exit(lane as u32)?;
        let fault = warp_fault(meeting.operation, meeting.mask, WarpProblem::LaneExited(lane as u32));
        Some((thread - lane as u16 + waiting as u16, fault))
    }

    /// Returns the fault if no thread can run although some have not exited, or `None` if all have exited.
    pub fn deadlock(&self) -> Option<(u16, FaultKind)> {
        let waiting = self.warps.iter().zip((0..).step_by(32)).find_map(|(warp, first)| Some((first, warp.waiting()?)));
        if let Some((first, (lane, meeting))) = waiting {
            let problem = WarpProblem::LaneStuck(meeting.missing());
            return Some((first + lane as u16, warp_fault(meeting.operation, meeting.mask, problem)));
        }
        let name = self.barrier.kind?.name();
        let exited = self.warps.iter().zip((0..).step_by(32)).find(|(warp, _)| warp.exited != 0);
        let exited = exited.map(|(warp, first)| first + warp.exited.trailing_zeros() as u16)?;
        Some((exited, FaultKind::BarrierNotReached { name, waiting: self.barrier.arrived }))
    }

    /// Returns the address of the static allocation of `bytes` for the call site `site`, or `None` if memory is
    /// exhausted.
    pub fn allocate(&mut self, site: usize, bytes: usize) -> Option<u32> {
        let address = self.memory.allocate(site, bytes);
        self.shadow.reach(self.memory.used());
        address
    }

    /// Checks and records an access of `bytes` of shared memory, and returns a pointer to them.
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
        self.indices[usize::from(thread)]
    }
}

fn warp_fault(operation: Operation, mask: u32, problem: WarpProblem) -> FaultKind {
    FaultKind::WarpMask { operation: operation.name(), mask, problem }
}
