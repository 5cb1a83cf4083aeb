//! How callers hear what is going on.

/// Hears how far a registration is. The library never prints.
pub trait Observer: Sync {
    /// A level starts: its number from 0, how many there are, and its grid, mm.
    fn level(&self, _number: usize, _of: usize, _spacing_mm: [f64; 3]) {}
    /// The metric was evaluated; `best` is the best value so far on this level.
    fn evaluated(&self, _evaluations: usize, _best: f64) {}
    /// Something worth a line, such as the choice of backend.
    fn note(&self, _text: &str) {}
}

/// Hears nothing.
impl Observer for () {}
