//! Ctrl-C and SIGTERM. They end a command at once; one that holds files that are not yet in place ends at its next step, so that it can take
//! them away. A second signal ends that one at once, too.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use mireg::{Error, Result};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

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

/// While it lives, the first signal ends the command at its next step. Declare it before what has to be taken away.
pub struct Held(());

impl Held {
    pub fn new() -> Self {
        SIGNALS.at_once.store(false, Ordering::SeqCst);
        Self(())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
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
