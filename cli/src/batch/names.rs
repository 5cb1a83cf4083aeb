//! Files of a study beside the folders of its rows.

/// A line for each row.
pub const SUMMARY: &str = "batch.tsv";

/// The pictures of all rows.
pub const GALLERY: &str = "index.html";

/// The description of a BIDS dataset.
pub const DESCRIPTION: &str = "dataset_description.json";
