//! The application `mireg`: reads arguments, calls the library, shows progress, writes results and reports.

mod arguments;
mod batch;
mod bench;
mod commands;
pub mod demo;
pub mod fault;
mod files;
mod flags;
pub mod held;
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

/// Bad usage has the code of bad input.
const BAD_INPUT: u8 = 2;

/// Runs the command that was typed and returns the exit code. `started`: when the process did; `words`: the command line, the program's
/// name first.
pub fn run(started: Instant, words: Vec<OsString>) -> u8 {
    interrupt::listen();
    let invocation = Invocation::new(started, words);
    let arguments = match Arguments::try_parse_from(&invocation.words) {
        Ok(arguments) => arguments,
        Err(error) => return usage(&error),
    };
    let outcome = arguments.command.run(&invocation);
    let Err(error) = outcome else { return 0 };
    // What is wrong with a file once a signal has taken its folder away is that signal.
    let error = match error {
        Error::File { .. } if interrupt::proceed().is_err() => Error::Stopped,
        error => error,
    };
    say(&line_of(&error));
    exit_code(&error)
}

/// An error as it is printed.
fn line_of(error: &Error) -> String {
    format!("mireg: {}", flags::error(error))
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
