//! The kernels of Viola's mutual information.

use crate::backend::queue::kernels;
use gpu::kernels::viola::{densities, derivatives, finish, sample};
use gpu::params;

kernels! {
    VIOLA_SAMPLE = sample::viola_sample(params::Viola);
    VIOLA_DENSITIES_FEW = densities::viola_densities_few(params::Viola);
    VIOLA_DENSITIES_FEW_JOINT_GAUSSIAN = densities::viola_densities_few_joint_gaussian(params::Viola);
    VIOLA_DENSITIES_FEW_SLOPE = densities::viola_densities_few_slope(params::Viola);
    VIOLA_DENSITIES_FEW_SLOPE_JOINT_GAUSSIAN = densities::viola_densities_few_slope_joint_gaussian(params::Viola);
    VIOLA_DENSITIES = densities::viola_densities(params::Viola);
    VIOLA_DENSITIES_JOINT_GAUSSIAN = densities::viola_densities_joint_gaussian(params::Viola);
    VIOLA_DENSITIES_SLOPE = densities::viola_densities_slope(params::Viola);
    VIOLA_DENSITIES_SLOPE_JOINT_GAUSSIAN = densities::viola_densities_slope_joint_gaussian(params::Viola);
    VIOLA_DENSITIES_FAST = densities::viola_densities_fast(params::Viola);
    VIOLA_DENSITIES_FAST_JOINT_GAUSSIAN = densities::viola_densities_fast_joint_gaussian(params::Viola);
    VIOLA_DENSITIES_FAST_SLOPE = densities::viola_densities_fast_slope(params::Viola);
    VIOLA_DENSITIES_FAST_SLOPE_JOINT_GAUSSIAN = densities::viola_densities_fast_slope_joint_gaussian(params::Viola);
    VIOLA_DERIVATIVES_FEW = derivatives::viola_derivatives_few(params::Viola);
    VIOLA_DERIVATIVES_FEW_JOINT_GAUSSIAN = derivatives::viola_derivatives_few_joint_gaussian(params::Viola);
    VIOLA_DERIVATIVES = derivatives::viola_derivatives(params::Viola);
    VIOLA_DERIVATIVES_JOINT_GAUSSIAN = derivatives::viola_derivatives_joint_gaussian(params::Viola);
    VIOLA_DERIVATIVES_FAST = derivatives::viola_derivatives_fast(params::Viola);
    VIOLA_DERIVATIVES_FAST_JOINT_GAUSSIAN = derivatives::viola_derivatives_fast_joint_gaussian(params::Viola);
    VIOLA_FINISH_DENSITIES = finish::viola_finish_densities(params::Viola);
    VIOLA_FINISH_DENSITIES_SLOPE = finish::viola_finish_densities_slope(params::Viola);
    VIOLA_FINISH_DENSITIES_SLOPE_JOINT_GAUSSIAN = finish::viola_finish_densities_slope_joint_gaussian(params::Viola);
    VIOLA_FINISH_DERIVATIVES = finish::viola_finish_derivatives(params::Viola);
}
