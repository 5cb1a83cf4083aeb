//! What smooths the update field and the field.

use super::Options;

/// The window over which voxels pull together, as a multiple of what smooths the field.
const WINDOW: f64 = 3.0;

/// The softest field, voxels: a Gaussian of less than a third of a voxel is none.
pub const SOFTEST: f64 = 0.32;

/// What smooths the update field and the whole field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Smoothing {
    /// As the user says: standard deviations of Gaussians, mm at the finest level, whose voxels measure `finest_mm`; on coarser levels
    /// they grow with the grid.
    Given { smooth_mm: [f64; 2], finest_mm: f64 },
    /// The Gaussian that smooths the whole field, voxels of a level.
    Found(f64),
}

impl Smoothing {
    /// What the options say, where they do.
    pub fn given(options: &Options, finest_mm: f64) -> Option<Self> {
        let smooth_mm = match (options.smooth_mm, options.smooth_field_mm) {
            (None, None) => return None,
            (Some(update), field) => [update, field.unwrap_or(update / WINDOW)],
            (None, Some(field)) => [(WINDOW * field).max(finest_mm), field],
        };
        Some(Self::Given { smooth_mm, finest_mm })
    }

    /// What smooths the finer levels where this smooths the coarse ones: as many voxels where the images want the softest field, for then
    /// anatomy differs on all scales; the more of the same in mm, the stiffer they want it. What is given is for all.
    pub fn finer(self) -> Self {
        match self {
            Self::Found(voxels) => Self::Found((voxels / SOFTEST).sqrt().sqrt() * voxels),
            given => given,
        }
    }

    /// The Gaussians of the update field and of the whole field, mm, on a level whose voxels measure `mm`.
    pub fn sigmas_mm(self, mm: f64) -> [f64; 2] {
        match self {
            Self::Given { smooth_mm, finest_mm } => smooth_mm.map(|smooth| smooth * mm / finest_mm),
            Self::Found(voxels) => [WINDOW * voxels * mm, voxels * mm],
        }
    }
}
