//! Error messages in which options are placeholders, so that each caller can name them as its users type them.

use super::Setting;
use std::fmt::{self, Display, Formatter};

/// The most characters of a sentence, and the number that is kept of the end of a longer one.
const LONGEST: usize = 4000;
const TAIL: usize = 200;

/// What is wrong, and what to do about it if that is known. `Display` gives one line, with the names that options have
/// in this library.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Message {
    /// What is wrong.
    pub wrong: Vec<Piece>,
    /// What to do; empty if nothing is known to help.
    pub advice: Vec<Piece>,
}

/// A part of a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    Text(String),
    /// A placeholder for the name of an option.
    Setting(Setting),
}

impl Message {
    /// Appends `next` to the same sentence.
    pub fn then(mut self, next: &Self) -> Self {
        self.wrong.extend(next.wrong.iter().cloned());
        self.advice.extend(next.advice.iter().cloned());
        self
    }

    /// The message in one line, with options named by `name`.
    pub fn line(&self, name: impl Fn(Setting) -> String) -> String {
        let sentence = |pieces: &[Piece]| -> String {
            let piece = |piece: &Piece| match piece {
                Piece::Text(text) => text.clone(),
                Piece::Setting(setting) => name(*setting),
            };
            pieces.iter().map(piece).collect()
        };
        match (printable_line(&sentence(&self.wrong)), printable_line(&sentence(&self.advice))) {
            (wrong, advice) if advice.is_empty() => wrong,
            (wrong, advice) => format!("{wrong}; {advice}"),
        }
    }
}

/// Makes a text printable on one line: shortens it and replaces control characters, which may come from a file or its
/// name.
pub(super) fn printable_line(text: &str) -> String {
    let printable = |c: char| if c.is_control() { ' ' } else { c };
    match text.char_indices().nth(LONGEST) {
        None => text.chars().map(printable).collect(),
        Some((end, _)) => {
            let tail = text.char_indices().rev().nth(TAIL).map_or(0, |(start, _)| start);
            [&text[..end], " ... ", &text[tail..]].concat().chars().map(printable).collect()
        }
    }
}

impl Display for Message {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.line(Setting::quoted))
    }
}

/// In a text, the part after the first semicolon says what to do.
impl From<String> for Message {
    fn from(text: String) -> Self {
        let (wrong, advice) =
            text.split_once("; ").map_or((text.as_str(), None), |(wrong, advice)| (wrong, Some(advice)));
        let piece = |text: &str| Piece::Text(text.to_owned());
        Self { wrong: vec![piece(wrong)], advice: advice.map(piece).into_iter().collect() }
    }
}

impl From<&str> for Message {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

/// Makes a [`Message`] of texts, as `format!` takes them, and of options, given by the name of their [`Setting`] or as
/// an expression in braces. What to do follows after a semicolon:
/// `message!("{name} has no gradient"; "use ", Metric, " mattes")`.
macro_rules! message {
    ($($wrong:tt),+ $(; $($advice:tt),+)?) => {
        $crate::error::Message {
            wrong: vec![$($crate::error::piece!($wrong)),+],
            advice: vec![$($($crate::error::piece!($advice)),+)?],
        }
    };
}

/// One part of a [`message!`].
macro_rules! piece {
    ($text:literal) => {
        $crate::error::Piece::Text(format_args!($text).to_string())
    };
    ($setting:ident) => {
        $crate::error::Piece::Setting($crate::error::Setting::$setting)
    };
    ($setting:block) => {
        $crate::error::Piece::Setting($setting)
    };
}

pub(crate) use {message, piece};

#[cfg(test)]
mod tests {
    use super::Message;

    #[test]
    fn options_are_called_what_the_reader_calls_them() {
        let name = "nmi";
        let message = message!("{name} has no gradient"; "use ", Metric, " mattes, or another ", Optimizer);
        assert_eq!(message.to_string(), "nmi has no gradient; use `metric` mattes, or another `optimizer`");
        let flags = message.line(|setting| format!("--{}", setting.name()));
        assert_eq!(flags, "nmi has no gradient; use --metric mattes, or another --optimizer");
        assert_eq!(message!(Bins, " are few").to_string(), "`bins` are few");
    }

    #[test]
    fn what_a_file_says_of_itself_makes_no_second_line_and_no_endless_one() {
        let message = Message::from(format!("its kind is a\nb\0{}, which is unknown; correct\tit", "x".repeat(10_000)));
        let line = message.to_string();
        assert!(line.starts_with("its kind is a b xx") && line.ends_with("xx, which is unknown; correct it"), "{line}");
        assert!(line.len() < 5000 && !line.contains(char::is_control));
    }

    #[test]
    fn a_text_says_what_to_do_behind_its_semicolon() {
        assert_eq!(Message::from("is damaged; copy it again"), message!("is damaged"; "copy it again"));
        assert!(Message::from("is a folder").advice.is_empty());
    }
}
