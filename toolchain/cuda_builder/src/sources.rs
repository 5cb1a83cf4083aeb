//! The sources of a crate's PTX, and their hash.

use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The sources of a device crate and of the crates in this repository that it depends on, and the versions and
/// features of all its dependencies.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    /// The package's name.
    pub name: String,
    /// `name version features` of every package.
    packages: BTreeSet<String>,
    /// Name and folder of each package that is a local path dependency.
    folders: Vec<(String, PathBuf)>,
}

/// The files and folders of a package that go into its compilation.
const PARTS: [&str; 3] = ["Cargo.toml", "build.rs", "src"];

impl Sources {
    /// Parses the output of `cargo tree --prefix none --format '{p}|{f}'` for the crate. Its first line is the crate
    /// itself.
    pub fn from_tree(tree: &str) -> Self {
        let mut sources = Self::default();
        for line in tree.lines().map(|line| line.trim_end_matches(" (*)")).filter(|line| !line.is_empty()) {
            let (package, features) = line.split_once('|').unwrap_or((line, ""));
            let mut words = package.splitn(3, ' ');
            let (name, version) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
            let origin = words.next().unwrap_or_default().trim_start_matches("(proc-macro)").trim();
            let folder = Path::new(origin.trim_start_matches('(').trim_end_matches(')'));
            if sources.name.is_empty() {
                sources.name = name.to_owned();
            }
            let local = folder.is_absolute();
            let origin = if local { "" } else { origin };
            let fresh = sources.packages.insert(format!("{name} {version} {features} {origin}").trim_end().to_owned());
            if local && fresh {
                sources.folders.push((name.to_owned(), folder.to_owned()));
            }
        }
        sources
    }

    /// Returns the files and folders on which the hash depends.
    pub fn watched(&self) -> impl Iterator<Item = PathBuf> {
        self.folders.iter().flat_map(|(_, folder)| PARTS.map(|part| folder.join(part))).filter(|path| path.exists())
    }

    /// Returns the SHA-256, in hexadecimal, of the sources and of `flags`. It depends neither on line ends nor on the
    /// folder of the checkout.
    pub fn hash(&self, flags: &[String]) -> std::io::Result<String> {
        let mut files = Vec::new();
        for (name, folder) in &self.folders {
            for part in PARTS {
                collect(&folder.join(part), &format!("{name}/{part}"), &mut files)?;
            }
        }
        files.sort();
        let mut hasher = Sha256::new();
        let mut add = |kind: &str, text: &[u8]| {
            hasher.update(format!("{kind} {}\n", text.len()));
            hasher.update(text);
        };
        flags.iter().for_each(|flag| add("flag", flag.as_bytes()));
        self.packages.iter().for_each(|package| add("package", package.as_bytes()));
        for (name, path) in files {
            add("file", name.as_bytes());
            add("text", &unix_lines(fs::read(path)?));
        }
        Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

/// Adds the file, or every file of the folder, with names that use `/` on every system. A path that does not exist is
/// ignored.
fn collect(path: &Path, name: &str, files: &mut Vec<(String, PathBuf)>) -> std::io::Result<()> {
    if path.is_file() {
        files.push((name.to_owned(), path.to_owned()));
    } else if path.is_dir() {
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            collect(&entry.path(), &format!("{name}/{}", entry.file_name().to_string_lossy()), files)?;
        }
    }
    Ok(())
}

/// Converts `\r\n` to `\n`. A checkout on Windows has `\r\n` where the repository has `\n`.
fn unix_lines(text: Vec<u8>) -> Vec<u8> {
    let is_kept = |&(at, byte): &(usize, &u8)| *byte != b'\r' || text.get(at + 1) != Some(&b'\n');
    text.iter().enumerate().filter(is_kept).map(|(_, &byte)| byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A crate `gpu` with a local dependency, written to a new folder.
    struct Tree(tempfile::TempDir);

    impl Tree {
        fn new() -> Self {
            let tree = Self(tempfile::tempdir().unwrap());
            for (name, text) in [("gpu/Cargo.toml", "[package]"), ("gpu/src/lib.rs", "//! a\n//! b\n")] {
                tree.write(name, text);
            }
            tree.write("gpu/src/math/affine.rs", "fn f() {}\n");
            tree.write("std/src/lib.rs", "");
            tree
        }

        fn write(&self, name: &str, text: &str) {
            let path = self.0.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }

        fn sources(&self, syn: &str, feature: &str) -> Sources {
            let root = self.0.path().display();
            let tree = format!(
                "gpu v0.1.0 ({root}/gpu)|{feature}\nstd v0.2.2 (proc-macro) ({root}/std)|\nsyn v{syn}|full\n\
                 std v0.2.2 (proc-macro) ({root}/std)| (*)\n"
            );
            Sources::from_tree(&tree)
        }

        fn hash(&self) -> String {
            self.sources("2.0.1", "").hash(&["-Ctarget-cpu=sm_75".into()]).unwrap()
        }
    }

    #[test]
    fn the_hash_is_the_same_in_any_folder_and_with_any_line_ends() {
        let (one, other) = (Tree::new(), Tree::new());
        assert_eq!(one.hash(), other.hash());
        assert_eq!(one.hash().len(), 64);
        other.write("gpu/src/lib.rs", "//! a\r\n//! b\r\n");
        assert_eq!(one.hash(), other.hash());
        other.write("gpu/README.md", "not compiled");
        other.write("gpu/ptx/gpu_sm_75.ptx", "not compiled");
        assert_eq!(one.hash(), other.hash());
    }

    #[test]
    fn every_change_of_what_is_compiled_changes_the_hash() {
        let changes: [(&str, &str); 6] = [
            ("gpu/src/lib.rs", "//! a\n//! c\n"),
            ("gpu/src/lib.rs", "//! a\r//! b\n"),
            ("gpu/src/math/new.rs", ""),
            ("gpu/Cargo.toml", "[package] "),
            ("gpu/build.rs", "fn main() {}"),
            ("std/src/lib.rs", "#![no_std]"),
        ];
        let reference = Tree::new().hash();
        let mut seen = BTreeSet::from([reference]);
        for (name, text) in changes {
            let tree = Tree::new();
            tree.write(name, text);
            assert!(seen.insert(tree.hash()), "{name}");
        }
        let tree = Tree::new();
        let flags = |flag: &str| [flag.to_owned()];
        assert!(seen.insert(tree.sources("2.0.2", "").hash(&flags("-Ctarget-cpu=sm_75")).unwrap()));
        assert!(seen.insert(tree.sources("2.0.1", "fast").hash(&flags("-Ctarget-cpu=sm_75")).unwrap()));
        assert!(seen.insert(tree.sources("2.0.1", "").hash(&flags("-Ctarget-cpu=sm_90")).unwrap()));
    }

    #[test]
    fn what_is_hashed_is_watched() {
        let tree = Tree::new();
        let sources = tree.sources("2.0.1", "");
        assert_eq!(sources.name, "gpu");
        let expected = ["gpu/Cargo.toml", "gpu/src", "std/src"].map(|part| tree.0.path().join(part));
        assert_eq!(sources.watched().collect::<Vec<_>>(), expected);
    }
}
