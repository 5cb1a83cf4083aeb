//! `auto`: the CPU at once, and the GPU once it is worth the time that opening it takes. Either gives the same bits.

use super::cpu::Cpu;
use super::gpu::Gpu;
use super::interface::Backend;
use super::open::BackendKind;
use super::queue::cuda;
use crate::{Observer, Result};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// What opening a GPU costs a process, seconds: 0.2 to 0.3 until it is open, and 0.1 more when the process ends (measured on an H200).
const OPENING: f64 = 0.35;

/// How long something takes, seconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Work {
    pub on_cpu: f64,
    /// On a GPU that is open.
    pub on_gpu: f64,
}

impl Work {
    /// What an open GPU would save.
    fn saving(self) -> f64 {
        self.on_cpu - self.on_gpu
    }
}

/// The CPU, and perhaps a GPU beside it.
pub(crate) struct Auto {
    gpu: Gpu,
    /// Seconds that an open GPU would have saved so far.
    missed: Mutex<f64>,
    /// Whether an observer knows why there is no GPU.
    told: AtomicBool,
}

impl Auto {
    /// Nothing is opened yet. The observer hears where there is no driver.
    pub fn new(observer: &dyn Observer) -> Self {
        let auto = Self { gpu: Gpu::default(), missed: Mutex::default(), told: AtomicBool::new(false) };
        if !cuda::has_driver() {
            auto.told(observer);
        }
        auto
    }

    /// A run that takes so long begins: a GPU is opened for it once what it would have saved so far pays for that.
    pub fn run(&self, work: Work) -> Chosen<'_> {
        let mut missed = self.missed.lock().unwrap_or_else(PoisonError::into_inner);
        *missed += work.saving().max(0.0);
        Chosen::Auto { auto: self, waits: *missed > OPENING }
    }

    /// The GPU if there is one, else the CPU: as if all that is to come were worth opening it.
    pub fn best(&self) -> &dyn Backend {
        match self.gpu.open() {
            Ok(cuda) => cuda,
            Err(_) => &Cpu,
        }
    }

    /// The same; the first observer hears where it is the CPU, and why.
    fn told(&self, observer: &dyn Observer) -> &dyn Backend {
        if let Err(reason) = self.gpu.open()
            && !self.told.swap(true, Relaxed)
        {
            observer.note(&format!("{reason}: using the CPU"));
        }
        self.best()
    }

    /// Whether a GPU is open.
    pub fn has_gpu(&self) -> bool {
        self.gpu.opened().is_some()
    }

    /// Seconds that opening a GPU took.
    pub fn opening_seconds(&self) -> f64 {
        self.gpu.seconds()
    }
}

/// Where a run is done.
#[derive(Clone, Copy)]
pub(crate) enum Chosen<'a> {
    /// On what was asked for.
    One(&'a dyn Backend, BackendKind),
    /// On the GPU, which was asked for and may be opened meanwhile.
    Gpu(&'a Gpu),
    Auto {
        auto: &'a Auto,
        /// Whether the GPU is worth waiting for.
        waits: bool,
    },
}

impl<'a> Chosen<'a> {
    /// What can begin at once.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) where a GPU was asked for and there is none.
    pub fn at_once(self) -> Result<&'a dyn Backend> {
        Ok(match self {
            Self::One(backend, _) => backend,
            Self::Gpu(gpu) => gpu.open()?,
            Self::Auto { auto, .. } => auto.gpu.opened().map_or(&Cpu as &dyn Backend, |cuda| cuda),
        })
    }

    /// Does work that can begin before a GPU is open, beside opening it where that is worth it. No thread is left behind: a process must
    /// not end while a driver starts.
    pub fn beside<T>(self, work: impl FnOnce() -> T) -> T {
        match self {
            Self::Auto { auto, waits: true } if !auto.gpu.is_known() => thread::scope(|scope| {
                // Where no thread can be had, it is opened when it is waited for.
                let _ = thread::Builder::new().spawn_scoped(scope, || auto.gpu.open().is_ok());
                work()
            }),
            _ => work(),
        }
    }

    /// What is done first. The observer hears where there was to be a GPU, and is none.
    ///
    /// # Errors
    /// As [`Chosen::at_once`].
    pub fn soonest(self, observer: &dyn Observer) -> Result<&'a dyn Backend> {
        match self {
            Self::Auto { auto, waits: true } => Ok(auto.told(observer)),
            _ => self.at_once(),
        }
    }

    /// What was asked for.
    pub fn asked(self) -> BackendKind {
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
        let name = || chosen.at_once().unwrap().name();
        assert_eq!(chosen.beside(|| name().len()), name().len());
        assert!(auto.gpu.is_known());
    }

    #[test]
    fn a_run_is_on_the_cpu_until_a_gpu_is_open() {
        let auto = Auto::new(&Silent);
        let chosen = auto.run(SHORT);
        let at_once = chosen.at_once().unwrap().name();
        assert_eq!(at_once, if auto.has_gpu() { "cuda" } else { "cpu" });
        assert_eq!(chosen.soonest(&Silent).unwrap().name(), at_once);
        let opened = auto.run(LONG).soonest(&Silent).unwrap().name();
        assert_eq!(opened, if auto.has_gpu() { "cuda" } else { "cpu" });
        assert_eq!(auto.best().name(), opened);
    }
}
