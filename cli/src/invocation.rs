//! How a command was called.

use std::ffi::OsString;
use std::path::Path;
use std::time::Instant;

use mireg::io::OutputFolder;
use mireg::{Engine, Result};
use serde_json::Value;

/// What a command knows about the process in which it runs.
pub struct Invocation<'a> {
    /// When the process started; for a row of a table, when the row did.
    pub started: Instant,
    /// The command line as it was typed, a part per argument.
    pub words: Vec<OsString>,
    /// What `mireg batch` provides, if the command is a row of its table; `None` for a command of its own.
    pub row: Option<&'a dyn Row>,
}

/// What `mireg batch` provides to a registration that is one row of its table. Such a registration prints nothing and
/// does not handle signals.
pub trait Row: Sync {
    /// Returns the engine on which the row is registered. Other rows may use it at the same time.
    fn engine(&self) -> &Engine;
    /// Returns the folder in which temporary folders are made.
    fn temporary(&self) -> &Path;
    /// Moves the results from `folder` to their final place. `report` is the content of report.json.
    ///
    /// # Errors
    /// [`mireg::Error::File`] where they cannot be moved.
    fn place(&self, folder: OutputFolder, report: Value) -> Result<()>;
}

impl Invocation<'_> {
    /// Creates the invocation of a command that is not a row of a table.
    pub fn new(started: Instant, words: Vec<OsString>) -> Self {
        Self { started, words, row: None }
    }

    /// Returns the command line as text.
    pub fn command(&self) -> Vec<String> {
        self.words.iter().map(|word| word.to_string_lossy().into_owned()).collect()
    }
}
