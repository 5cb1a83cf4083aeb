//! Boxes in noise, in larger grids. They fit when they are turned over, too, and the metric is higher where the grids
//! overlap less.

use glam::{DAffine3, DMat3, DVec3};
use libtest_mimic::Trial;
use mireg::{Geometry, Options, PixelType, Volume, random};

use super::{register, test};

pub fn tests() -> Vec<Trial> {
    vec![test("a_box_that_was_turned_over_is_not_trusted", a_box_that_was_turned_over_is_not_trusted)]
}

/// A box in the middle of a grid.
struct Case {
    size: [usize; 3],
    spacing: DVec3,
    half: DVec3,
    degrees: f64,
    shift: DVec3,
}

impl Case {
    fn geometry(&self) -> Geometry {
        Geometry::axis_aligned(self.size, self.spacing, DVec3::ZERO)
    }

    /// Returns where the box is in the moving image.
    fn moved(&self) -> DAffine3 {
        let turn = DMat3::from_axis_angle(DVec3::new(0.4, -0.8, 0.45).normalize(), self.degrees.to_radians());
        let middle = self.geometry().centre();
        DAffine3::from_mat3_translation(turn, middle - turn * middle + self.shift)
    }

    /// Returns an image of the box, moved, with a noise of a tenth of its contrast.
    fn image(&self, moved: &DAffine3, seed: u64) -> Volume {
        let geometry = self.geometry();
        let (to_mm, back) = (geometry.index_to_world(), moved.inverse());
        let voxel = |n: usize| {
            let at = to_mm.transform_point3(geometry.index_of(n).map(|i| i as f64).into());
            let off = (back.transform_point3(at) - geometry.centre()).abs();
            let part = ((self.half - off) / self.spacing + 0.5).clamp(DVec3::ZERO, DVec3::ONE).element_product();
            (200.0 * part) as f32 + 20.0 * random::normal(seed, n as u64)
        };
        Volume { geometry, voxels: (0..geometry.voxels()).map(voxel).collect(), pixel: PixelType::F32 }
    }

    /// Returns how far off the corners of the box are on average, mm.
    fn error(&self, found: &DAffine3) -> f64 {
        let (middle, truth) = (self.geometry().centre(), self.moved());
        let corners = Geometry::axis_aligned([2; 3], 2.0 * self.half, middle - self.half).corners();
        corners.map(|at| found.transform_point3(at).distance(truth.transform_point3(at))).iter().sum::<f64>() / 8.0
    }
}

fn a_box_that_was_turned_over_is_not_trusted() {
    let case = |size, spacing, half, degrees, shift| Case {
        size,
        spacing: DVec3::from_array(spacing),
        half: DVec3::from_array(half),
        degrees,
        shift: DVec3::from_array(shift),
    };
    let cases = [
        case([42, 78, 83], [2.7; 3], [37.6, 11.4, 32.7], 12.7, [2.0, -2.0, 2.4]),
        case([42, 78, 89], [2.6, 2.6, 1.7], [19.1, 11.0, 39.0], 17.3, [-9.0, 6.0, 8.0]),
        case([41, 87, 66], [2.1; 3], [30.9, 24.7, 26.9], 13.8, [2.0, 4.0, -3.0]),
    ];
    for (n, case) in (0..).zip(&cases) {
        let [fixed, moving] =
            [(DAffine3::IDENTITY, 2 * n), (case.moved(), 2 * n + 1)].map(|(at, seed)| case.image(&at, seed));
        let found = register(&fixed, &moving, &Options::default());
        let error = case.error(&found.transform.to_affine());
        assert!(error < 1.0 || !found.trusted(), "box {n}: {error:.1} mm off, {:?}", found.doubts);
    }
}
