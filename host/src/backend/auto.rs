//! The backend `auto`: uses the CPU from the start, and opens a GPU as soon as it would save more time than opening it
//! takes. Both give the same bits.

use super::cpu::Cpu;
use super::gpu::Gpu;
use super::interface::Backend;
use super::open::BackendKind;
use super::queue::cuda;
use crate::{Observer, Result};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// The time that opening a GPU costs a process, in seconds: 0.2 to 0.3 to open it, and 0.1 more when the process ends
/// (measured on an H200).
const OPENING: f64 = 0.35;

/// Estimated durations of a piece of work, in seconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Work {
    pub on_cpu: f64,
    /// On a GPU that is already open.
    pub on_gpu: f64,
}

impl Work {
    /// The time that a GPU, already open, would save.
    fn saving(self) -> f64 {
        self.on_cpu - self.on_gpu
    }
}

/// The CPU, and a GPU that is opened when the work justifies it.
pub(crate) struct Auto {
    gpu: Gpu,
    /// Seconds that a GPU would have saved so far, had it been open.
    missed: Mutex<f64>,
    /// Whether an observer was already told why there is no GPU.
    noted: AtomicBool,
}

impl Auto {
    /// Opens nothing yet. Notifies the observer if there is no driver.
    pub fn new(observer: &dyn Observer) -> Self {
        let auto = Self { gpu: Gpu::default(), missed: Mutex::default(), noted: AtomicBool::new(false) };
        if !cuda::has_driver() {
            auto.best_with_note(observer);
        }
        auto
    }

    /// Registers the start of a run of estimated duration `work`, and returns where to do it. The run waits for a GPU
    /// if the time that one would have saved so far, this run included, exceeds the time to open it.
    pub fn run(&self, work: Work) -> Chosen<'_> {
        let mut missed = self.missed.lock().unwrap_or_else(PoisonError::into_inner);
        *missed += work.saving().max(0.0);
        Chosen::Auto { auto: self, waits: *missed > OPENING }
    }

    /// Returns the GPU if there is one, else the CPU. Opens the GPU whatever the amount of work.
    pub fn best(&self) -> &dyn Backend {
        match self.gpu.open() {
            Ok(cuda) => cuda,
            Err(_) => &Cpu,
        }
    }

    /// Does what [`Auto::best`] does, and if that is the CPU, tells the reason to the first observer.
    fn best_with_note(&self, observer: &dyn Observer) -> &dyn Backend {
        if let Err(reason) = self.gpu.open()
            && !self.noted.swap(true, Relaxed)
        {
            observer.note(&format!("{reason}: using the CPU"));
        }
        self.best()
    }

    /// Whether a GPU is open.
    pub fn has_gpu(&self) -> bool {
        self.gpu.opened().is_some()
    }

    /// Seconds that opening the GPU took.
    pub fn opening_seconds(&self) -> f64 {
        self.gpu.seconds()
    }
}

/// The backend that was chosen for a run.
#[derive(Clone, Copy)]
pub(crate) enum Chosen<'a> {
    /// The backend that was asked for.
    One(&'a dyn Backend, BackendKind),
    /// A GPU, which was asked for and is possibly still being opened.
    Gpu(&'a Gpu),
    Auto {
        auto: &'a Auto,
        /// Whether the run is long enough to wait for the GPU to be opened.
        waits: bool,
    },
}

impl<'a> Chosen<'a> {
    /// Returns the backend that can begin first: with `auto` the GPU if it is open already, else the CPU.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) if a GPU was asked for and there is none.
    pub fn first_ready(self) -> Result<&'a dyn Backend> {
        Ok(match self {
            Self::One(backend, _) => backend,
            Self::Gpu(gpu) => gpu.open()?,
            Self::Auto { auto, .. } => auto.gpu.opened().map_or(&Cpu as &dyn Backend, |cuda| cuda),
        })
    }

    /// Does `work` while a GPU is being opened, if the run is to wait for one. The thread that opens it has ended when
    /// this returns, because a process must not end while a driver starts.
    pub fn while_opening<T>(self, work: impl FnOnce() -> T) -> T {
        match self {
            Self::Auto { auto, waits: true } if !auto.gpu.was_tried() => thread::scope(|scope| {
                // If no thread can be started, the GPU is opened later, by whoever waits for it.
                let _ = thread::Builder::new().spawn_scoped(scope, || auto.gpu.open().is_ok());
                work()
            }),
            _ => work(),
        }
    }

    /// Returns the backend on which the run is finished first. Tells the observer if that would be a GPU but there is
    /// none.
    ///
    /// # Errors
    /// As [`Chosen::first_ready`].
    pub fn fastest(self, observer: &dyn Observer) -> Result<&'a dyn Backend> {
        match self {
            Self::Auto { auto, waits: true } => Ok(auto.best_with_note(observer)),
            _ => self.first_ready(),
        }
    }

    /// The backend that the caller asked for.
    pub fn requested(self) -> BackendKind {
        match self {
            Self::One(_, asked) => asked,
            Self::Gpu(_) => BackendKind::Cuda,
            Self::Auto { .. } => BackendKind::Auto,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Silent;

    const SHORT: Work = Work { on_cpu: 0.15, on_gpu: 0.05 };
    const LONG: Work = Work { on_cpu: 60.0, on_gpu: 1.0 };

    fn waits(chosen: Chosen) -> bool {
        matches!(chosen, Chosen::Auto { waits: true, .. })
    }

    #[test]
    fn a_gpu_is_opened_for_a_long_run_or_for_many_short_ones() {
        let auto = Auto::new(&Silent);
        assert!((0..3).all(|_| !waits(auto.run(SHORT))));
        let many = (0..3).map(|_| auto.run(SHORT)).last().unwrap();
        assert!(waits(many) && waits(auto.run(SHORT)));
        assert!(waits(Auto::new(&Silent).run(LONG)));
    }

    #[test]
    fn what_a_gpu_would_not_save_counts_for_nothing() {
        let auto = Auto::new(&Silent);
        assert!((0..100).all(|_| !waits(auto.run(Work { on_cpu: 0.01, on_gpu: 0.05 }))));
    }

    #[test]
    fn work_beside_the_opening_is_done_and_the_opening_too() {
        let auto = Auto::new(&Silent);
        let chosen = auto.run(LONG);
        let name = || chosen.first_ready().unwrap().name();
        assert_eq!(chosen.while_opening(|| name().len()), name().len());
        assert!(auto.gpu.was_tried());
    }

    #[test]
    fn a_run_is_on_the_cpu_until_a_gpu_is_open() {
        let auto = Auto::new(&Silent);
        let chosen = auto.run(SHORT);
        let first_ready = chosen.first_ready().unwrap().name();
        assert_eq!(first_ready, if auto.has_gpu() { "cuda" } else { "cpu" });
        assert_eq!(chosen.fastest(&Silent).unwrap().name(), first_ready);
        let opened = auto.run(LONG).fastest(&Silent).unwrap().name();
        assert_eq!(opened, if auto.has_gpu() { "cuda" } else { "cpu" });
        assert_eq!(auto.best().name(), opened);
    }
}
