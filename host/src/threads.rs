//! Thread pools for parallel work, and the flags that stop it. Results never depend on the number of threads.

use crate::observer::{LatchedObserver, watched};
use crate::{Error, Observer, Result};
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::cell::OnceCell;
use std::mem::MaybeUninit;
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::available_parallelism;

/// Threads that are started once and reused.
///
/// Work that starts while other work is under way gets threads of its own. In a shared pool, a thread that waits for a
/// part of one run could take up another whole run, and the first run could not end or stop before that.
#[derive(Debug)]
pub struct Threads {
    count: usize,
    pools: Mutex<Pools>,
}

/// The pools of [`Threads`].
#[derive(Debug)]
struct Pools {
    idle: Vec<Pool>,
    /// The number of pools that are working.
    busy: usize,
}

/// The number of threads of a run that starts while others are under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ThreadShare {
    /// All threads, for a run that takes much longer than others.
    All,
    /// An equal share for each run that is under way when it starts. Runs with many short loops would spend more time
    /// on waking threads than on work if each had one thread per core.
    Shared,
}

/// Threads that work for one run at a time.
#[derive(Debug)]
struct Pool {
    threads: ThreadPool,
    /// Whether the run is to stop.
    stop: Arc<AtomicBool>,
}

thread_local! {
    /// The stop flag of the pool to which this thread belongs.
    static STOP: OnceCell<Arc<AtomicBool>> = const { OnceCell::new() };
}

/// Whether the result of this thread's work is still wanted. Loops ask before each piece of at most a few milliseconds,
/// and skip the rest if it is not. The run then ends with [`Error::Stopped`], whatever the result.
pub(crate) fn should_continue() -> bool {
    STOP.with(|stop| stop.get().is_none_or(|stop| !stop.load(Ordering::Relaxed)))
}

/// Does the check of [`should_continue`] for a sequence of short steps without parallel loops.
///
/// # Errors
/// [`Error::Stopped`] if the result is no longer wanted.
pub(crate) fn check_stopped() -> Result<()> {
    if should_continue() { Ok(()) } else { Err(Error::Stopped) }
}

/// Numbers in a piece of [`mapped`].
const PIECE: usize = 1 << 14;

/// Maps each number by `map`, and appends `zeros` zeros. Unless the run [`should_continue`], the rest is zeros.
pub(crate) fn mapped<A: Sync, B: Copy + Default + Send + Sync>(
    from: &[A],
    zeros: usize,
    map: impl Fn(&A) -> B + Sync,
) -> Vec<B> {
    mapped_by_piece(from, zeros, |from, to| to.iter_mut().zip(from).for_each(|(to, from)| *to = map(from)))
}

/// As [`mapped`], with a function that maps many numbers at once, which can be compiled for the widest instructions.
pub(crate) fn mapped_by_piece<A: Sync, B: Copy + Default + Send + Sync>(
    from: &[A],
    zeros: usize,
    map: impl Fn(&[A], &mut [B]) + Sync,
) -> Vec<B> {
    made_by_piece(from.len() + zeros, PIECE, |piece, to| {
        let from = from.get(piece * PIECE..).unwrap_or_default();
        let some = to.len().min(from.len());
        map(&from[..some], &mut to[..some]);
    })
}

/// Makes `len` numbers in pieces of `piece`. `work` is called for each piece with its index and its numbers, all zeros,
/// to write. If the run is stopped, the rest stays zeros. Each piece is cleared by the thread that writes it, because
/// clearing all in one thread would take as long as writing in all threads.
pub fn made_by_piece<T: Copy + Default + Send + Sync>(
    len: usize,
    piece: usize,
    work: impl Fn(usize, &mut [T]) + Sync,
) -> Vec<T> {
    let mut made = Vec::with_capacity(len);
    let pieces = made.spare_capacity_mut()[..len].par_chunks_mut(piece.max(1)).enumerate();
    pieces.for_each(|(number, piece)| {
        piece.fill(MaybeUninit::new(T::default()));
        // SAFETY: the piece was just filled.
        let piece = unsafe { piece.assume_init_mut() };
        if should_continue() {
            work(number, piece);
        }
    });
    // SAFETY: all pieces were filled.
    unsafe { made.set_len(len) };
    made
}

impl Threads {
    /// Starts `count` threads; 0 for one per core.
    ///
    /// # Errors
    /// [`Error::Device`] if the operating system refuses them.
    pub fn start(count: usize) -> Result<Self> {
        Ok(Self { count, pools: Mutex::new(Pools { idle: vec![pool(counted(count))?], busy: 0 }) })
    }

    /// The number of threads.
    pub fn count(&self) -> usize {
        counted(self.count)
    }

    /// Runs `work` on these threads.
    ///
    /// # Errors
    /// [`Error::Device`] if the operating system refuses threads, and the errors of `work`.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        self.on_pool(ThreadShare::Shared, |pool| pool.threads.install(work))
    }

    /// Runs `work`, which the observer can stop. The observer that `work` gets never continues after it has stopped
    /// once.
    ///
    /// # Errors
    /// As [`Threads::run`], and [`Error::Stopped`] if the observer stopped it, even just before its end.
    pub(crate) fn run_watched<T: Send>(
        &self,
        share: ThreadShare,
        observer: &dyn Observer,
        work: impl FnOnce(&dyn Observer) -> Result<T> + Send,
    ) -> Result<T> {
        self.on_pool(share, |pool| {
            let latched = LatchedObserver::new(observer, &pool.stop);
            let done = watched(&latched, || pool.threads.install(|| work(&latched)));
            if pool.stop.swap(false, Ordering::Relaxed) { Err(Error::Stopped) } else { done }
        })
    }

    fn on_pool<T>(&self, share: ThreadShare, work: impl FnOnce(&Pool) -> Result<T>) -> Result<T> {
        let busy = Busy::new(self);
        let count = match share {
            ThreadShare::All => self.count(),
            ThreadShare::Shared => self.count().div_ceil(busy.now),
        };
        let waiting = {
            let idle = &mut self.pools().idle;
            let fits = idle.iter().position(|pool| pool.threads.current_num_threads() == count);
            fits.map(|fits| idle.swap_remove(fits))
        };
        let pool = waiting.map_or_else(|| pool(count), Ok)?;
        let done = work(&pool);
        self.pools().idle.push(pool);
        done
    }

    fn pools(&self) -> MutexGuard<'_, Pools> {
        self.pools.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts one more working pool until it is dropped, also by a panic.
struct Busy<'a> {
    threads: &'a Threads,
    /// The number of working pools, this one included.
    now: usize,
}

impl<'a> Busy<'a> {
    fn new(threads: &'a Threads) -> Self {
        let mut pools = threads.pools();
        pools.busy += 1;
        Self { threads, now: pools.busy }
    }
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.threads.pools().busy -= 1;
    }
}

/// The number of threads; for 0, one per core. Rayon's own default would read the environment.
fn counted(count: usize) -> usize {
    if count == 0 { available_parallelism().map_or(1, NonZero::get) } else { count }
}

fn pool(count: usize) -> Result<Pool> {
    let stop = Arc::new(AtomicBool::new(false));
    let of_thread = Arc::clone(&stop);
    let begin = move |_| STOP.with(|stop| drop(stop.set(Arc::clone(&of_thread))));
    let threads = ThreadPoolBuilder::new().num_threads(count).start_handler(begin).build();
    let threads = threads.map_err(|e| Error::device("cpu", format!("cannot start {count} threads: {e}")))?;
    Ok(Pool { threads, stop })
}

/// Runs `work` on this many threads, 0 for one per core.
///
/// # Errors
/// [`Error::Device`] if the operating system refuses the threads, and the errors of `work`.
pub fn with<T: Send>(threads: usize, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    Threads::start(threads)?.run(work)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Silent;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::thread;

    fn now() -> Result<usize> {
        Ok(rayon::current_num_threads())
    }

    #[test]
    fn pieces_are_cleared_before_they_are_written() {
        let odd = |piece: usize, numbers: &mut [u16]| {
            let first = (10 * piece) as u16;
            (first..).zip(numbers).filter(|(n, _)| n % 2 == 1).for_each(|(n, number)| *number += n);
        };
        let expected: Vec<u16> = (0..33).map(|n| n % 2 * n).collect();
        assert_eq!(made_by_piece(33, 10, odd), expected);
        assert!(made_by_piece(0, 0, odd).is_empty());
        assert_eq!(mapped(&[1_u8, 2], 3, |&n| n * 2), [2, 4, 0, 0, 0]);
    }

    #[test]
    fn runs_that_are_under_way_together_share_threads_unless_they_take_long() {
        let threads = Threads::start(8).unwrap();
        let beside =
            |work: fn(&Threads) -> usize| thread::scope(|scope| scope.spawn(|| work(&threads)).join().unwrap());
        let shared = |threads: &Threads| threads.run(now).unwrap();
        let whole = |threads: &Threads| threads.run_watched(ThreadShare::All, &Silent, |_| now()).unwrap();
        assert_eq!(shared(&threads), 8);
        let both = threads.run(|| Ok((beside(shared), beside(whole), now()?))).unwrap();
        assert_eq!(both, (4, 8, 8));
        assert!(catch_unwind(AssertUnwindSafe(|| threads.run(|| -> Result<()> { panic!("on purpose") }))).is_err());
        assert_eq!(shared(&threads), 8);
    }
}
