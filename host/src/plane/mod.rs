//! 2-D images, here called pictures: their foreground and their local contrast (both also of volumes), their sharpness,
//! and a search for how one lies on another.

pub(crate) mod canvas;
pub(crate) mod foreground;
pub(crate) mod local_contrast;
pub(crate) mod normalise;
pub(crate) mod search;
pub(crate) mod sharpness;
mod tones;
