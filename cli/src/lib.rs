//! The application `mireg`: reads arguments, calls the library, shows progress, writes results and reports.

mod arguments;
mod batch;
mod bench;
mod commands;
pub mod demo;
pub mod fault;
mod files;
mod flags;
pub mod in_memory;
mod interrupt;
mod invocation;
mod job;
mod loaded;
pub mod memory;
mod opening;
mod progress;
mod report;
mod terminal;
mod transforms;

use std::ffi::OsString;
use std::time::Instant;

use clap::Parser;
use clap::error::ErrorKind;
use commands::Arguments;
use invocation::Invocation;
use mireg::Error;
use terminal::say;

/// Exit code of bad input, and of wrong usage of the command line.
const BAD_INPUT: u8 = 2;

/// Runs a command line and returns the exit code. `started` is when the process started; `words` is the command line,
/// the program's name first.
pub fn run(started: Instant, words: Vec<OsString>) -> u8 {
    interrupt::listen();
    let invocation = Invocation::new(started, words);
    let arguments = match Arguments::try_parse_from(&invocation.words) {
        Ok(arguments) => arguments,
        Err(error) => return usage(&error),
    };
    let outcome = arguments.command.run(&invocation);
    let Err(error) = outcome else { return 0 };
    // A signal removes the output folder. A file error that follows from this is reported as that signal.
    let error = match error {
        Error::File { .. } if interrupt::proceed().is_err() => Error::Stopped,
        error => error,
    };
    say(&line_of(&error));
    exit_code(&error)
}

/// Returns the line that is printed for an error.
fn line_of(error: &Error) -> String {
    format!("mireg: {}", flags::error(error))
}

/// Returns the exit code of an error: 1 for a result that should not be used, 2 for what the user can correct, and 130
/// or 143 after a signal.
fn exit_code(error: &Error) -> u8 {
    match error {
        Error::Untrusted(_) => 1,
        Error::File { .. } | Error::Option { .. } | Error::Device { .. } => BAD_INPUT,
        Error::Stopped => interrupt::exit_code(),
    }
}

/// Prints help and version as clap does, and errors in one line. Returns the exit code.
fn usage(error: &clap::Error) -> u8 {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            // This fails only if the reader has closed the pipe, which is no error.
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

/// Joins the paragraphs of an error of clap, without the usage, to one line.
fn one_line(text: &str) -> String {
    let text = text.trim_start_matches("error: ");
    let paragraphs = text.split("\n\n").map(|part| part.split_whitespace().collect::<Vec<_>>().join(" "));
    let telling =
        paragraphs.filter(|part| !part.is_empty() && !part.starts_with("Usage:") && !part.starts_with("For more"));
    telling.chain(["see --help".into()]).collect::<Vec<_>>().join("; ")
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
