//! Parses numbers in text, and reads files of limited size.

use std::path::Path;

use crate::Error;
use crate::io::source::Source;

/// The most bytes of a file that is read. Files of linear transforms have a few thousand.
const MOST: u64 = 1 << 20;

/// Parses numbers that are separated by white space.
pub fn numbers(text: &str) -> Result<Vec<f64>, String> {
    let number = |n: &str| {
        let finite = n.parse().ok().filter(|n: &f64| n.is_finite());
        finite.ok_or_else(|| format!("\"{}\" in it is no number; correct the file", printable_line(n)))
    };
    text.split_whitespace().map(number).collect()
}

/// Checks that the last line is terminated. If it is not, the file may be truncated.
pub fn check_last_line(text: &str) -> Result<(), String> {
    match text.ends_with('\n') {
        true => Ok(()),
        false => Err("ends inside a line, so it is truncated; copy it again, or end its last line".into()),
    }
}

/// The start of a word from a file, made printable on one line.
pub fn printable_line(word: &str) -> String {
    word.chars().filter(|c| !c.is_control()).take(80).collect()
}

/// Reads a file, unless it is too large to hold a linear transform.
pub fn content(path: &Path) -> crate::Result<Vec<u8>> {
    let bytes = Source::open(path)?.rest(MOST + 1)?;
    match bytes.len() as u64 > MOST {
        true => Err(Error::file(path, "is too large for a linear transform")),
        false => Ok(bytes),
    }
}
