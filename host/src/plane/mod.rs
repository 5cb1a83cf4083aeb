//! Pictures: what of them is image, their contrast made even, and how they lie on each other. The first two also of volumes.

pub(crate) mod canvas;
pub(crate) mod contrast;
pub(crate) mod even;
pub(crate) mod search;
pub(crate) mod sharpness;
mod tones;
