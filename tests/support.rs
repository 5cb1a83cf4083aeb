//! What several topics need.

use libtest_mimic::{Failed, Trial};
use mireg::backend::cuda::{self, Cuda};
use std::path::{Path, PathBuf};

/// Whether tests on a GPU are to report themselves as ignored: where there is none, unless `MIREG_REQUIRE_GPU` is set.
pub fn gpu_is_absent() -> bool {
    std::env::var_os("MIREG_REQUIRE_GPU").is_none() && cuda::available().is_err()
}

/// The first GPU.
pub fn gpu() -> Result<Box<Cuda>, Failed> {
    Ok(Box::new(Cuda::open()?))
}

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
