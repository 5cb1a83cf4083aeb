//! An independent oracle in f64, naive on purpose.
