//! Maps voxels of the fixed image to positions in the moving image.

use crate::Geometry;
use glam::{DAffine3, DVec3};

/// The distance beyond the outermost centres, in voxels, up to which a position still counts as inside. Positions in
/// f64 are accurate to about 1e-13 of a voxel, so without this tolerance round-off would decide for every position on
/// the border.
const ROUND_OFF: f64 = 1e-9;

/// The position of voxel `index` of `fixed` in `moving`, in voxels with fractions, by the definition of both grids.
pub fn position(fixed: &Geometry, moving: &Geometry, transform: &DAffine3, index: [usize; 3]) -> DVec3 {
    let index = DVec3::from_array(index.map(|n| n as f64));
    let point = fixed.origin + fixed.direction * (fixed.spacing * index);
    let moved = transform.matrix3 * point + transform.translation;
    moving.direction.inverse() * (moved - moving.origin) / moving.spacing
}

/// Whether a position, in voxels, is on or between the outermost voxel centres of a grid of `size`.
pub fn inside(position: DVec3, size: [usize; 3]) -> bool {
    (0..3).all(|axis| (-ROUND_OFF..=size[axis] as f64 - 1.0 + ROUND_OFF).contains(&position[axis]))
}

/// The indices of all voxels of a grid of `size`, in the order of memory.
pub fn indices(size: [usize; 3]) -> impl Iterator<Item = [usize; 3]> {
    let [nx, ny, nz] = size;
    (0..nz).flat_map(move |z| (0..ny).flat_map(move |y| (0..nx).map(move |x| [x, y, z])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DMat3;

    #[test]
    fn a_position_by_hand() {
        let fixed = Geometry::axis_aligned([9; 3], DVec3::new(1.0, 2.0, 3.0), DVec3::new(10.0, 20.0, 30.0));
        // The moving image's i runs to the back, its j to the right.
        let direction = DMat3::from_cols(DVec3::Y, -DVec3::X, DVec3::Z);
        let moving = Geometry { size: [9; 3], spacing: DVec3::new(0.5, 4.0, 1.0), origin: DVec3::ZERO, direction };
        let transform = DAffine3::from_translation(DVec3::new(-16.0, 0.0, -35.0));
        // (10 + 2, 20 + 2, 30 + 6) mm, moved to (-4, 22, 1) mm: 22 / 0.5 along i, 4 / 4 along j.
        assert_eq!(position(&fixed, &moving, &transform, [2, 1, 2]), DVec3::new(44.0, 1.0, 1.0));
    }

    #[test]
    fn the_outermost_centres_are_inside() {
        let at = |x: f64| inside(DVec3::new(1.0, x, 0.0), [2, 5, 1]);
        assert_eq!([-0.001, -1e-13, 0.0, 4.0, 4.0 + 1e-13, 4.001].map(at), [false, true, true, true, true, false]);
        assert!(!at(f64::NAN));
    }

    #[test]
    fn the_first_index_is_the_fastest() {
        let all: Vec<_> = indices([2, 1, 2]).collect();
        assert_eq!(all, [[0, 0, 0], [1, 0, 0], [0, 0, 1], [1, 0, 1]]);
    }
}
