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

/// Returns the distances between where a deformation and `moved` take points of the head, mm, and its grave doubts.
fn of_head(moved: &DAffine3) -> ([f64; 2], Vec<Doubt>) {
    let still = body(&DAffine3::IDENTITY, |lumps| 200.0 + 10.0 * lumps);
    let moving = body(&moved.inverse(), |lumps| 500.0 - 12.0 * lumps);
    let found = found(&Pair { fixed: still, moving }, &Options::default());
    let off = |at| found.field.map().transform_point3(at).distance(moved.transform_point3(at));
    let grave = found.doubts.into_iter().filter(|doubt| doubt.grave).collect();
    ([HEAD, HEAD + DVec3::new(20.0, 30.0, 10.0)].map(off), grave)
}

fn turned_head() {
    for degrees in [15.0, 25.0] {
        let (off, grave) = of_head(&turned(degrees, DVec3::ZERO));
        assert!(grave.is_empty() && off.into_iter().all(|mm| mm < 0.5), "{degrees} degrees: {off:?} mm off, {grave:?}");
    }
}

fn shifted_head() {
    for (degrees, mm, told) in [(4.0, 0.0, false), (8.0, 10.0, true)] {
        let ([off, _], grave) = of_head(&turned(degrees, DVec3::new(1.0, 0.3, 0.5).normalize() * mm));
        let mut doubts = grave.iter().filter(|doubt| doubt.check == Check::Place);
        let says = doubts.any(|doubt| doubt.message.to_string().contains("mm away: the field did not follow"));
        assert!(says == told && (off > 2.0) == told, "{degrees} degrees: {off:.1} mm off, {grave:?}");
    }
}
