//! Every kernel, once: its entry point in the PTX and the function that the emulator runs.

use super::queue::Kernel;
use gpu::kernels::histogram::shared_atomic;
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
    SHARED_ATOMIC_FINE = shared_atomic::joint_histogram_fine(params::Histogram);
    SHARED_ATOMIC_CUBIC = shared_atomic::joint_histogram_cubic(params::Histogram);
    ENTROPIES = entropy::entropies(params::Entropy);
    RESAMPLE = resample::resample(params::Resample);
}
