//! The record in a row's folder, which says what the row was made from and how it ended.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use mireg::{Error, Result};
use serde::{Deserialize, Serialize};

use super::facts::Facts;
use super::inputs::Key;
use crate::files;

/// The file name of the record. It is moved to its place after all other files.
pub const RECORD: &str = "batch.json";

/// How a row ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    pub key: Key,
    /// A command line that gives the same results.
    pub command: Vec<String>,
    /// The files beside it, and their sizes in bytes.
    pub files: BTreeMap<String, u64>,
    #[serde(flatten)]
    pub end: End,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "lowercase")]
pub enum End {
    /// With results, which may have failed their checks.
    Done(Facts),
    /// Without results. The line says why.
    Failed { error: String },
}

impl Record {
    /// Reads the record of a folder. Returns `None` if there is no complete one, and if a file that it lists is missing
    /// or has another size: a full disk or a crash may leave empty files.
    pub fn read(folder: &Path) -> Option<Self> {
        let record: Self = serde_json::from_slice(&fs::read(folder.join(RECORD)).ok()?).ok()?;
        let whole =
            |(name, &bytes): (&String, &u64)| folder.join(name).metadata().is_ok_and(|file| file.len() == bytes);
        record.files.iter().all(whole).then_some(record)
    }

    /// Writes the record to a folder that is not yet in its final place.
    ///
    /// # Errors
    /// [`Error::File`] where it cannot be written.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let path = folder.join(RECORD);
        let text = serde_json::to_string_pretty(self).map_err(|e| Error::file(&path, e.to_string()))?;
        files::write(&path, text + "\n")
    }

    /// Returns whether the row failed.
    pub fn failed(&self) -> bool {
        matches!(self.end, End::Failed { .. })
    }

    /// Returns whether there are results that passed their checks.
    pub fn trusted(&self) -> bool {
        matches!(&self.end, End::Done(facts) if facts.trusted())
    }
}

/// Removes the results of an earlier run from a folder, so that they are never mistaken for results of these inputs and
/// options. Files that mireg did not write stay.
///
/// # Errors
/// [`Error::File`] for a file that cannot be removed.
pub fn forget(folder: &Path) -> Result<()> {
    let Ok(text) = fs::read(folder.join(RECORD)) else { return Ok(()) };
    let record: Option<Record> = serde_json::from_slice(&text).ok();
    let files = record.map(|record| record.files).unwrap_or_default();
    // mireg writes no name with a path in it, so such a name is skipped.
    let files = files.keys().map(String::as_str).filter(|name| Path::new(name).file_name() == Some(OsStr::new(name)));
    for name in files.chain([RECORD]) {
        let path = folder.join(name);
        match fs::remove_file(&path) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                let text = format!("cannot be replaced ({}); choose another output folder", e.kind());
                return Err(Error::file(path, text));
            }
            _ => {}
        }
    }
    // If the folder is empty now, it is removed, and comes back with all results.
    let _ = fs::remove_dir(folder);
    Ok(())
}

/// Returns the names of the files in a folder, and their sizes.
///
/// # Errors
/// [`Error::File`]
pub fn files(folder: &Path) -> Result<BTreeMap<String, u64>> {
    let unreadable = |e: std::io::Error| Error::file(folder, format!("cannot be read ({})", e.kind()));
    let file = |entry: std::io::Result<fs::DirEntry>| {
        let entry = entry?;
        Ok((entry.file_name().to_string_lossy().into(), entry.metadata()?.len()))
    };
    fs::read_dir(folder).and_then(|entries| entries.map(file).collect()).map_err(unreadable)
}
