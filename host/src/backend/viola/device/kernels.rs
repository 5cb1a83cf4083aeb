//! The kernels of Viola's mutual information.

use crate::backend::queue::kernels;
use gpu::kernels::viola::{finish, pull, sample, sums};
use gpu::params;

kernels! {
    VIOLA_SAMPLE = sample::viola_sample(params::Viola);
    VIOLA_SUMS_FEW = sums::viola_sums_few(params::Viola);
    VIOLA_SUMS_FEW_OWN = sums::viola_sums_few_own(params::Viola);
    VIOLA_SUMS_FEW_SLOPE = sums::viola_sums_few_slope(params::Viola);
    VIOLA_SUMS_FEW_SLOPE_OWN = sums::viola_sums_few_slope_own(params::Viola);
    VIOLA_SUMS = sums::viola_sums(params::Viola);
    VIOLA_SUMS_OWN = sums::viola_sums_own(params::Viola);
    VIOLA_SUMS_SLOPE = sums::viola_sums_slope(params::Viola);
    VIOLA_SUMS_SLOPE_OWN = sums::viola_sums_slope_own(params::Viola);
    VIOLA_SUMS_FAST = sums::viola_sums_fast(params::Viola);
    VIOLA_SUMS_FAST_OWN = sums::viola_sums_fast_own(params::Viola);
    VIOLA_SUMS_FAST_SLOPE = sums::viola_sums_fast_slope(params::Viola);
    VIOLA_SUMS_FAST_SLOPE_OWN = sums::viola_sums_fast_slope_own(params::Viola);
    VIOLA_PULL_FEW = pull::viola_pull_few(params::Viola);
    VIOLA_PULL_FEW_OWN = pull::viola_pull_few_own(params::Viola);
    VIOLA_PULL = pull::viola_pull(params::Viola);
    VIOLA_PULL_OWN = pull::viola_pull_own(params::Viola);
    VIOLA_PULL_FAST = pull::viola_pull_fast(params::Viola);
    VIOLA_PULL_FAST_OWN = pull::viola_pull_fast_own(params::Viola);
    VIOLA_FINISH = finish::viola_finish(params::Viola);
    VIOLA_FINISH_SLOPE = finish::viola_finish_slope(params::Viola);
    VIOLA_FINISH_SLOPE_OWN = finish::viola_finish_slope_own(params::Viola);
    VIOLA_FINISH_PULL = finish::viola_finish_pull(params::Viola);
}
