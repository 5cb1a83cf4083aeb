//! An output folder that appears complete or not at all.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::atomic;
use crate::{Error, Result};

/// Collects files in a temporary folder until [`OutputFolder::commit`] moves them to the output folder. If it is
/// dropped before, nothing is left behind.
#[derive(Debug)]
pub struct OutputFolder {
    folder: PathBuf,
    temporary: TempDir,
}

impl OutputFolder {
    /// Prepares to fill `folder`, which may already exist. The temporary folder is made in it, or else in its nearest
    /// ancestor that exists.
    ///
    /// # Errors
    /// [`Error::File`] if nothing can be written there.
    pub fn create(folder: &Path) -> Result<Self> {
        let here = Path::new(".");
        let ancestors = folder.ancestors().map(|a| if a == Path::new("") { here } else { a });
        Self::create_in(folder, ancestors.into_iter().find(|a| a.symlink_metadata().is_ok()).unwrap_or(here))
    }

    /// As [`OutputFolder::create`], with the temporary folder in `within`, which must be on the same file system.
    ///
    /// # Errors
    /// As [`OutputFolder::create`].
    pub fn create_in(folder: &Path, within: &Path) -> Result<Self> {
        if let Some(file) = [folder, within].into_iter().find(|path| path.symlink_metadata().is_ok() && !path.is_dir())
        {
            let message = format!("{} is not a folder; choose another output folder", file.display());
            return Err(Error::file(folder, message));
        }
        let temporary = atomic::builder(0o777).tempdir_in(within).map_err(|e| {
            let why = e.kind();
            let message =
                format!("nothing can be written in {} ({why}); choose another output folder", within.display());
            Error::file(folder, message)
        })?;
        Ok(Self { folder: folder.to_owned(), temporary })
    }

    /// The temporary folder.
    pub fn temporary(&self) -> &Path {
        self.temporary.path()
    }

    /// The path at which to write the file that will be called `name`.
    pub fn path(&self, name: &str) -> PathBuf {
        self.temporary.path().join(name)
    }

    /// Moves all files into the output folder. Files with the same names are replaced, others stay.
    ///
    /// # Errors
    /// [`Error::File`] if a file cannot be moved.
    pub fn commit(self) -> Result<()> {
        self.commit_with_last("")
    }

    /// As [`OutputFolder::commit`], but moves the file named `last` after all others, so that if it exists, all others
    /// do.
    ///
    /// # Errors
    /// As [`OutputFolder::commit`].
    pub fn commit_with_last(self, last: &str) -> Result<()> {
        self.place(last).map_err(|e| {
            Error::file(
                &self.folder,
                format!("the results cannot be moved into it ({e}); choose another output folder"),
            )
        })
    }

    fn place(&self, last: &str) -> std::io::Result<()> {
        if !self.folder.is_dir() {
            if let Some(parent) = self.folder.parent() {
                std::fs::create_dir_all(parent)?;
            }
            return std::fs::rename(self.temporary.path(), &self.folder);
        }
        let names = std::fs::read_dir(self.temporary.path())?.map(|entry| Ok(entry?.file_name()));
        let mut names = names.collect::<std::io::Result<Vec<_>>>()?;
        names.sort_by_key(|name| name == last);
        if let Some(taken) = names.iter().map(|name| self.folder.join(name)).find(|target| target.is_dir()) {
            return Err(std::io::Error::other(format!("{} is a folder", taken.display())));
        }
        names.iter().try_for_each(|name| std::fs::rename(self.temporary.path().join(name), self.folder.join(name)))
    }
}
