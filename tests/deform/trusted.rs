//! Which deformations are trusted: a field can be found between any two images.

use super::{Pair, found, from_headers, test};
use crate::support::by_place;
use glam::DAffine3;
use libtest_mimic::Trial;
use mireg::deform::{Deformation, Force, Options, Start};
use mireg::registration::Place;
use mireg::transform::{Dimension, Kind, Linear};
use mireg::{Check, random};

pub fn tests() -> Vec<Trial> {
    vec![
        test("unrelated_images_fail", unrelated),
        test("the_linear_part_tells_where_local_correlation_does_not", linear_part),
        test("unrelated_pictures_fail", unrelated_pictures),
        test("related_images_pass", related),
        test("identical_images_pass", identical),
    ]
}

fn pair() -> Pair {
    Pair::new([40, 38, 34], |v| 150.0 - v)
}

fn grave(found: &Deformation) -> Vec<Check> {
    found.doubts.iter().filter(|doubt| doubt.grave).map(|doubt| doubt.check).collect()
}

/// The pair's fixed image, and cubes of noise of its size.
fn noise() -> Pair {
    let Pair { fixed, moving } = pair();
    let speck = |x: f64, y: f64, z: f64| random::uniform(5, ((x as u64) * 100 + y as u64) * 100 + z as u64) as f32;
    let other = by_place(&moving, |_, p, _| 100.0 * speck((p.x + 50.0) / 9.0, (p.y + 50.0) / 9.0, (p.z + 50.0) / 9.0));
    Pair { fixed, moving: other }
}

fn unrelated() {
    let found = found(&noise(), &from_headers());
    assert_eq!(grave(&found), [Check::Place], "{:?}, MI {:?}", found.place, found.values);
}

/// A flow from a start that is far off finds places that look right; nearly all of them are places of single waves.
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

/// Turned that far, a picture of waves is another one.
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
        // The place of the field alone would do.
        assert!(wrong.place.is_some_and(|place| place.intensities > 1.2), "{:?}", wrong.place);
        assert_eq!(grave(&wrong), [Check::Place], "{:?}, {:?}", wrong.place, wrong.linear_place);
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
