//! Reads a folder: its DICOM images, and the files that are left out.

use std::path::{Path, PathBuf};

use super::file;
use super::image_file::{Found, ImageFile};
use crate::Error;
use crate::error::{Message, message};
use crate::io::source::reason;

/// The most files that a message names.
const NAMED: usize = 8;

/// The files of a folder.
#[derive(Default)]
pub struct Folder {
    pub images: Vec<ImageFile>,
    pub left_out: LeftOut,
}

/// Files that are not read.
#[derive(Default)]
pub struct LeftOut {
    /// Files that do not belong to the series: the name, and what the file is.
    files: Vec<(String, String)>,
    /// Files that may belong to the series but cannot be read: the name, and the reason.
    damaged: Vec<(String, String)>,
}

impl Folder {
    /// Reads all but the pixels of every file in `folder`, in the order of their names.
    pub fn read(folder: &Path) -> crate::Result<Self> {
        let unreadable = |e: std::io::Error| Error::file(folder, reason(&e));
        let entries = std::fs::read_dir(folder).map_err(unreadable)?.map(|entry| Ok(entry?.path()));
        let mut paths = entries.collect::<std::io::Result<Vec<PathBuf>>>().map_err(unreadable)?;
        paths.sort();
        let mut found = Self::default();
        for path in paths.iter().filter(|path| path.is_file()) {
            match ImageFile::open(path)? {
                Found::Image(image) => found.images.push(image),
                Found::Other(what) => found.left_out.file(path, what),
                Found::Damaged(why) => found.left_out.damaged(path, &why),
            }
        }
        Ok(found)
    }
}

impl LeftOut {
    /// Adds a file that is not an image of the series. `what` says what it is.
    pub fn file(&mut self, path: &Path, what: String) {
        self.files.push((file::name(path), what));
    }

    /// Adds a file that cannot be read. `why` is the reason.
    pub fn damaged(&mut self, path: &Path, why: &str) {
        // Leaves out what to do, which follows after the semicolon.
        let why = why.split("; ").next().unwrap_or_default();
        self.damaged.push((file::name(path), why.to_owned()));
    }

    /// Forgets the files that certainly do not belong to the series.
    pub fn only_damaged(self) -> Self {
        Self { files: Vec::new(), ..self }
    }

    /// A note for the user on the files that were left out.
    pub fn note(&self) -> Option<Message> {
        let list = self.damaged.iter().chain(&self.files);
        let count = self.damaged.len() + self.files.len();
        let named = named(list, count);
        let files = if count == 1 { "file" } else { "files" };
        (count > 0).then(|| message!("left out {count} {files}: {named}"))
    }

    /// Adds to an error about the series which of its files could not be read.
    pub fn mentioned_in(&self, error: Error) -> Error {
        match error {
            Error::File { path, mut message } if !self.damaged.is_empty() => {
                let named = named(self.damaged.iter(), self.damaged.len());
                message.wrong.extend(message!(", without {named}").wrong);
                Error::File { path, message }
            }
            error => error,
        }
    }
}

/// Lists the first of `count` files, with what each is.
fn named<'a>(files: impl Iterator<Item = &'a (String, String)>, count: usize) -> String {
    let first: Vec<String> = files.take(NAMED).map(|(name, what)| format!("{name} ({what})")).collect();
    match count.saturating_sub(NAMED) {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}
