//! How a command was called.

use std::ffi::OsString;
use std::path::Path;
use std::time::Instant;

use mireg::io::OutputFolder;
use mireg::{Engine, Result};
use serde_json::Value;

/// What a command knows of the process; nothing else asks for it.
pub struct Invocation<'a> {
    /// When the process started, or the row of a table.
    pub started: Instant,
    /// The command line as it was typed, a part per argument.
    pub words: Vec<OsString>,
    /// The row of a table that is registered beside others; none for a command of its own.
    pub row: Option<&'a dyn Row>,
}

/// What a registration takes from the process around it where it is one of many. It prints nothing then and leaves signals alone.
pub trait Row: Sync {
    /// The engine that all share.
    fn engine(&self) -> &Engine;
    /// Where temporary folders lie.
    fn temporary(&self) -> &Path;
    /// Moves the results to their place. `report`: the content of report.json.
    ///
    /// # Errors
    /// [`mireg::Error::File`] where they cannot be moved.
    fn place(&self, folder: OutputFolder, report: Value) -> Result<()>;
}

impl Invocation<'_> {
    /// A command of its own.
    pub fn new(started: Instant, words: Vec<OsString>) -> Self {
        Self { started, words, row: None }
    }

    /// The command line as text.
    pub fn command(&self) -> Vec<String> {
        self.words.iter().map(|word| word.to_string_lossy().into_owned()).collect()
    }
}
