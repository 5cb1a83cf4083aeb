//! Backends, which evaluate metrics and smooth, move and resample images. [`Backend`] is their interface. All backends
//! give the same bits.
//!
//! Each folder is a family of computations: its interface, its CPU side and its launchers on a device. Launchers are
//! written once, against the queue, for both CUDA and the emulator.

mod auto;
pub mod cpu;
mod device;
mod flow;
mod gaussian;
mod gpu;
mod histogram;
mod image;
mod interface;
mod lanes;
mod mattes;
mod open;
mod queue;
mod resample;
mod search;
mod viola;

pub use ::gpu::math::bin::FULL;
pub use ::gpu::math::entropy::Entropies;
pub use ::gpu::math::interpolate::Interpolator;
pub use ::gpu::params::{Affine, VectorMaps};
pub(crate) use auto::{Auto, Chosen, Work};
pub use cpu::Cpu;
pub(crate) use flow::bytes as flow_bytes;
pub use flow::{
    Agreement, Compare, FieldOptimizer, Flow, FlowChannel, FlowInverse, FlowLandmark, FlowLevel, FlowPair,
    FlowReference, FlowStep, Halves, KnownDisplacement, Measured, Relation, Score, Table, WeightedScore,
};
pub(crate) use flow::{FlowLoad, RELAXED_ROUNDS, padded};
pub use gaussian::SmoothingSeconds;
pub(crate) use gpu::Gpu;
pub(crate) use histogram::per_sample;
pub use histogram::{Counted, Evaluator, HistogramMethod, Interpolated, Pair, Wanted};
pub use image::Tensor;
pub use interface::Backend;
pub(crate) use lanes::simd;
pub use mattes::{MattesImages, MattesPair, Smooth, SmoothEvaluator, SmoothSlope, Windows};
pub use open::{BackendKind, Device, devices, open};
pub(crate) use queue::BATCH;
pub use queue::cuda::places as gpus;
pub use queue::{Resident, cuda, cuda::Cuda, emulated, emulated::Emulated};
pub use search::Search;
pub use viola::{Exponentials, Group, Sample, Sigmas, ViolaEvaluator, ViolaPair, ViolaValue};
