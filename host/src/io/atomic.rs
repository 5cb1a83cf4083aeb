//! Whole files or none.

use std::io::Write;
use std::path::Path;

use tempfile::Builder;

use crate::{Error, Result};

/// Writes `parts` one after the other to a temporary file beside `path`, and renames it to `path`.
pub fn write(path: &Path, parts: &[&[u8]]) -> Result<()> {
    write_with(path, |file| parts.iter().try_for_each(|part| file.write_all(part)))
}

/// The same for what `content` writes.
pub fn write_with(path: &Path, content: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<()> {
    let folder = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    if !folder.is_dir() {
        return Err(Error::file(path, format!("there is no folder {}; create it first", folder.display())));
    }
    let unwritable =
        |e: std::io::Error| Error::file(path, format!("cannot be written ({}); choose another place", e.kind()));
    let mut file = builder(0o666).tempfile_in(folder).map_err(unwritable)?;
    content(&mut file).map_err(unwritable)?;
    file.persist(path).map_err(|e| unwritable(e.error))?;
    Ok(())
}

/// Makes temporary files and folders with the permissions that `mode` and the user's umask give.
pub fn builder(mode: u32) -> Builder<'static, 'static> {
    let mut builder = Builder::new();
    builder.prefix(".mireg-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(mode));
    #[cfg(not(unix))]
    let _ = mode;
    builder
}
