//! The folder of results that are not yet in their final place.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use mireg::{Error, Result};

use super::shard::Shard;

/// The folder's name in the folder of the study. The name of a shard is appended.
const NAME: &str = ".unfinished";

/// The folder that holds the temporary folders of the rows. It belongs to one process at a time, which removes it at
/// its end. What a killed process left is removed by the next one.
pub struct Unfinished {
    folder: PathBuf,
    /// The lock file, which is locked.
    lock: Option<File>,
}

impl Unfinished {
    /// Creates the folder in that of the study, which is created, too. Each shard has its own.
    ///
    /// # Errors
    /// [`Error::File`] if nothing can be written, or if another process is at work there.
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

impl Drop for Unfinished {
    fn drop(&mut self) {
        // Some systems cannot remove a file that is open.
        self.lock = None;
        // If the folder cannot be removed, the next run removes it.
        let _ = fs::remove_dir_all(&self.folder);
    }
}
