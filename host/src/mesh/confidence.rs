//! How sure the position of each triangle is.

use super::search::triangles_by_corner;
use super::shifts::Shifts;
use crate::Result;
use crate::metric::NO_INFORMATION;
use crate::threads::{check_stopped, should_continue};
use crate::transform::Mesh;
use glam::IVec2;
use rayon::prelude::*;

/// The squared lengths of the shifts that are tried, pixels of the moving picture.
const AWAY: std::ops::RangeInclusive<i32> = 25..=29;

/// Returns for each triangle the fraction of the mutual information that is lost at the best of the shifts. It is taken
/// of the triangle together with all that share a corner with it. It is 0 if the triangle lies no better than shifted,
/// or has too few pixels.
///
/// # Errors
/// [`Error::Stopped`](crate::Error::Stopped)
pub fn confidence(mesh: &Mesh, shifts: &Shifts) -> Result<Vec<f64>> {
    let along = || -5..=5;
    let all = along().flat_map(|y| along().map(move |x| IVec2::new(x, y)));
    let places: Vec<IVec2> =
        std::iter::once(IVec2::ZERO).chain(all.filter(|place| AWAY.contains(&place.length_squared()))).collect();
    let around = triangles_by_corner(mesh);
    let one = |triangle: &[u32; 3]| {
        let mut near: Vec<usize> = triangle.iter().flat_map(|&corner| &around[corner as usize]).copied().collect();
        near.sort_unstable();
        near.dedup();
        if should_continue() { lost(&shifts.information(&near, &places)) } else { 0.0 }
    };
    let found = mesh.triangles.par_iter().map(one).collect();
    check_stopped().map(|()| found)
}

/// Returns the fraction of the first value that is lost at the largest of the others.
fn lost(information: &[Option<[f64; 2]>]) -> f64 {
    let [Some([here, _]), others @ ..] = information else { return 0.0 };
    let most = others.iter().flatten().map(|&[mi, _]| mi).fold(f64::NEG_INFINITY, f64::max);
    let known = *here > NO_INFORMATION && most > f64::NEG_INFINITY;
    if known { (1.0 - most.max(0.0) / here).max(0.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confidence_is_the_part_that_is_lost_at_the_best_place_around() {
        let at = |mi: &[f64]| lost(&mi.iter().map(|&mi| Some([mi, 0.01])).collect::<Vec<_>>());
        assert_eq!(at(&[0.4, 0.1, -0.1]), 0.75);
        assert_eq!(at(&[0.4, -0.1]), 1.0);
        assert_eq!(at(&[0.1, 0.3]), 0.0);
        assert_eq!(at(&[-0.1, -0.2]), 0.0);
        assert_eq!((at(&[0.4]), lost(&[None, Some([0.1, 0.0])])), (0.0, 0.0));
    }
}
