//! How the program was called.

use std::ffi::OsString;
use std::time::Instant;

/// What a command knows of the process; nothing else asks for it.
pub struct Invocation {
    /// When the process started.
    pub started: Instant,
    /// The command line as it was typed, a part per argument.
    pub words: Vec<OsString>,
}

impl Invocation {
    /// The command line as text.
    pub fn command(&self) -> Vec<String> {
        self.words.iter().map(|word| word.to_string_lossy().into_owned()).collect()
    }
}
