//! Runs thread blocks, one after the other, on one thread of the CPU. Each kernel thread is a coroutine.

use super::current::{Current, Installed};
use super::fault::FaultKind;
use super::launch::Launch;
use super::state::State;
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::{Mutex, PoisonError};

/// Bytes of the stack of a kernel thread. Only touched pages take memory.
const STACK_BYTES: usize = 256 << 10;

/// Stacks that no launch uses at present. They are kept because mapping and touching a new one takes longer than
/// running most blocks.
static SPARE: Mutex<Vec<DefaultStack>> = Mutex::new(Vec::new());
/// The largest number of stacks that are kept.
const MOST_SPARE: usize = 4096;

type KernelThread = Coroutine<(), (), (), DefaultStack>;

/// The state of a worker, which runs blocks. It is reused from block to block.
pub struct Block {
    current: Current,
    stacks: Vec<DefaultStack>,
}

impl Block {
    pub fn new(launch: &Launch) -> Self {
        let threads = launch.block.iter().product::<u32>();
        let current = Current {
            launch: *launch,
            block_idx: Cell::default(),
            thread_idx: Cell::default(),
            thread: Cell::default(),
            state: RefCell::new(State::new(launch.block, launch.shared_bytes)),
            yielders: (0..threads).map(|_| Cell::new(ptr::null())).collect(),
        };
        Self { current, stacks: Vec::new() }
    }

    /// Runs block number `number` to its end, or until `stopped` returns true. The error is a fault and the index of
    /// its thread.
    pub fn run(
        &mut self,
        number: u64,
        body: &(impl Fn() + Sync),
        stopped: &impl Fn() -> bool,
    ) -> Result<(), ([u32; 3], FaultKind)> {
        // SAFETY: the value lives until the end of this function, and `self` beyond that.
        let _installed = unsafe { Installed::new(&self.current) };
        self.current.block_idx.set(self.current.launch.block_idx(number));
        self.current.state.borrow_mut().begin_block(mix(self.current.launch.seed, number));
        self.reserve_stacks().map_err(|kind| ([0; 3], kind))?;

        let current = &self.current;
        let start = |(thread, stack): (usize, DefaultStack)| {
            let yielder = &current.yielders[thread];
            // SAFETY: everything that the closure borrows outlives the coroutine, which this function ends before it
            // returns. The coroutine never leaves this thread of the CPU.
            unsafe {
                KernelThread::with_stack_unchecked(stack, move |out, ()| {
                    yielder.set(out);
                    body();
                })
            }
        };
        let mut threads: Vec<_> = self.stacks.drain(..).enumerate().map(start).collect();
        let outcome = drive(current, &mut threads, stopped);
        for mut thread in threads {
            thread.force_unwind();
            self.stacks.push(thread.into_stack());
        }
        outcome.map_err(|(thread, kind)| (self.current.state.borrow().thread_idx(thread), kind))
    }

    fn reserve_stacks(&mut self) -> Result<(), FaultKind> {
        let threads = self.current.yielders.len();
        if self.stacks.len() < threads {
            let mut spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner);
            let left = spare.len().saturating_sub(threads - self.stacks.len());
            self.stacks.extend(spare.drain(left..));
        }
        while self.stacks.len() < threads {
            let stack = DefaultStack::new(STACK_BYTES);
            self.stacks.push(stack.map_err(|error| FaultKind::Misuse(format!("no memory for stacks: {error}")))?);
        }
        Ok(())
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        let mut spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner);
        let room = MOST_SPARE.saturating_sub(spare.len()).min(self.stacks.len());
        spare.extend(self.stacks.drain(..room));
    }
}

/// Resumes threads in the random order drawn by the state, until none is left.
fn drive(current: &Current, threads: &mut [KernelThread], stopped: &impl Fn() -> bool) -> Result<(), (u16, FaultKind)> {
    loop {
        let Some(thread) = current.state.borrow_mut().next_ready() else {
            return current.state.borrow().deadlock().map_or(Ok(()), Err);
        };
        current.thread.set(thread);
        current.thread_idx.set(current.state.borrow().thread_idx(thread));
        let coroutine = &mut threads[usize::from(thread)];
        let fault = match catch_unwind(AssertUnwindSafe(|| coroutine.resume(()))) {
            Ok(CoroutineResult::Yield(())) => current.state.borrow_mut().fault.take(),
            Ok(CoroutineResult::Return(())) => current.state.borrow_mut().exit(thread),
            Err(payload) => Some((thread, FaultKind::Panic(message(&*payload)))),
        };
        if let Some(fault) = fault {
            return Err(fault);
        }
        if stopped() {
            return Ok(());
        }
    }
}

/// Returns the message of a panic.
fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message").into()
}

/// Returns a seed for block number `number`, by splitmix64.
fn mix(seed: u64, number: u64) -> u64 {
    let mut z = seed.wrapping_add(number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
