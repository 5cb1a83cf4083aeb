//! Every kernel, once: its entry point in the PTX and the function that the emulator runs.

use super::queue::Kernel;
use gpu::kernels::histogram::{mbe, shared_atomic, warp_tagged};
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
    COMBINE = warp_tagged::combine(params::Tagged<[u32; 2]>);
    TAGGED_COMBINED = warp_tagged::tagged_combined(params::Tagged<[u32; 2]>);
    TAGGED_DIRECT = warp_tagged::tagged_direct(params::Tagged<u32>);
    MBE_COMBINED = mbe::mbe_combined(params::Tagged<[u32; 2]>);
    MBE_FIRST = mbe::mbe_first(params::Tagged<u32>);
    MBE_CACHED = mbe::mbe_cached(params::Tagged<u32>);
    MBE_STL = mbe::mbe_stl(params::Tagged<u32>);
    ENTROPIES = entropy::entropies(params::Entropy);
    RESAMPLE = resample::resample(params::Resample);
}
