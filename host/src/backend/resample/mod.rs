//! Resamples an image on another grid: see [`super::Backend::resample`].

pub(super) mod cpu;
pub(super) mod device;
