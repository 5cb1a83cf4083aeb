//! Converts the library's messages to the words of the command line: settings are named by their flags.

use mireg::Error;
use mireg::error::{Message, Setting};

/// Returns an error as one line.
pub fn error(error: &Error) -> String {
    error.line(flag)
}

/// Returns a message as one line.
pub fn message(message: &Message) -> String {
    message.line(flag)
}

/// Returns the flag of a setting.
fn flag(setting: Setting) -> String {
    let name = match setting {
        Setting::Interpolator => "interpolation",
        Setting::SmoothMm => "smooth",
        Setting::SmoothFieldMm => "smooth-field",
        Setting::TransformFormat => "from",
        setting => return format!("--{}", setting.name().replace('_', "-")),
    };
    format!("--{name}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::Arguments;
    use clap::CommandFactory;
    use strum::VariantArray;

    #[test]
    fn each_option_of_the_library_has_a_flag_of_a_command() {
        let mireg = Arguments::command();
        let known: Vec<String> = mireg
            .get_subcommands()
            .flat_map(|command| command.get_arguments().filter_map(|argument| argument.get_long()))
            .map(|long| format!("--{long}"))
            .collect();
        for &setting in Setting::VARIANTS {
            assert!(known.contains(&flag(setting)), "{setting:?}");
        }
    }
}
