//! Writes files atomically: a file is either complete or not there.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use tempfile::Builder;

use crate::{Error, Result};

/// Writes `parts` one after the other to a temporary file beside `path`, and renames it to `path`.
pub fn write(path: &Path, parts: &[&[u8]]) -> Result<()> {
    write_with(path, |file| parts.iter().try_for_each(|part| file.write_all(part)))
}

/// Lets `content` write a temporary file next to `path`, and renames it to `path`. A symbolic link is kept and its
/// target is replaced. An existing file's permissions are kept.
///
/// # Errors
/// [`Error::File`], also if `path` is not a regular file: renaming would replace a device or a pipe.
pub fn write_with(path: &Path, content: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<()> {
    let before = fs::metadata(path).ok();
    if before.as_ref().is_some_and(|before| !before.is_file()) {
        return Err(Error::file(path, "cannot be written: what is there is no file; choose another name"));
    }
    let path = &behind_links(path);
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
    if let Some(before) = before {
        file.as_file().set_permissions(before.permissions()).map_err(unwritable)?;
    }
    content(&mut file).map_err(unwritable)?;
    file.persist(path).map_err(|e| unwritable(e.error))?;
    Ok(())
}

/// Follows symbolic links, also to a file that does not exist.
fn behind_links(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    // Linux follows at most 40 links.
    for _ in 0..40 {
        let Ok(next) = fs::read_link(&path) else { break };
        path = path.parent().unwrap_or(Path::new("")).join(next);
    }
    path
}

/// A builder of temporary files and folders, with the permissions of `mode` less the user's umask.
pub fn builder(mode: u32) -> Builder<'static, 'static> {
    let mut builder = Builder::new();
    builder.prefix(".mireg-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(mode));
    #[cfg(not(unix))]
    let _ = mode;
    builder
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::os::unix::net::UnixListener;

    #[test]
    fn a_link_stays_and_a_file_keeps_its_permissions() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("file"), "before").unwrap();
        fs::set_permissions(path("file"), fs::Permissions::from_mode(0o600)).unwrap();
        symlink("file", path("link")).unwrap();
        symlink("new", path("dangling")).unwrap();
        write(&path("link"), &[b"after"]).unwrap();
        write(&path("dangling"), &[b"new"]).unwrap();
        assert!(path("link").is_symlink() && path("dangling").is_symlink());
        assert_eq!(
            [fs::read(path("file")).unwrap(), fs::read(path("new")).unwrap()],
            [b"after".to_vec(), b"new".to_vec()]
        );
        assert_eq!(fs::metadata(path("file")).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn what_is_no_file_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let _socket = UnixListener::bind(&path).unwrap();
        let message = write(&path, &[b"1"]).unwrap_err().to_string();
        assert!(message.contains("no file") && !path.is_file(), "{message}");
    }
}
