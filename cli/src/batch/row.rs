//! A row of the table as a pair that can be registered.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Command;
use mireg::Result;

use super::inputs::{Key, Stamp};
use super::names::{DESCRIPTION, GALLERY, SUMMARY};
use super::options::{Given, Known};
use super::table::{Line, why};
use crate::invocation::Invocation;
use crate::report;

/// Runs the command of a row.
pub type Run = Box<dyn Fn(&Invocation) -> Result<()> + Send + Sync>;

/// Parses a command line, the program's name first, or says what is wrong with it.
pub type Parse<'a> = &'a mut dyn FnMut(&[OsString]) -> Result<Run, String>;

/// A pair to register.
pub struct Row {
    /// The name of its folder.
    pub id: String,
    /// A command line that gives the same results.
    pub words: Vec<OsString>,
    /// The fixed and the moving image.
    pub images: [PathBuf; 2],
    pub key: Key,
    pub run: Run,
}

impl Row {
    /// Returns a command line that gives the same results, as a shell reads it.
    pub fn command(&self) -> String {
        report::command(&self.words.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>())
    }
}

/// What is needed to make rows of a table.
pub struct RowContext<'a> {
    /// The folder that files in the table are relative to.
    pub folder: &'a Path,
    /// The folder in which the rows have their folders.
    pub out: &'a Path,
    /// The command of each row.
    pub command: &'a Command,
    /// The program's name as it was typed.
    pub program: &'a OsString,
    /// Options for all rows.
    pub options: &'a [String],
    /// Options of the study that the command line of each row has, too.
    pub all: &'a [String],
}

/// What a column holds.
pub enum Column<'a> {
    Id,
    Fixed,
    Moving,
    Option(&'a Known),
}

/// Makes rows of the cells of a table.
pub struct Maker<'a> {
    pub context: &'a RowContext<'a>,
    pub columns: &'a [Column<'a>],
    /// Options for all rows.
    pub typed: &'a [Given<'a>],
}

impl Maker<'_> {
    /// Returns the row, or all that is wrong with it.
    pub fn row(&self, line: &Line, parse: Parse) -> Result<Row, Vec<String>> {
        let mut faults = Vec::new();
        let RowContext { folder, out, command, program, all, .. } = self.context;
        let [id, fixed, moving] = self.names(line);
        faults.extend(unusable(id));
        let options = self.options(line, folder, &mut faults);
        let images = [fixed, moving].map(|name| folder.join(name));
        let inputs = inputs([fixed, moving], &images, &options, &mut faults);

        let [name, out]: [OsString; 2] = [command.get_name().into(), out.join(id).into()];
        let typed = images.clone().map(OsString::from);
        let start = [*program, &name, &typed[0], &typed[1], &"--out".into(), &out].map(OsString::clone);
        let words = |options: &[Given]| {
            start.iter().cloned().chain(options.iter().map(|given| given.word().into())).collect::<Vec<_>>()
        };
        let run = parse(&words(&options)).map_err(|fault| {
            // The parser stops at the first fault. Parsing each option alone finds the others.
            let alone: Vec<_> =
                options.iter().filter_map(|given| parse(&words(std::slice::from_ref(given))).err()).collect();
            if alone.is_empty() { vec![fault] } else { alone }
        });
        match run {
            Ok(run) if faults.is_empty() => {
                let words_given = [command.get_name(), fixed, moving].map(str::to_owned);
                let command = words_given.into_iter().chain(options.iter().map(Given::text)).collect();
                let key = Key { version: env!("CARGO_PKG_VERSION").to_owned(), command, inputs };
                let words = words(&options).into_iter().chain(all.iter().map(OsString::from)).collect();
                Ok(Row { id: id.to_owned(), words, images, key, run })
            }
            run => Err([faults, run.err().unwrap_or_default()].concat()),
        }
    }

    /// Returns the id, the fixed and the moving image.
    fn names<'a>(&self, line: &'a Line) -> [&'a str; 3] {
        let mut names = [""; 3];
        for (column, cell) in self.columns.iter().zip(&line.cells) {
            match column {
                Column::Id => names[0] = cell,
                Column::Fixed => names[1] = cell,
                Column::Moving => names[2] = cell,
                Column::Option(_) => {}
            }
        }
        names
    }

    /// Returns the options of a row: its own, and those for all rows that it does not give itself.
    fn options(&self, line: &Line, folder: &Path, faults: &mut Vec<String>) -> Vec<Given<'_>> {
        let cells = self.columns.iter().zip(&line.cells);
        let own = cells.filter_map(|(column, cell)| match column {
            Column::Option(option) if !cell.is_empty() => Some((*option, cell)),
            _ => None,
        });
        let own: Vec<_> = own.collect();
        let named = |given: &Given| own.iter().any(|(option, _)| option.name() == given.option.name());
        let mut options: Vec<_> = self.typed.iter().filter(|given| !named(given)).cloned().collect();
        for (option, cell) in own {
            match option.given(cell, folder) {
                Ok(given) => options.extend(given),
                Err(fault) => faults.push(fault),
            }
        }
        options
    }
}

/// Returns the stamps of all files that a row names.
fn inputs(names: [&str; 2], images: &[PathBuf; 2], options: &[Given], faults: &mut Vec<String>) -> Vec<Stamp> {
    let images = ["fixed", "moving"].into_iter().zip(names).zip(images);
    let images = images.map(|((column, name), path)| (column, name, path));
    let files = options.iter().filter_map(|given| Some((given.option.name(), &*given.value, given.file.as_ref()?)));
    let mut stamps = Vec::new();
    for (column, name, path) in images.chain(files) {
        match Stamp::of(path) {
            _ if name.is_empty() => faults.push(format!("{column} is empty; give a file")),
            Ok(stamp) => stamps.push(stamp),
            Err(e) => faults.push(format!("{column} {}: {}", path.display(), why(&e))),
        }
    }
    stamps
}

/// Returns why an id cannot be the name of a folder.
fn unusable(id: &str) -> Option<String> {
    let rule = "it names a folder: letters, digits, - and _ are safe";
    let bad = |c: char| c.is_control() || "/\\:*?\"<>|#%".contains(c);
    let why = match id {
        "" => "the id is empty".to_owned(),
        _ if id.starts_with('.') || id.ends_with('.') => format!("id {id} begins or ends with a dot"),
        _ if id.len() > 200 => format!("id {id} is longer than 200 bytes"),
        _ if [SUMMARY, GALLERY, DESCRIPTION].contains(&&*id.to_lowercase()) => {
            format!("id {id} is a file's name")
        }
        _ => format!("id {id} has a {:?}", id.chars().find(|&c| bad(c))?),
    };
    Some(format!("{why}; {rule}"))
}
