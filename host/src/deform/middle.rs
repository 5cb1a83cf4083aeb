//! The grid in the middle between two images, from which the two flows of symmetric mode lead to both.
//!
//! The linear start is split into two equal halves, by the square root of its matrix. So if the images are exchanged,
//! nothing changes but the direction.

use super::levels;
use crate::error::Setting;
use crate::image::Geometry;
use crate::{Error, Result};
use glam::{DAffine3, DMat3, DVec3};

/// The margin at each end of the box that both images share, as a fraction of its side. It does not reach beyond both
/// images.
const MARGIN: f64 = 1.0 / 16.0;

/// The fraction of a voxel by which round-off may enlarge a side without adding a voxel.
const ROUND_OFF: f64 = 1e-6;

/// The determinant of the identity plus the matrix of a rotation by 171 degrees.
const NEAR_HALF_A_TURN: f64 = 0.05;

/// The middle between two images.
pub struct Middle {
    /// From the middle to the fixed and to the moving image, LPS mm.
    pub to: [DAffine3; 2],
    /// The grid in the middle at each level, coarse to fine.
    pub grids: Vec<Geometry>,
}

impl Middle {
    /// Makes the middle between two images whose linear start is `start`, at levels with these spacings, mm, or with
    /// its own.
    ///
    /// # Errors
    /// [`Error::Option`] for slices that lie askew in space, and for a start that has no half.
    pub fn new(images: [&Geometry; 2], start: &DAffine3, spacings: Option<&[f64]>) -> Result<Self> {
        if images.iter().any(|image| image.is_slice_in_space()) {
            let text = "oblique single slices cannot be deformed symmetrically; use volumes or 2-D images";
            return Err(Error::option(Setting::Symmetric, text));
        }
        let half = half(start).ok_or_else(|| {
            Error::option(
                Setting::Start,
                "the initial transform rotates by about 180 degrees or mirrors, so it has no half; turn the axes of an image in its header",
            )
        })?;
        let to = [half.inverse(), half];
        let finest = grid(images, &to);
        let automatic = levels::automatic(&finest);
        let spacings = spacings.unwrap_or(&automatic);
        Ok(Self {
            to,
            grids: spacings.iter().map(|&mm| finest.respaced(finest.spacing.max(DVec3::splat(mm)))).collect(),
        })
    }

    /// The spacings of its levels, coarse to fine, mm.
    pub fn spacings(&self) -> Vec<f64> {
        self.grids.iter().map(super::smallest).collect()
    }
}

/// Returns a grid along the LPS axes over the box that both images share in the middle. Its voxels are cubes (squares
/// in 2-D) whose volume is the geometric mean of those of both images' voxels.
fn grid(images: [&Geometry; 2], to: &[DAffine3; 2]) -> Geometry {
    let boxes = [0, 1].map(|n: usize| bounds(images[n], &to[n].inverse()));
    let [one, other] = &boxes;
    let shared = [one[0].max(other[0]), one[1].min(other[1])];
    let whole = [one[0].min(other[0]), one[1].max(other[1])];
    let flat = images[0].is_flat();
    let grown = MARGIN * (shared[1] - shared[0]);
    let mut ends = [(shared[0] - grown).max(whole[0]), (shared[1] + grown).min(whole[1])];
    // Images that do not overlap share no box.
    if (0..3).any(|axis| shared[1][axis] <= shared[0][axis] && !(flat && axis == 2)) {
        ends = whole;
    }
    let (axes, parts) = if flat { (2, 0.25) } else { (3, 1.0 / 6.0) };
    let volume = |image: &Geometry| (0..axes).map(|axis| image.spacing[axis]).product::<f64>();
    let mm = (volume(images[0]) * volume(images[1])).powf(parts);
    let mut size = [1; 3];
    for axis in 0..axes {
        size[axis] = (((ends[1][axis] - ends[0][axis]) / mm - ROUND_OFF).ceil()).max(2.0) as usize;
    }
    let spacing = if flat { DVec3::new(mm, mm, 1.0) } else { DVec3::splat(mm) };
    let mut grid = Geometry::axis_aligned(size, spacing, DVec3::ZERO);
    grid.origin = 0.5 * (ends[0] + ends[1]) - grid.centre();
    grid
}

/// Returns the box along the LPS axes around an image's voxels after a map. A single slice has no thickness.
fn bounds(image: &Geometry, map: &DAffine3) -> [DVec3; 2] {
    let to_mm = *map * image.index_to_world();
    let corner = |n: usize| {
        let end = |axis: usize| match (image.size[axis], n >> axis & 1) {
            (1, _) if axis == 2 => 0.0,
            (_, 0) => -0.5,
            (size, _) => size as f64 - 0.5,
        };
        to_mm.transform_point3(DVec3::new(end(0), end(1), end(2)))
    };
    let corners = (0..8).map(corner);
    let none = [DVec3::INFINITY, DVec3::NEG_INFINITY];
    corners.fold(none, |[low, high], at| [low.min(at), high.max(at)])
}

/// Returns the map that, applied twice, is `map`: the principal square root, by the iteration of Denman & Beavers
/// (1976). Returns `None` if there is none, as for half a turn.
pub fn half(map: &DAffine3) -> Option<DAffine3> {
    let (mut root, mut inverse) = (map.matrix3, DMat3::IDENTITY);
    for _ in 0..60 {
        let next = 0.5 * (root + inverse.inverse());
        inverse = 0.5 * (inverse + root.inverse());
        root = next;
    }
    let miss = root * root - map.matrix3;
    let size = |matrix: &DMat3| matrix.to_cols_array().iter().fold(0.0, |most: f64, v| most.max(v.abs()));
    // Near half a turn, the axis of the root is a matter of chance.
    let turns_less = (map.matrix3 + DMat3::IDENTITY).determinant() > NEAR_HALF_A_TURN;
    let found = turns_less && root.is_finite() && size(&miss) < 1e-9 * size(&map.matrix3).max(1.0);
    found.then(|| DAffine3 { matrix3: root, translation: (root + DMat3::IDENTITY).inverse() * map.translation })
}

/// Returns the map halfway between two maps, or `None` if there is none.
pub fn between(one: &DAffine3, other: &DAffine3) -> Option<DAffine3> {
    half(&(one.inverse() * *other)).map(|half| *one * half)
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DQuat;

    fn map() -> DAffine3 {
        let turn = DQuat::from_euler(glam::EulerRot::XYZ, 0.4, -1.1, 0.7);
        DAffine3::from_scale_rotation_translation(DVec3::new(1.2, 0.8, 1.1), turn, DVec3::new(90.0, -300.0, 12.0))
    }

    fn apart(a: &DAffine3, b: &DAffine3) -> f64 {
        [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z]
            .iter()
            .map(|&p| a.transform_point3(100.0 * p).distance(b.transform_point3(100.0 * p)))
            .fold(0.0, f64::max)
    }

    #[test]
    fn two_halves_are_the_whole_and_half_of_the_way_back_is_the_half_back() {
        let half_way = half(&map()).unwrap();
        assert!(apart(&(half_way * half_way), &map()) < 1e-9);
        assert!(apart(&half(&map().inverse()).unwrap(), &half_way.inverse()) < 1e-9);
        assert!(half(&DAffine3::from_rotation_z(3.1)).is_none() && half(&DAffine3::from_scale(-DVec3::ONE)).is_none());
        assert!(half(&DAffine3::from_rotation_z(2.0)).is_some());
    }

    #[test]
    fn what_lies_between_two_maps_lies_there_from_both_sides() {
        let other = DAffine3::from_translation(DVec3::new(3.0, 1.0, -2.0)) * map() * DAffine3::from_rotation_x(0.1);
        let middle = between(&map(), &other).unwrap();
        assert!(apart(&middle, &between(&other, &map()).unwrap()) < 1e-9);
        assert!(apart(&middle.inverse(), &between(&map().inverse(), &other.inverse()).unwrap()) < 1e-9);
        assert!(apart(&middle, &map()) > 1.0 && apart(&middle, &other) > 1.0);
    }

    #[test]
    fn exchanged_images_have_the_same_middle() {
        let one = Geometry::axis_aligned([60, 50, 40], DVec3::new(1.0, 1.0, 2.0), DVec3::new(-30.0, -25.0, 10.0));
        let mut two = Geometry::axis_aligned([30, 30, 30], DVec3::splat(2.5), DVec3::new(-40.0, 3.0, -9.0));
        two.origin += map().transform_point3(one.centre()) - two.centre();
        let [a, b] = [([&one, &two], map()), ([&two, &one], map().inverse())]
            .map(|(images, start)| Middle::new(images, &start, None).unwrap());
        assert!(apart(&a.to[0], &b.to[1]) < 1e-9 && apart(&a.to[1], &b.to[0]) < 1e-9);
        for (a, b) in a.grids.iter().zip(&b.grids) {
            assert!(a.size == b.size && a.is_close(b));
        }
        // The centres of both images lie in it.
        let finest = a.grids.last().unwrap();
        let inside = |p: DVec3| {
            let at = finest.world_to_index().transform_point3(p);
            (0..3).all(|axis| at[axis] > 0.0 && at[axis] < finest.size[axis] as f64)
        };
        assert!(inside(a.to[0].inverse().transform_point3(one.centre())));
        assert!(inside(a.to[1].inverse().transform_point3(two.centre())));
    }

    #[test]
    fn images_on_one_grid_have_it_in_the_middle_and_pictures_stay_in_their_plane() {
        for size in [[60, 50, 40], [60, 50, 1]] {
            let grid = Geometry::axis_aligned(size, DVec3::ONE, DVec3::new(3.0, 4.0, 0.0));
            let middle = Middle::new([&grid, &grid], &DAffine3::IDENTITY, None).unwrap();
            assert!(middle.grids.last().unwrap().is_close(&grid), "{:?}", middle.grids.last());
        }
    }
}
