//! What a row's folder says about the row.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use mireg::{Error, Result};
use serde::{Deserialize, Serialize};

use super::facts::Facts;
use super::inputs::Key;

/// Its name in the folder. It takes its place after all other files.
pub const RECORD: &str = "batch.json";

/// How a row ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    pub key: Key,
    /// The command line that does the same.
    pub command: Vec<String>,
    /// The files beside it, and their sizes in bytes.
    pub files: BTreeMap<String, u64>,
    #[serde(flatten)]
    pub end: End,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "lowercase")]
pub enum End {
    /// With results, which need not be right.
    Done(Facts),
    /// With a line that says why.
    Failed { error: String },
}

impl Record {
    /// The record of a folder, if there is a whole one and all its files are there, as large as they were: a disk that was full or a
    /// machine that went down may leave empty ones.
    pub fn read(folder: &Path) -> Option<Self> {
        let record: Self = serde_json::from_slice(&fs::read(folder.join(RECORD)).ok()?).ok()?;
        let whole =
            |(name, &bytes): (&String, &u64)| folder.join(name).metadata().is_ok_and(|file| file.len() == bytes);
        record.files.iter().all(whole).then_some(record)
    }

    /// Puts it into a folder that is not yet in its place.
    ///
    /// # Errors
    /// [`Error::File`] where it cannot be written.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let path = folder.join(RECORD);
        let text = serde_json::to_string_pretty(self).map_err(|e| Error::file(&path, e.to_string()))?;
        fs::write(&path, text + "\n").map_err(|e| Error::file(&path, format!("cannot be written ({})", e.kind())))
    }

    /// Whether the row that it is about failed.
    pub fn failed(&self) -> bool {
        matches!(self.end, End::Failed { .. })
    }

    /// Whether its results can be trusted.
    pub fn trusted(&self) -> bool {
        matches!(&self.end, End::Done(facts) if facts.trusted())
    }
}

/// Takes away what an earlier run left in a folder, so that results of other inputs or options never stand for those of these. Files of
/// others stay.
///
/// # Errors
/// [`Error::File`] for a file that cannot be taken away.
pub fn forget(folder: &Path) -> Result<()> {
    let Ok(text) = fs::read(folder.join(RECORD)) else { return Ok(()) };
    let record: Option<Record> = serde_json::from_slice(&text).ok();
    let files = record.map(|record| record.files).unwrap_or_default();
    // A name with a path in it is none of ours.
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
    // One that is empty then goes, and comes again whole.
    let _ = fs::remove_dir(folder);
    Ok(())
}

/// The names of the files in a folder, and their sizes.
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
