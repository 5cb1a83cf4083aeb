//! Checks that deformable registration leaves out the background around the object in the fixed image.

use super::{Pair, found, from_headers, test};
use crate::support::by_place;
use glam::DVec3;
use libtest_mimic::Trial;
use mireg::deform::{Deformation, Options};
use mireg::image::IntensityRange;
use mireg::{Geometry, Volume};

pub fn tests() -> Vec<Trial> {
    vec![
        test("background_around_the_fixed_image_changes_nothing", background),
        test("around_a_mask_there_is_no_flow", around_a_mask),
    ]
}

/// A ball of 20 mm radius has 20 voxels along x and y, and 16 along z. It is extended by 8, 8 and 7 voxels on each
/// side, which are two voxels of the coarsest level.
const COVERED: [usize; 3] = [20 + 2 * 8, 20 + 2 * 8, 16 + 2 * 7];

/// Pads a volume on all sides by `by` voxels, which are 0.
fn padded(volume: &Volume, by: usize) -> Volume {
    let old = volume.geometry;
    let size = old.size.map(|n| n + 2 * by);
    let geometry = Geometry { size, origin: old.origin - old.spacing * by as f64, ..old };
    let mut voxels = vec![0.0; geometry.voxels()];
    for (row, values) in volume.voxels.chunks(old.size[0]).enumerate() {
        let [y, z] = [row % old.size[1] + by, row / old.size[1] + by];
        voxels[by + size[0] * (y + size[1] * z)..][..old.size[0]].copy_from_slice(values);
    }
    Volume { geometry, voxels, pixel: volume.pixel }
}

fn background() {
    let Pair { fixed, moving } = Pair::new([40, 38, 34], |v| 2.0 * v + 40.0);
    let centre = fixed.geometry.centre();
    let ball = by_place(&fixed, |_, p, v| if p.distance(centre) < 20.0 { v + 10.0 } else { 0.0 });
    let around = |by: usize| {
        let options = Options {
            levels: Some(vec![8.0, 4.0, 2.0]),
            fixed_range: IntensityRange::Between(0.0, 120.0),
            ..from_headers()
        };
        let pair = Pair { fixed: padded(&ball, by), moving: moving.clone() };
        (found(&pair, &options), pair.fixed.geometry)
    };
    let ((near, grid), (far, larger)) = (around(0), around(30));
    let sizes = |found: &Deformation| found.levels.iter().map(|level| level.size).collect::<Vec<_>>();
    assert_eq!((sizes(&near), sizes(&near).last()), (sizes(&far), Some(&COVERED)));
    assert_eq!([near.field.geometry, far.field.geometry], [grid, larger]);
    assert_eq!(near.values, far.values);
    let [to_mm, to_larger] = [grid.index_to_world(), larger.world_to_index()];
    for number in 0..grid.voxels() {
        let [x, y, z] = [number % 40, number / 40 % 38, number / (40 * 38)].map(|n| n as f64);
        let place = to_mm.transform_point3(DVec3::new(x, y, z));
        assert_eq!(to_larger.transform_point3(place), DVec3::new(x, y, z) + 30.0);
        assert!(near.field.at(place).distance(far.field.at(place)) < 1e-6, "at {place}");
    }
}

fn around_a_mask() {
    let pair = Pair::new([40, 38, 34], |v| 2.0 * v + 40.0);
    let centre = pair.fixed.geometry.centre();
    let ball = by_place(&pair.fixed, |_, p, _| f32::from(u8::from(p.distance(centre) < 20.0)));
    let options = Options { levels: Some(vec![8.0, 4.0, 2.0]), fixed_mask: Some(ball), ..from_headers() };
    let found = found(&pair, &options);
    assert_eq!(found.levels.last().unwrap().size, COVERED);
    let inside = super::inner(&pair.fixed.geometry).filter(|p| p.distance(centre) < 16.0);
    let errors: Vec<f64> =
        inside.map(|p| found.field.at(p).distance(super::truth(&pair.fixed.geometry, p) - p)).collect();
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    assert!(mean < 0.5, "{mean:.3} mm");
}
