//! What speaks against a deformation.

use super::{Consistency, Level};
use crate::image::Geometry;
use crate::registration::Doubt;

/// Where the way there and back ends further from where it began on average, as a part of a voxel, the inverse is poor.
const POOR_INVERSE: f64 = 0.5;
/// Beyond these, volumes change more than tissue does.
const UNUSUAL: [f64; 2] = [0.1, 10.0];

/// The checks that failed.
pub fn of(levels: &[Level], jacobian: [f64; 2], consistency: &Consistency, grid: &Geometry) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    let mut doubt = |name, grave, text| doubts.push(Doubt { name, text, grave });
    let [low, high] = jacobian;
    if low.is_nan() || low <= 0.0 {
        doubt(
            "folded",
            true,
            format!("the field folds space: its Jacobian is {low:.3} at its smallest; use a larger --smooth"),
        );
    } else if low < UNUSUAL[0] || high > UNUSUAL[1] {
        let text =
            format!("volumes change by {low:.2} to {high:.1} times, more than tissue does: use a larger --smooth");
        doubt("stretched", false, text);
    }
    let rose = levels.iter().any(|level| level.ends()[1] > level.ends()[0]);
    if !rose {
        doubt(
            "no rise",
            true,
            "the images do not agree better than at the start: see whether the start places them on each other".into(),
        );
    }
    let voxel = super::smallest(grid);
    if consistency.mean_mm > POOR_INVERSE * voxel {
        let mm = consistency.mean_mm;
        doubt(
            "inverse",
            false,
            format!("the way there and back misses by {mm:.2} mm on average: use a larger --smooth"),
        );
    }
    doubts
}
