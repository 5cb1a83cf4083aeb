//! How the update field and the displacement field are smoothed.

use super::Options;

/// The sigma that smooths the update field, as a multiple of the one that smooths the displacement field.
const WINDOW: f64 = 3.0;

/// The sigma of the softest field, voxels: a Gaussian narrower than a third of a voxel does not smooth.
pub const SOFTEST: f64 = 0.32;

/// How the update field and the displacement field are smoothed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Smoothing {
    /// As the user says: the sigmas for the update field and the displacement field, mm at the finest level, whose
    /// spacing is `finest_mm`. At coarser levels they grow with the spacing.
    Given { smooth_mm: [f64; 2], finest_mm: f64 },
    /// As found from the images: the sigma for the displacement field, in voxels of each level.
    Found(f64),
}

impl Smoothing {
    /// Returns the smoothing that the options ask for; `None` if it is to be found from the images.
    pub fn given(options: &Options, finest_mm: f64) -> Option<Self> {
        let smooth_mm = match (options.smooth_mm, options.smooth_field_mm) {
            (None, None) => return None,
            (Some(update), field) => [update, field.unwrap_or(update / WINDOW)],
            (None, Some(field)) => [(WINDOW * field).max(finest_mm), field],
        };
        Some(Self::Given { smooth_mm, finest_mm })
    }

    /// Returns the smoothing of the finer levels, given that of the coarse ones. The softest field keeps its sigma in
    /// voxels, because anatomy then differs on all scales. The stiffer the field, the closer its sigma stays to the
    /// same number of mm. A smoothing that the user gave is kept.
    pub fn finer(self) -> Self {
        match self {
            Self::Found(voxels) => Self::Found((voxels / SOFTEST).sqrt().sqrt() * voxels),
            given => given,
        }
    }

    /// Returns the sigmas for the update field and the displacement field, mm, at a level whose spacing is `mm`.
    pub fn sigmas_mm(self, mm: f64) -> [f64; 2] {
        match self {
            Self::Given { smooth_mm, finest_mm } => smooth_mm.map(|smooth| smooth * mm / finest_mm),
            Self::Found(voxels) => [WINDOW * voxels * mm, voxels * mm],
        }
    }
}
