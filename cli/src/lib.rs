//! The application `mireg`: reads arguments, calls the library, shows progress, writes results and reports.

mod arguments;
mod bench;
mod commands;
pub mod demo;
pub mod fault;
mod flags;
mod interrupt;
mod progress;
pub mod report;
mod summary;
mod transforms;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Parser;
use clap::error::ErrorKind;
use commands::Arguments;
use mireg::{Error, Result, Volume, io};

/// Bad usage has the code of bad input.
const BAD_INPUT: u8 = 2;

/// Runs the command that was typed and returns the exit code. `started`: when the process did.
pub fn run(started: Instant) -> u8 {
    interrupt::listen();
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return usage(&error),
    };
    let outcome = arguments.command.run(started);
    let Err(error) = outcome else { return 0 };
    say(&format!("mireg: {}", flags::error(&error)));
    exit_code(&error)
}

/// 1 for a registration that cannot be trusted, 2 for everything the user can mend, 130 or 143 for one that a signal stopped.
fn exit_code(error: &Error) -> u8 {
    match error {
        Error::Untrusted(_) => 1,
        Error::File { .. } | Error::Option { .. } | Error::Device { .. } => BAD_INPUT,
        Error::Stopped => interrupt::exit_code(),
    }
}

/// Help and version as clap prints them; errors in one line.
fn usage(error: &clap::Error) -> u8 {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            // Whoever closed the pipe has read enough.
            let _ = error.print();
            0
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = error.print();
            BAD_INPUT
        }
        _ => {
            say(&format!("mireg: {}", one_line(&error.to_string())));
            BAD_INPUT
        }
    }
}

/// clap's paragraphs without the usage, joined.
fn one_line(text: &str) -> String {
    let text = text.trim_start_matches("error: ");
    let paragraphs = text.split("\n\n").map(|part| part.split_whitespace().collect::<Vec<_>>().join(" "));
    let telling =
        paragraphs.filter(|part| !part.is_empty() && !part.starts_with("Usage:") && !part.starts_with("For more"));
    telling.chain(["see --help".into()]).collect::<Vec<_>>().join("; ")
}

/// Reads the fixed and the moving image at the same time.
fn read(fixed: &Path, moving: &Path) -> Result<(Volume, Volume)> {
    let (fixed, moving) = rayon::join(|| io::read(fixed), || io::read(moving));
    interrupt::proceed()?;
    Ok((fixed?, moving?))
}

/// Refuses an output that would replace an input.
fn keep_inputs<const N: usize>(output: &Path, inputs: [&PathBuf; N]) -> Result<()> {
    match replaced(output, inputs) {
        Some(input) => Err(Error::file(input, "the results would replace this input; choose another --out")),
        None => Ok(()),
    }
}

/// The input that is the same file as an output.
fn replaced<'a>(output: &Path, inputs: impl IntoIterator<Item = &'a PathBuf>) -> Option<&'a PathBuf> {
    let there = output.canonicalize().ok()?;
    inputs.into_iter().find(|input| input.canonicalize().is_ok_and(|input| input == there))
}

/// A line on stderr. A closed stderr is no reason to stop.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Text on stdout. A reader that has seen enough (`mireg ... | head -1`) is no reason to complain.
fn print(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_arguments_are_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn a_usage_error_is_one_line_with_the_tip() {
        let error = Arguments::try_parse_from(["mireg", "register", "a", "b", "--bin", "5"]).err().unwrap();
        let line = one_line(&error.to_string());
        assert!(!line.contains('\n') && line.contains("'--bin'") && line.contains("'--bins'"), "{line}");
    }
}
