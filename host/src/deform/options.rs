//! What the user may choose.

use crate::backend::BackendKind;

/// What [`deform`](super::deform) is to do.
#[derive(Debug, Clone)]
pub struct Options {
    /// What pulls.
    pub force: Force,
    /// Grids of the levels, mm, coarse to fine; `None` for 4, 2 and 1 times the fixed image's smallest spacing.
    pub levels: Option<Vec<f64>>,
    /// Iterations of each level at most, coarse to fine; the last number is for all further levels too. `None` for 100 on coarse levels
    /// and 50 on the finest of several.
    pub iterations: Option<Vec<usize>>,
    /// The standard deviation of the Gaussian that smooths each step, mm at the finest level; on coarser ones it grows with their grids.
    /// `None` for 4 times the finest level's grid.
    pub smooth_mm: Option<f64>,
    /// The same of the Gaussian that smooths the field after each step; 0 for none. `None` for half of the other.
    pub smooth_field_mm: Option<f64>,
    /// Bins a side of the joint histogram, 8 to 255.
    pub bins: u32,
    /// Where it runs.
    pub backend: BackendKind,
    /// CPU threads; 0 for one a core.
    pub threads: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            force: Force::Mi,
            levels: None,
            iterations: None,
            smooth_mm: None,
            smooth_field_mm: None,
            bins: 100,
            backend: BackendKind::Auto,
            threads: 0,
        }
    }
}

/// What pulls the moving image onto the fixed one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Force {
    /// Mutual information: for images of any two kinds
    Mi,
    /// Normalised mutual information, (H(F) + H(M)) / H(F, M)
    Nmi,
    /// Local cross-correlation: for images of one kind whose brightness differs from place to place
    Lcc,
    /// The sum of squared differences: for images of one kind and brightness
    Ssd,
}

impl Force {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mi => "mi",
            Self::Nmi => "nmi",
            Self::Lcc => "lcc",
            Self::Ssd => "ssd",
        }
    }
}
