//! Handles panics, which are bugs of mireg: one line asks the user to report it, and the exit code is one that no bad
//! input has.

use std::panic::{PanicHookInfo, UnwindSafe, catch_unwind};
use std::sync::Once;

/// The exit code after a panic: EX_SOFTWARE of sysexits.h.
const FAULT: u8 = 70;

/// Runs `command`; a panic in it becomes one line on stderr, and a backtrace where RUST_BACKTRACE asks for one.
pub fn guard(command: impl FnOnce() -> u8 + UnwindSafe) -> u8 {
    let usual = std::panic::take_hook();
    let verbose = std::env::var_os("RUST_BACKTRACE").is_some_and(|value| value != "0");
    // If several threads panic, only the first one is reported.
    let once = Once::new();
    std::panic::set_hook(Box::new(move |info| {
        once.call_once(|| crate::terminal::say(&line(info)));
        if verbose {
            usual(info);
        }
    }));
    catch_unwind(command).unwrap_or(FAULT)
}

/// Returns the line that reports a panic.
pub fn line(info: &PanicHookInfo<'_>) -> String {
    let text = info.payload_as_str().unwrap_or("no message").replace('\n', " ");
    let place = info.location().map_or("an unknown place".into(), ToString::to_string);
    let version = env!("CARGO_PKG_VERSION");
    format!("mireg: a fault in mireg {version} itself, at {place}: {text}; please report this line and the command")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_exit_code_70() {
        assert_eq!(guard(|| panic!("planted")), FAULT);
        let _ = std::panic::take_hook();
    }
}
