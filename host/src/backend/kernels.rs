//! Every kernel, once: its entry point in the PTX and the function that the emulator runs.

use super::queue::Kernel;
use gpu::kernels::flow::{
    copy, field as flow_field, force as flow_force, inverse as flow_inverse, local as flow_local, pairs as flow_pairs,
    step as flow_step,
};
use gpu::kernels::histogram::tiled::{self, brick};
use gpu::kernels::histogram::{
    byte_lanes, entropy, from_pairs, global_copies, mbe, partials, per_thread, shared_atomic, sort_count, warp_tagged,
};
use gpu::kernels::mattes::{histogram as mattes_histogram, slope as mattes_slope, value as mattes_value};
use gpu::kernels::viola::{finish, pull, sample, sums};
use gpu::kernels::{gaussian, resample};
use gpu::params;

macro_rules! kernels {
    ($($constant:ident = $module:ident :: $name:ident($params:ty);)*) => {
        $(pub const $constant: Kernel<$params> = Kernel { name: stringify!($name), run: $module::$name };)*

        /// The names of all entry points.
        #[cfg(test)]
        pub const NAMES: &[&str] = &[$(stringify!($name)),*];
    };
}

kernels! {
    SHARED_ATOMIC_NEAREST = shared_atomic::joint_histogram_nearest(params::Histogram);
    SHARED_ATOMIC_LINEAR = shared_atomic::joint_histogram_linear(params::Histogram);
    SHARED_ATOMIC_FINE = shared_atomic::joint_histogram_fine(params::Histogram);
    SHARED_ATOMIC_CUBIC = shared_atomic::joint_histogram_cubic(params::Histogram);
    LAY_BRICKS = brick::lay_bricks(params::Tiled);
    FIND_CELLS = brick::find_cells(params::Tiled);
    WIDEN_CELLS = brick::widen_cells(params::Tiled);
    TILED_NEAREST = tiled::tiled_nearest(params::Tiled);
    TILED_LINEAR = tiled::tiled_linear(params::Tiled);
    TILED_CUBIC = tiled::tiled_cubic(params::Tiled);
    TILED_NEAREST_HALVES = tiled::tiled_nearest_halves(params::Tiled);
    TILED_LINEAR_HALVES = tiled::tiled_linear_halves(params::Tiled);
    TILED_CUBIC_HALVES = tiled::tiled_cubic_halves(params::Tiled);
    SHARED_ATOMIC_PARTIAL_VOLUME = shared_atomic::joint_histogram_partial_volume(params::Histogram);
    SORT_COUNT = sort_count::sort_count(params::SortCount);
    SORT_COUNT_WIDE = sort_count::sort_count_wide(params::SortCount);
    SORT_COUNT_PARTIAL_VOLUME = sort_count::sort_count_partial_volume(params::SortCount);
    HISTOGRAM_PER_THREAD = per_thread::histogram_per_thread(params::PerThread);
    COUNT_COPIES = global_copies::count_copies(params::GlobalCopies);
    COUNT_COPIES_AND_MARGINALS = global_copies::count_copies_and_marginals(params::GlobalCopies);
    PROJECT = global_copies::project(params::Projection);
    BYTE_LANES_64 = byte_lanes::byte_lanes_64(params::ByteLanes);
    BYTE_LANES_256 = byte_lanes::byte_lanes_256(params::ByteLanes);
    COUNT_PAIRS = from_pairs::count_pairs(params::FromPairs);
    COUNT_PAIRS_PACKED = from_pairs::count_pairs_packed(params::FromPairs);
    ADD_PARTIALS = partials::add_partials(params::Partials);
    COMBINE = warp_tagged::combine(params::Tagged<[u32; 2]>);
    TAGGED_COMBINED = warp_tagged::tagged_combined(params::Tagged<[u32; 2]>);
    TAGGED_DIRECT = warp_tagged::tagged_direct(params::Tagged<u32>);
    MBE_COMBINED = mbe::mbe_combined(params::Tagged<[u32; 2]>);
    MBE_FIRST = mbe::mbe_first(params::Tagged<u32>);
    MBE_CACHED = mbe::mbe_cached(params::Tagged<u32>);
    MBE_STL = mbe::mbe_stl(params::Tagged<u32>);
    ENTROPIES = entropy::entropies(params::Entropy);
    MATTES_HISTOGRAM = mattes_histogram::mattes_histogram(params::MattesHistogram);
    MATTES_HISTOGRAM_BOTH = mattes_histogram::mattes_histogram_both(params::MattesHistogram);
    MATTES_MARGINALS = mattes_value::mattes_marginals(params::MattesValue);
    MATTES_VALUE = mattes_value::mattes_value(params::MattesValue);
    MATTES_SLOPE = mattes_slope::mattes_slope(params::MattesSlope);
    MATTES_SLOPE_BOTH = mattes_slope::mattes_slope_both(params::MattesSlope);
    MATTES_FOLD = mattes_slope::mattes_fold(params::MattesFold);
    RECURSIVE_ALONG = gaussian::recursive_along(params::Recursive);
    RECURSIVE_ALONG_LONG = gaussian::recursive_along_long(params::Recursive);
    RECURSIVE_ACROSS = gaussian::recursive_across(params::Recursive);
    RECURSIVE_ACROSS_LONG = gaussian::recursive_across_long(params::Recursive);
    RESAMPLE = resample::resample(params::Resample);
    COPY_WORDS = copy::copy_words(params::CopyWords);
    FLOW_PAIRS = flow_pairs::flow_pairs(params::FlowPairs);
    FLOW_FORCE = flow_force::flow_force(params::FlowForce);
    FLOW_LOCAL_FIXED = flow_local::flow_local_fixed(params::FlowLocal);
    FLOW_LOCAL_VARIANCE = flow_local::flow_local_variance(params::FlowLocal);
    FLOW_LOCAL_MOVING = flow_local::flow_local_moving(params::FlowLocal);
    FLOW_LOCAL_AGREEMENT = flow_local::flow_local_agreement(params::FlowLocal);
    FLOW_LOCAL_FORCE = flow_local::flow_local_force(params::FlowLocal);
    FLOW_LARGEST = flow_step::flow_largest(params::FlowStep);
    FLOW_COMPOSE = flow_step::flow_compose(params::FlowStep);
    FLOW_REFINE = flow_field::flow_refine(params::FlowRefine);
    FLOW_JACOBIAN = flow_field::flow_jacobian(params::FlowJacobian);
    FLOW_MOVED = flow_field::flow_moved(params::FlowMoved);
    FLOW_INVERSE = flow_inverse::flow_inverse(params::FlowInverse);
    FLOW_MISSES = flow_inverse::flow_misses(params::FlowInverse);
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
