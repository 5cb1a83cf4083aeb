//! Prints to the terminal.

use mireg::{Error, Result};
use std::io::{ErrorKind, Write};

/// Prints a line on stderr. Errors are ignored: a closed stderr does not stop a command.
pub fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Prints text on stdout. Errors are ignored, as when the reader has closed the pipe (`mireg ... | head -1`).
pub fn print(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}

/// Prints on stdout what the command was called for, such as values of a metric.
///
/// # Errors
/// [`Error::File`] if it cannot be written. That the reader has closed the pipe is no error.
pub fn answer(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Error::file("standard output", error.to_string())),
        _ => Ok(()),
    }
}

/// Returns a line with a label.
pub fn line(label: &str, text: &str) -> String {
    format!("{label:<12} {text}\n")
}
