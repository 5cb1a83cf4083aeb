//! What is printed.

use mireg::{Error, Result};
use std::io::{ErrorKind, Write};

/// A line on stderr. A closed stderr is no reason to stop.
pub fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Text on stdout. A reader that has seen enough (`mireg ... | head -1`) is no reason to complain.
pub fn print(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}

/// What a command is for, on stdout.
///
/// # Errors
/// [`Error::File`] where it cannot be written; a reader that has seen enough is none.
pub fn answer(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Error::file("standard output", error.to_string())),
        _ => Ok(()),
    }
}

/// One labelled line.
pub fn line(label: &str, text: &str) -> String {
    format!("{label:<12} {text}\n")
}
