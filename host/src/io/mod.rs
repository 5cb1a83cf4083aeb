//! Volumes and transforms in files.
