//! Which results are trusted. This must be checked, since a field can be found between any two images.

use super::{Pair, found, from, from_headers, test};
use crate::support::{self, by_place, specked_ellipsoid};
use glam::{DAffine3, DVec3};
use libtest_mimic::Trial;
use mireg::deform::{Deformation, Force, Options, Start};
use mireg::registration::Place;
use mireg::transform::{Dimension, Kind, Linear};
use mireg::{Check, Geometry, PixelType, Volume, random};

pub fn tests() -> Vec<Trial> {
    vec![
        test("unrelated_images_fail", unrelated),
        test("the_linear_part_tells_where_local_correlation_does_not", linear_part),
        test("unrelated_pictures_fail", unrelated_pictures),
        test("related_images_pass", related),
        test("identical_images_pass", identical),
        test("a_blurred_picture_does_not_guide_a_soft_field", blurred),
        test("a_soft_field_that_the_images_do_not_account_for_fails", bent),
        test("images_that_do_not_meet_fail", apart),
        test("a_field_does_not_hide_that_an_image_is_mirrored", mirrored),
        test("the_overlap_is_a_fraction_whatever_the_scale", overlap),
    ]
}

fn pair() -> Pair {
    Pair::new([40, 38, 34], |v| 150.0 - v)
}

fn grave(found: &Deformation) -> Vec<Check> {
    found.doubts.iter().filter(|doubt| doubt.grave).map(|doubt| doubt.check).collect()
}

/// Returns the pair's fixed image, and cubes of noise of the same size.
fn noise() -> Pair {
    let Pair { fixed, moving } = pair();
    let speck = |x: f64, y: f64, z: f64| random::uniform(5, ((x as u64) * 100 + y as u64) * 100 + z as u64) as f32;
    let other = by_place(&moving, |_, p, _| 100.0 * speck((p.x + 50.0) / 9.0, (p.y + 50.0) / 9.0, (p.z + 50.0) / 9.0));
    Pair { fixed, moving: other }
}

/// A body with a symmetric outline and asymmetric contents, and its mirror image. A field that bends one side onto the
/// other makes them agree.
fn mirrored() {
    let fixed = specked_ellipsoid(Geometry::axis_aligned([48; 3], DVec3::splat(2.0), DVec3::ZERO));
    let moving = support::mirrored(&fixed);
    let found = found(&Pair { fixed, moving }, &Options::default());
    let told = grave(&found).into_iter().filter(|check| *check == Check::Mirrored).count();
    assert_eq!(told, 1, "{:?}", found.doubts);
}

fn unrelated() {
    let found = found(&noise(), &from_headers());
    assert_eq!(grave(&found), [Check::Place], "{:?}, MI {:?}", found.place, found.values);
}

/// From a start that is far off, the field aligns single waves with wrong ones, which look right locally.
fn linear_part() {
    let Pair { fixed, moving } = pair();
    let centre = fixed.geometry.centre();
    let turned =
        DAffine3::from_translation(centre) * DAffine3::from_rotation_z(1.0) * DAffine3::from_translation(-centre);
    let far = Start::Transform(Linear::new(Kind::Rigid, Dimension::Three, centre, &turned));
    let from = |start| Options { force: Force::Lcc.into(), start, ..Options::default() };
    let lead = |place: Option<Place>| place.map_or(0.0, |place| place.contrast.min(place.intensities));
    let pair = Pair { fixed, moving };

    let wrong = found(&pair, &from(far));
    assert!(lead(wrong.place) > 1.4 && lead(wrong.linear_place) < 1.0, "{:?}, {:?}", wrong.place, wrong.linear_place);
    assert_eq!(grave(&wrong), [Check::Place]);
    let right = found(&pair, &from(Start::Headers));
    assert!(lead(right.linear_place) > 1.0, "{:?}", right.linear_place);
    assert_eq!(grave(&right), []);
    assert!(found(&pair, &from(Start::Register(Kind::Affine))).linear_place.is_none());
}

/// After so large a rotation, a picture of waves is unrelated to the original.
fn unrelated_pictures() {
    let Pair { fixed, moving } = Pair::new([96, 90, 1], |v| 150.0 - v);
    let centre = fixed.geometry.centre();
    let turned =
        DAffine3::from_translation(centre) * DAffine3::from_rotation_z(1.2) * DAffine3::from_translation(-centre);
    let far = Start::Transform(Linear::new(Kind::Rigid, Dimension::Two, centre, &turned));
    let pair = Pair { fixed, moving };
    for force in [Force::Mi, Force::Lcc] {
        let from = |start| Options { force: force.into(), start, smooth_mm: Some(2.0), ..Options::default() };
        let wrong = found(&pair, &from(far.clone()));
        // The check `place` of the field alone would suffice.
        assert!(wrong.place.is_some_and(|place| place.intensities > 1.2), "{:?}", wrong.place);
        assert_eq!(grave(&wrong), [Check::Place, Check::Bent], "{:?}, {:?}", wrong.place, wrong.linear_place);
        let right = found(&pair, &from(Start::Headers));
        assert_eq!(grave(&right), [], "{:?}, {:?}", right.place, right.linear_place);
    }
}

fn related() {
    let found = found(&pair(), &from_headers());
    assert_eq!(grave(&found), [], "{:?}", found.place);
}

fn identical() {
    let Pair { fixed, .. } = pair();
    let found = found(&Pair { moving: fixed.clone(), fixed }, &from_headers());
    assert_eq!(grave(&found), [], "{:?}, MI {:?}", found.place, found.values);
}

/// Returns two pictures of a disc: one with cells in it, the other with larger, blurred cells that are unrelated. They
/// have only the edge of the disc in common, which is aligned from the start.
fn emitter(seed: u64) -> Pair {
    let geometry = Geometry::axis_aligned([160, 160, 1], DVec3::ONE, DVec3::ZERO);
    let picture = |seed: u64, side: f64, blur: f64| {
        let voxel = |p: DVec3| {
            let cell = ((p.x / side) as u64) * 100 + (p.y / side) as u64;
            let edge = (60.0 - p.distance(DVec3::new(80.0, 80.0, 0.0))) / blur;
            (60.0 + 120.0 * random::uniform(seed, cell)) / (1.0 + libm::exp(-edge))
        };
        let voxels = (0..geometry.voxels()).map(|n| voxel(geometry.index_of(n).map(|i| i as f64).into()) as f32);
        Volume { geometry, voxels: voxels.collect(), pixel: PixelType::F32 }
    };
    Pair { fixed: picture(2 * seed, 6.0, 1.0), moving: picture(2 * seed + 1, 40.0, 8.0) }
}

fn blurred() {
    for seed in 1..7 {
        let found = found(&emitter(seed), &from_headers());
        let stiff = found.levels[0].smooth_mm[1] / found.levels[0].spacing_mm[0];
        let mm = found.field.vectors.iter().map(|v| v[0].hypot(v[1])).sum::<f32>() / found.field.vectors.len() as f32;
        assert!(stiff > 0.6, "{seed}: {stiff} voxels, {mm} mm");
    }
}

fn bent() {
    let soft = Options { smooth_mm: Some(1.5), smooth_field_mm: Some(0.5), ..from_headers() };
    let found = found(&emitter(1), &soft);
    assert!(grave(&found).contains(&Check::Bent), "{:?}, {:?}", found.bending, found.doubts);
}

fn apart() {
    let Pair { fixed, mut moving } = pair();
    moving.geometry.origin.x += 150.0;
    let found = found(&Pair { fixed, moving }, &from_headers());
    assert!(grave(&found).contains(&Check::Overlap), "{:?}", found.doubts);
}

/// A cube of 48 mm and one of 28 mm with the same centre: whichever the start makes the smaller one lies inside the
/// other.
fn overlap() {
    let cube = |side: usize| {
        let mut geometry = Geometry::axis_aligned([side; 3], DVec3::splat(2.0), DVec3::ZERO);
        geometry.origin = -geometry.centre();
        Volume { geometry, voxels: super::object(&geometry), pixel: PixelType::F32 }
    };
    let pair = Pair { fixed: cube(24), moving: cube(14) };
    let overlap = |scale: f64, shift: f64| {
        let start = from(&(DAffine3::from_translation(DVec3::X * shift) * DAffine3::from_scale(DVec3::splat(scale))));
        let (levels, iterations) = (Some(vec![2.0]), Some(vec![1]));
        let options = Options { start, levels, iterations, smooth_mm: Some(12.0), ..Options::default() };
        found(&pair, &options).overlap
    };
    for (scale, shift, expected) in [(1.0, 0.0, 1.0), (0.5, 0.0, 1.0), (2.0, 0.0, 1.0), (1.0, 24.0, 0.5)] {
        let found = overlap(scale, shift);
        assert!(found <= 1.0 && (found - expected).abs() < 0.06, "{scale}, {shift}: {found}");
    }
}
