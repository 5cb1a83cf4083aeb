//! What several topics need.

use std::path::{Path, PathBuf};

use libtest_mimic::Trial;

/// A test that fails by panicking.
pub fn trial(name: impl Into<String>, test: impl FnOnce() + Send + 'static) -> Trial {
    Trial::test(name, || {
        test();
        Ok(())
    })
}

/// The folder of real volumes: `MIREG_DATA`, or `../shared/data` beside the repository.
pub fn data_dir() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data");
    let folder = std::env::var_os("MIREG_DATA").map_or(beside, PathBuf::from);
    folder.is_dir().then_some(folder)
}
