//! The folder of what is not yet in its place.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf, absolute};

use mireg::{Error, Result};

use super::shard::Shard;

/// Its name in the folder of the study, before that of a shard.
const NAME: &str = ".unfinished";

/// Holds the temporary folders of the rows. It belongs to one process at a time, and goes with it; what a killed one left, the next one
/// takes away.
pub struct Unfinished {
    folder: PathBuf,
    /// Locked.
    lock: Option<File>,
}

impl Unfinished {
    /// Makes it in the folder of the study, which is made, too. Each shard has its own.
    ///
    /// # Errors
    /// [`Error::File`] where nothing can be written, and where another process is at work.
    pub fn open(study: &Path, shard: Option<Shard>) -> Result<Self> {
        let folder = study.join(shard.map_or(NAME.to_owned(), |shard| format!("{NAME}-{}", shard.name())));
        let unwritable = |e: std::io::Error| {
            Error::file(study, format!("nothing can be written in it ({}); choose another output folder", e.kind()))
        };
        fs::create_dir_all(&folder).map_err(unwritable)?;
        let lock = File::create(folder.join("lock")).map_err(unwritable)?;
        if matches!(lock.try_lock(), Err(TryLockError::WouldBlock)) {
            return Err(Error::file(
                study,
                "another mireg batch is at work in it; wait for its end, or choose another output folder",
            ));
        }
        let leftovers = fs::read_dir(&folder).map_err(unwritable)?;
        for path in leftovers.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.is_dir()) {
            fs::remove_dir_all(path).map_err(unwritable)?;
        }
        Ok(Self { folder, lock: Some(lock) })
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

/// An error about a file on its way from `unfinished` to `folder`, by the name that it would have there: the other is soon forgotten.
pub fn of_its_place(error: Error, unfinished: &Path, folder: &Path) -> Error {
    let unfinished = absolute(unfinished).unwrap_or_default();
    match error {
        Error::File { path, message } if path.starts_with(&unfinished) => {
            let path = path.file_name().map_or_else(|| folder.to_owned(), |name| folder.join(name));
            Error::File { path, message }
        }
        error => error,
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // Some systems keep a file that is open.
        self.lock = None;
        // Where it stays, the next run takes it away.
        let _ = fs::remove_dir_all(&self.folder);
    }
}
