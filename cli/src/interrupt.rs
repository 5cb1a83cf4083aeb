//! Ctrl-C and SIGTERM, which end a command at once. A command with files that are not yet in their final place removes
//! them first. A folder is removed by a thread of its own, whatever the command is doing; other files are removed at
//! the command's next step. A second signal ends such a command at once, too.

use std::fs::remove_dir_all;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use mireg::{Error, Result};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::{flag, low_level};

/// How often the thread that watches a folder checks for a signal.
const CHECK_INTERVAL: Duration = Duration::from_millis(10);

struct Signals {
    /// Whether the next signal ends the process.
    at_once: Arc<AtomicBool>,
    /// The number of the last signal; 0 for none.
    last: Arc<AtomicUsize>,
}

static SIGNALS: LazyLock<Signals> = LazyLock::new(|| {
    let signals = Signals { at_once: Arc::new(AtomicBool::new(true)), last: Arc::default() };
    for signal in [SIGINT, SIGTERM] {
        let Signals { at_once, last } = &signals;
        // If the system refuses the handlers, signals keep their default effect.
        let _ = flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(at_once))
            .and_then(|_| flag::register(signal, Arc::clone(at_once)))
            .and_then(|_| flag::register_usize(signal, Arc::clone(last), signal as usize));
    }
    signals
});

/// Installs the handlers of the signals.
pub fn listen() {
    LazyLock::force(&SIGNALS);
}

/// The folder that has to be removed before a signal may end the process. The thread that removes it keeps this locked
/// until the process ends, so that the folder cannot be moved meanwhile.
static FOLDER: Mutex<Option<PathBuf>> = Mutex::new(None);

fn folder() -> MutexGuard<'static, Option<PathBuf>> {
    FOLDER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// While this lives, the first signal ends the command at its next step instead of the process at once. Declare it
/// before what has to be removed, so that it is dropped later.
pub struct SignalGuard(());

impl SignalGuard {
    pub fn new() -> Self {
        SIGNALS.at_once.store(false, Ordering::SeqCst);
        Self(())
    }

    /// Removes the folder `temporary` as soon as there is a signal, without waiting for a step of the command; then
    /// calls `last` and ends the process.
    pub fn watch(&self, temporary: PathBuf, last: impl Fn() + Send + 'static) {
        *folder() = Some(temporary);
        // If the operating system refuses the thread, the command ends at its next step.
        let _ = thread::Builder::new().spawn(move || {
            loop {
                thread::sleep(CHECK_INTERVAL);
                let folder = folder();
                let Some(temporary) = &*folder else { return };
                // Other threads may still write to the folder, so removing it may take several attempts.
                if proceed().is_err() && remove_dir_all(temporary).is_ok() {
                    last();
                    low_level::exit(exit_code().into());
                }
            }
        });
    }

    /// Stops watching the folder, which is about to be moved to its final place.
    pub fn release(&self) {
        *folder() = None;
    }
}

impl Drop for SignalGuard {
    fn drop(&mut self) {
        self.release();
        SIGNALS.at_once.store(true, Ordering::SeqCst);
    }
}

/// Returns [`Error::Stopped`] after a signal. To be called between the steps of a command.
pub fn proceed() -> Result<()> {
    match SIGNALS.last.load(Ordering::SeqCst) {
        0 => Ok(()),
        _ => Err(Error::Stopped),
    }
}

/// Returns 128 plus the number of the signal, as shells do.
pub fn exit_code() -> u8 {
    128 + SIGNALS.last.load(Ordering::SeqCst) as u8
}
