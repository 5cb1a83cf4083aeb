//! Ctrl-C and SIGTERM. They end a command at once. One that holds files that are not yet in place first takes them away: a folder from a
//! thread of its own, whatever the command is at, other files at the command's next step. A second signal ends that one at once, too.

use std::fs::remove_dir_all;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use mireg::{Error, Result};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::{flag, low_level};

/// How often a command that holds a folder looks for a signal.
const LOOK: Duration = Duration::from_millis(10);

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
        // Where the system refuses, signals do what they do by themselves.
        let _ = flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(at_once))
            .and_then(|_| flag::register(signal, Arc::clone(at_once)))
            .and_then(|_| flag::register_usize(signal, Arc::clone(last), signal as usize));
    }
    signals
});

/// Hears signals from now on.
pub fn listen() {
    LazyLock::force(&SIGNALS);
}

/// What has to be taken away before the process may end. Whoever ends the process or moves the folder has it locked.
static FOLDER: Mutex<Option<PathBuf>> = Mutex::new(None);

fn folder() -> MutexGuard<'static, Option<PathBuf>> {
    FOLDER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// While it lives, the first signal ends the command at its next step. Declare it before what has to be taken away.
pub struct Held(());

impl Held {
    pub fn new() -> Self {
        SIGNALS.at_once.store(false, Ordering::SeqCst);
        Self(())
    }

    /// From now on a signal does not wait for a step: it takes this folder away, does what is `last` and ends the process.
    pub fn watch(&self, temporary: PathBuf, last: impl Fn() + Send + 'static) {
        *folder() = Some(temporary);
        // Where the operating system refuses the thread, the command ends at its next step.
        let _ = thread::Builder::new().spawn(move || {
            loop {
                thread::sleep(LOOK);
                let folder = folder();
                let Some(temporary) = &*folder else { return };
                // Other threads may be writing to it, so that it takes more than one attempt.
                if proceed().is_err() && remove_dir_all(temporary).is_ok() {
                    last();
                    low_level::exit(exit_code().into());
                }
            }
        });
    }

    /// The folder goes where it belongs: signals leave it alone.
    pub fn release(&self) {
        *folder() = None;
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.release();
        SIGNALS.at_once.store(true, Ordering::SeqCst);
    }
}

/// To be asked between the steps of a command.
pub fn proceed() -> Result<()> {
    match SIGNALS.last.load(Ordering::SeqCst) {
        0 => Ok(()),
        _ => Err(Error::Stopped),
    }
}

/// 128 and the number of the signal, as shells have it.
pub fn exit_code() -> u8 {
    128 + SIGNALS.last.load(Ordering::SeqCst) as u8
}
