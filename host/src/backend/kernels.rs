//! Every kernel, once: its entry point in the PTX and the function that the emulator runs.

use super::queue::Kernel;
use gpu::kernels::histogram::{byte_lanes, from_pairs, global_copies, partials, per_thread, shared_atomic, sort_count};
use gpu::kernels::{entropy, resample};
use gpu::params;

macro_rules! kernels {
    ($($constant:ident = $module:ident :: $name:ident($params:ty);)*) => {
        $(pub const $constant: Kernel<$params> = Kernel { name: stringify!($name), run: $module::$name };)*

        /// The names of all entry points.
        pub const NAMES: &[&str] = &[$(stringify!($name)),*];
    };
}

kernels! {
    SHARED_ATOMIC_NEAREST = shared_atomic::joint_histogram_nearest(params::Histogram);
    SHARED_ATOMIC_LINEAR = shared_atomic::joint_histogram_linear(params::Histogram);
    SORT_COUNT = sort_count::sort_count(params::SortCount);
    SORT_COUNT_WIDE = sort_count::sort_count_wide(params::SortCount);
    HISTOGRAM_PER_THREAD = per_thread::histogram_per_thread(params::PerThread);
    COUNT_COPIES = global_copies::count_copies(params::GlobalCopies);
    COUNT_COPIES_AND_MARGINALS = global_copies::count_copies_and_marginals(params::GlobalCopies);
    PROJECT = global_copies::project(params::Projection);
    BYTE_LANES_64 = byte_lanes::byte_lanes_64(params::ByteLanes);
    BYTE_LANES_256 = byte_lanes::byte_lanes_256(params::ByteLanes);
    COUNT_PAIRS = from_pairs::count_pairs(params::FromPairs);
    COUNT_PAIRS_PACKED = from_pairs::count_pairs_packed(params::FromPairs);
    ADD_PARTIALS = partials::add_partials(params::Partials);
    ENTROPIES = entropy::entropies(params::Entropy);
    RESAMPLE = resample::resample(params::Resample);
}
