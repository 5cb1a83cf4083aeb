//! Checks that a written file appears complete and with ordinary permissions, or not at all.

use std::path::Path;

use glam::DVec3;
use libtest_mimic::Trial;
use mireg::io::{self, OutputFolder};
use mireg::{Error, Geometry, PixelType, Volume};

use super::{Folder, names};
use crate::support::trial;

pub fn tests() -> Vec<Trial> {
    vec![
        trial("io::output::refused", a_refused_write_leaves_nothing),
        trial("io::output::permissions", permissions_are_those_of_any_file),
        trial("io::output::new folder", a_new_folder_appears_at_commit),
        trial("io::output::old folder", an_old_folder_keeps_what_is_not_replaced),
        trial("io::output::unwritable folder", a_folder_that_cannot_be_is_refused_at_once),
        trial("io::output::late failure", a_commit_that_fails_replaces_nothing),
    ]
}

fn volume() -> Volume {
    let geometry = Geometry::axis_aligned([2; 3], DVec3::ONE, DVec3::ZERO);
    Volume { geometry, voxels: vec![1.0; 8], pixel: PixelType::U8 }
}

fn assert_refused(path: &Path, expected: &str) {
    let error = io::write(path, &volume()).unwrap_err();
    let message = error.to_string();
    assert!(message.starts_with(&path.display().to_string()), "{message}");
    assert!(message.contains(expected) && !message.contains('\n'), "{message}");
    assert!(matches!(error, Error::File { .. }), "{message}");
}

fn a_refused_write_leaves_nothing() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("taken.nii")).unwrap();
    assert_refused(&folder.path("taken.nii"), "cannot be written");
    assert_refused(&folder.path("none/a.nii"), "there is no folder");
    assert_refused(&folder.path("a.xyz"), ".nii, .nii.gz, .mha, .mhd, .nrrd, .mgh and .mgz");
    assert_refused(&folder.path("a.hdr"), ".nii, .nii.gz, .mha, .mhd, .nrrd, .mgh and .mgz");
    let long = Geometry { size: [40_000, 2, 2], ..volume().geometry };
    let volume = Volume { geometry: long, voxels: vec![0.0; 160_000], pixel: PixelType::U8 };
    let message = io::write(&folder.path("long.nii"), &volume).unwrap_err().to_string();
    assert!(message.contains("40000x2x2") && message.contains(".mha"), "{message}");
    io::write(&folder.path("long.mha"), &volume).unwrap();
    assert_eq!(folder.names(), ["long.mha", "taken.nii"]);
}

fn permissions_are_those_of_any_file() {
    let folder = Folder::new();
    let plain = folder.file("plain", []);
    std::fs::create_dir(folder.path("plain folder")).unwrap();
    let written = folder.path("a.nii");
    io::write(&written, &volume()).unwrap();
    let output = OutputFolder::create(&folder.path("out")).unwrap();
    output.commit().unwrap();
    let permissions = |path: &Path| path.metadata().unwrap().permissions();
    assert_eq!(permissions(&written), permissions(&plain));
    assert_eq!(permissions(&folder.path("out")), permissions(&folder.path("plain folder")));
}

fn a_new_folder_appears_at_commit() {
    let folder = Folder::new();
    let target = folder.path("a/b/out");
    let output = OutputFolder::create(&target).unwrap();
    std::fs::write(output.path("x.txt"), "x").unwrap();
    assert!(!folder.path("a").exists());
    drop(output);
    assert!(folder.names().is_empty());

    let output = OutputFolder::create(&target).unwrap();
    std::fs::write(output.path("x.txt"), "x").unwrap();
    io::write(&output.path("v.nii"), &volume()).unwrap();
    output.commit().unwrap();
    assert_eq!(names(&target), ["v.nii", "x.txt"]);
    assert_eq!((folder.names(), names(&folder.path("a/b"))), (vec!["a".to_owned()], vec!["out".to_owned()]));
}

fn an_old_folder_keeps_what_is_not_replaced() {
    let folder = Folder::new();
    let target = folder.path("out");
    std::fs::create_dir(&target).unwrap();
    folder.file("out/old.txt", "old");
    folder.file("out/both.txt", "old");
    let output = OutputFolder::create(&target).unwrap();
    std::fs::write(output.path("both.txt"), "new").unwrap();
    assert_eq!(std::fs::read_to_string(target.join("both.txt")).unwrap(), "old");
    output.commit().unwrap();
    assert_eq!(names(&target), ["both.txt", "old.txt"]);
    assert_eq!(std::fs::read_to_string(target.join("both.txt")).unwrap(), "new");
    assert_eq!(std::fs::read_to_string(target.join("old.txt")).unwrap(), "old");
}

fn a_folder_that_cannot_be_is_refused_at_once() {
    let folder = Folder::new();
    folder.file("file", []);
    for name in ["file", "file/out", "file/a/b"] {
        let error = OutputFolder::create(&folder.path(name)).unwrap_err();
        let message = error.to_string();
        assert!(message.contains("file is not a folder; choose another") && !message.contains('\n'), "{message}");
        assert!(matches!(error, Error::File { .. }), "{message}");
    }
    // Not even root can write there.
    #[cfg(target_os = "linux")]
    {
        let message = OutputFolder::create(Path::new("/proc/none/out")).unwrap_err().to_string();
        assert!(
            message.starts_with("/proc/none/out: nothing can be written in /proc (") && !message.contains('\n'),
            "{message}"
        );
    }
    assert_eq!(folder.names(), ["file"]);
}

fn a_commit_that_fails_replaces_nothing() {
    let folder = Folder::new();
    std::fs::create_dir_all(folder.path("out/taken.txt")).unwrap();
    folder.file("out/a.txt", "old");
    let output = OutputFolder::create(&folder.path("out")).unwrap();
    for name in ["a.txt", "taken.txt"] {
        std::fs::write(output.path(name), "new").unwrap();
    }
    let message = output.commit().unwrap_err().to_string();
    assert!(message.contains("taken.txt is a folder"), "{message}");
    assert_eq!(names(&folder.path("out")), ["a.txt", "taken.txt"]);
    assert_eq!(std::fs::read_to_string(folder.path("out/a.txt")).unwrap(), "old");
}
