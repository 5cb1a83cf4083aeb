//! Arguments that several commands share.

pub mod choice;
pub mod compute;
pub mod gaussian;
pub mod grids;
pub mod histogram;
pub mod images;
pub mod interpolation;
pub mod metric;
pub mod number;
pub mod pair;
pub mod ranges;
pub mod search;
