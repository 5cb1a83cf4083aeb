//! Pictures: what of them is image, and their contrast made even.

pub(crate) mod contrast;
pub(crate) mod even;
