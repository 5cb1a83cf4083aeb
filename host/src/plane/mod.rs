//! Pictures: what of them is image, and their contrast made even.

pub(crate) mod canvas;
pub(crate) mod contrast;
pub(crate) mod even;
pub(crate) mod search;
mod tones;
