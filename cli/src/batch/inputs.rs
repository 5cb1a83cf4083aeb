//! What the results of a row depend on, by which a later run sees whether they are still valid.

use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

/// Extensions of headers whose voxels are in another file of the same name.
const HEADERS: [&str; 3] = ["hdr", "mhd", "nhdr"];

/// All that the results of a row depend on. They do not depend on the device and the number of threads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Key {
    /// mireg's version.
    pub version: String,
    /// The command, the images and the options, as the table has them.
    pub command: Vec<String>,
    /// The stamp of each file that the command names.
    pub inputs: Vec<Stamp>,
}

impl Key {
    /// Returns a hash of the key, 16 hexadecimal digits: FNV-1a of the key as JSON.
    pub fn hash(&self) -> String {
        let text = serde_json::to_vec(self).unwrap_or_default();
        let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        format!("{:016x}", text.iter().fold(0xcbf2_9ce4_8422_2325, mix))
    }
}

/// Size and modification time of a file, which show that it was written again. The content is not compared: to read all
/// files of a study takes longer than to register them. The stamp of a folder, or of a header with its voxels, has the
/// sum of the sizes and the latest time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stamp {
    pub bytes: u64,
    /// Nanoseconds since 1970.
    pub modified: u64,
}

impl Stamp {
    /// Returns the stamp of a file or folder.
    ///
    /// # Errors
    /// If the file or folder cannot be read.
    pub fn of(path: &Path) -> std::io::Result<Self> {
        let about = path.metadata()?;
        let mut stamp = Self::from(&about);
        for other in others(path, about.is_dir())? {
            // A file that was removed meanwhile is left out.
            let Ok(about) = other.metadata() else { continue };
            let Self { bytes, modified } = Self::from(&about);
            stamp = Self { bytes: stamp.bytes + bytes, modified: stamp.modified.max(modified) };
        }
        Ok(stamp)
    }
}

impl From<&Metadata> for Stamp {
    fn from(about: &Metadata) -> Self {
        let since = about.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
        Self { bytes: about.len(), modified: u64::try_from(since.as_nanos()).unwrap_or(u64::MAX) }
    }
}

/// Returns the files that belong to `path`: those in a folder, or those with the name of a header but another
/// extension.
fn others(path: &Path, folder: bool) -> std::io::Result<Vec<PathBuf>> {
    let header = || path.extension().is_some_and(|end| HEADERS.iter().any(|header| end.eq_ignore_ascii_case(header)));
    let within = match path.parent() {
        _ if folder => path,
        Some(parent) if header() => {
            if parent == Path::new("") {
                Path::new(".")
            } else {
                parent
            }
        }
        _ => return Ok(Vec::new()),
    };
    let stem = |path: &Path| path.file_stem().map(|name| name.to_string_lossy().split('.').next().map(str::to_owned));
    let files = std::fs::read_dir(within)?.filter_map(|entry| Some(entry.ok()?.path()));
    Ok(files.filter(|file| folder || (file != path && stem(file) == stem(path))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn voxels_beside_a_header_and_slices_in_a_folder_count() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("a.mhd"), "12").unwrap();
        std::fs::write(at("a.raw"), "345").unwrap();
        std::fs::write(at("ab.raw"), "6789").unwrap();
        std::fs::write(at("a.nii"), "").unwrap();
        assert_eq!(Stamp::of(&at("a.mhd")).unwrap().bytes, 5);
        assert_eq!(Stamp::of(&at("ab.raw")).unwrap().bytes, 4);
        let before = Stamp::of(folder.path()).unwrap();
        std::fs::write(at("ab.raw"), "67890").unwrap();
        assert_eq!(Stamp::of(folder.path()).unwrap().bytes, before.bytes + 1);
        assert!(Stamp::of(&at("none")).is_err());
    }

    #[test]
    fn keys_that_differ_have_other_hashes() {
        let key = |bytes| Key { version: "1".into(), command: Vec::new(), inputs: vec![Stamp { bytes, modified: 7 }] };
        assert_eq!(key(1).hash(), key(1).hash());
        assert_ne!(key(1).hash(), key(2).hash());
    }
}
