//! What several topics need.

use libtest_mimic::Failed;
use mireg::backend::cuda::{self, Cuda};

/// Whether tests on a GPU are to report themselves as ignored: where there is none, unless `MIREG_REQUIRE_GPU` is set.
pub fn gpu_is_absent() -> bool {
    std::env::var_os("MIREG_REQUIRE_GPU").is_none() && cuda::available().is_err()
}

/// The first GPU.
pub fn gpu() -> Result<Box<Cuda>, Failed> {
    Ok(Box::new(Cuda::open()?))
}
