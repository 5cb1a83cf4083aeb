//! Volumes of which a part moved by itself, as far as a field follows and further.

use super::{Pair, found, test};
use crate::registration::parts::{HEAD, body, turned};
use glam::{DAffine3, DVec3};
use libtest_mimic::Trial;
use mireg::deform::Options;
use mireg::{Check, Doubt};

pub fn tests() -> Vec<Trial> {
    vec![
        test("a_part_that_the_field_does_not_reach_is_told_of", shifted_head),
        test("a_head_that_turned_over_still_shoulders_is_followed", turned_head),
    ]
}

/// The direction of shifts.
const AWAY: DVec3 = DVec3::new(1.0, 0.3, 0.5);

/// Returns the distances between where a deformation and `moved` take points of the head, mm, and its grave doubts.
fn of_head(moved: &DAffine3, options: &Options) -> ([f64; 2], Vec<Doubt>) {
    let still = body(&DAffine3::IDENTITY, |lumps| 200.0 + 10.0 * lumps);
    let moving = body(&moved.inverse(), |lumps| 500.0 - 12.0 * lumps);
    let found = found(&Pair { fixed: still, moving }, options);
    let off = |at| found.field.map().transform_point3(at).distance(moved.transform_point3(at));
    let grave = found.doubts.into_iter().filter(|doubt| doubt.grave).collect();
    ([HEAD, HEAD + DVec3::new(20.0, 30.0, 10.0)].map(off), grave)
}

fn turned_head() {
    let cases = [(15.0, 0.0, 0.5), (25.0, 0.0, 0.5), (40.0, 0.0, 0.5), (25.0, 20.0, 1.5), (20.0, 30.0, 1.5)];
    for (degrees, mm, most) in cases {
        let (off, grave) = of_head(&turned(degrees, AWAY.normalize() * mm), &Options::default());
        let follows = off.into_iter().all(|mm| mm < most);
        assert!(grave.is_empty() && follows, "{degrees} degrees, {mm} mm: {off:?} mm off, {grave:?}");
    }
}

/// With `symmetric`, parts are not moved by themselves.
fn shifted_head() {
    let options = Options { symmetric: true, ..Options::default() };
    for (degrees, mm, told) in [(4.0, 0.0, false), (8.0, 10.0, true)] {
        let ([off, _], grave) = of_head(&turned(degrees, AWAY.normalize() * mm), &options);
        let mut doubts = grave.iter().filter(|doubt| doubt.check == Check::Place);
        let says = doubts.any(|doubt| doubt.message.to_string().contains("mm away: the field did not follow"));
        assert!(says == told && (off > 2.0) == told, "{degrees} degrees: {off:.1} mm off, {grave:?}");
    }
}
