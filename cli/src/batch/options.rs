//! The options of a row's command: those that the columns of a table give, and those that the command line gives for
//! all rows.

use std::any::TypeId;
use std::path::{Path, PathBuf};

use clap::{ArgAction, Command};

use crate::arguments::search::Start;

/// Options that belong to the study and not to its rows.
const OF_THE_STUDY: [&str; 5] = ["out", "quiet", "backend", "threads", "help"];

/// An option of a command.
pub struct Known {
    names: Vec<String>,
    takes: Takes,
    /// Whether it may be given several times.
    repeats: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Takes {
    /// A flag: yes or no.
    Nothing,
    Value,
    File,
    /// A file, or the name of an initialisation.
    Start,
}

/// An option with its value, as it was given.
#[derive(Clone)]
pub struct Given<'a> {
    pub option: &'a Known,
    pub value: String,
    /// The file that the value names, if it does.
    pub file: Option<PathBuf>,
}

impl Known {
    /// Returns the options of a command that a row may have.
    pub fn all(command: &Command) -> Vec<Self> {
        let options = command.get_arguments().filter_map(|argument| {
            let names = argument.get_long_and_visible_aliases()?;
            let of = argument.get_value_parser().type_id();
            let takes = match argument.get_action() {
                ArgAction::Set | ArgAction::Append if of == TypeId::of::<PathBuf>() => Takes::File,
                ArgAction::Set | ArgAction::Append if of == TypeId::of::<Start>() => Takes::Start,
                ArgAction::Set | ArgAction::Append => Takes::Value,
                _ => Takes::Nothing,
            };
            let repeats = matches!(argument.get_action(), ArgAction::Append);
            Some(Self { names: names.into_iter().map(str::to_owned).collect(), takes, repeats })
        });
        options.filter(|option| !OF_THE_STUDY.contains(&option.name())).collect()
    }

    pub fn name(&self) -> &str {
        &self.names[0]
    }

    /// Whether several columns, or several words of the command line, may give it.
    pub fn repeats(&self) -> bool {
        self.repeats
    }

    /// Returns the option of this name, in which `_` counts as `-`.
    ///
    /// # Errors
    /// What is wrong with the name.
    pub fn find<'a>(all: &'a [Self], name: &str, command: &str) -> Result<&'a Self, String> {
        let plain = name.replace('_', "-");
        if OF_THE_STUDY.contains(&plain.as_str()) {
            return Err(format!("{name} belongs to the study and not to its rows; give --{plain} to mireg batch"));
        }
        let found = all.iter().find(|option| option.names.contains(&plain));
        found.ok_or_else(|| format!("{name} is no option of mireg {command}; see mireg {command} --help"))
    }

    /// Returns the option with a value; `None` for a flag that is not set. If the value names a file, it is relative to
    /// `folder`.
    ///
    /// # Errors
    /// What is wrong with the value.
    pub fn given(&self, value: &str, folder: &Path) -> Result<Option<Given<'_>>, String> {
        let given = |file| Some(Given { option: self, value: value.to_owned(), file });
        match self.takes {
            Takes::Nothing => match value.to_ascii_lowercase().as_str() {
                "yes" | "true" | "1" => Ok(Some(Given { option: self, value: String::new(), file: None })),
                "no" | "false" | "0" => Ok(None),
                _ => Err(format!("{value} is no value of {}; write yes or no", self.name())),
            },
            Takes::File => Ok(given(Some(folder.join(value)))),
            Takes::Start if matches!(value.parse(), Ok(Start::File(_))) => Ok(given(Some(folder.join(value)))),
            Takes::Start | Takes::Value => Ok(given(None)),
        }
    }

    /// Parses the options of a command line. Files are relative to the working folder.
    ///
    /// # Errors
    /// What is wrong with the first word that is wrong.
    pub fn typed<'a>(all: &'a [Self], words: &[String], command: &str) -> Result<Vec<Given<'a>>, String> {
        let mut words = words.iter();
        let mut typed: Vec<Given<'a>> = Vec::new();
        while let Some(word) = words.next() {
            let option = word.strip_prefix("--").ok_or_else(|| format!("{word} is no option; they begin with --"))?;
            let (name, value) = option.split_once('=').map_or((option, None), |(name, value)| (name, Some(value)));
            let option = Self::find(all, name, command)?;
            let value = match (option.takes, value) {
                (Takes::Nothing, value) => value.unwrap_or("yes"),
                (_, Some(value)) => value,
                (_, None) => words.next().ok_or_else(|| format!("--{name} has no value"))?,
            };
            if !option.repeats && typed.iter().any(|given| given.option.name() == option.name()) {
                return Err(format!("--{name} is there twice"));
            }
            typed.extend(option.given(value, Path::new(""))?);
        }
        Ok(typed)
    }
}

impl Given<'_> {
    /// Returns the option as a word of a command line.
    pub fn word(&self) -> String {
        let value = self.file.as_ref().map_or_else(|| self.value.clone(), |file| file.display().to_string());
        self.written(&value)
    }

    /// Returns the option as it was given: files are as the table names them.
    pub fn text(&self) -> String {
        self.written(&self.value)
    }

    fn written(&self, value: &str) -> String {
        match self.option.takes {
            Takes::Nothing => format!("--{}", self.option.name()),
            _ => format!("--{}={value}", self.option.name()),
        }
    }
}
