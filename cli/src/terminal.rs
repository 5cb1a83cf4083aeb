//! What is printed.

use std::io::Write;

/// A line on stderr. A closed stderr is no reason to stop.
pub fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Text on stdout. A reader that has seen enough (`mireg ... | head -1`) is no reason to complain.
pub fn print(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}

/// One labelled line.
pub fn line(label: &str, text: &str) -> String {
    format!("{label:<12} {text}\n")
}
