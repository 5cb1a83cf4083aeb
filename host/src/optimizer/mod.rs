//! Searches for the parameters that maximise a function of them.
