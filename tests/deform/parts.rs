//! Volumes of which a part moved by itself, further than the field follows.

use super::{Pair, found, test};
use crate::registration::parts::{HEAD, body, turned};
use glam::{DAffine3, DVec3};
use libtest_mimic::Trial;
use mireg::Check;
use mireg::deform::Options;

pub fn tests() -> Vec<Trial> {
    vec![test("a_part_that_the_field_does_not_reach_is_told_of", turned_head)]
}

fn turned_head() {
    let still = body(&DAffine3::IDENTITY, |lumps| 200.0 + 10.0 * lumps);
    for (degrees, mm, told) in [(4.0, 0.0, false), (8.0, 10.0, true)] {
        let moved = turned(degrees, DVec3::new(1.0, 0.3, 0.5).normalize() * mm);
        let moving = body(&moved.inverse(), |lumps| 500.0 - 12.0 * lumps);
        let found = found(&Pair { fixed: still.clone(), moving }, &Options::default());
        let off = found.field.map().transform_point3(HEAD).distance(moved.transform_point3(HEAD));
        let mut doubts = found.doubts.iter().filter(|doubt| doubt.grave && doubt.check == Check::Place);
        let says = doubts.any(|doubt| doubt.message.to_string().contains("mm away: the field did not follow"));
        assert!(says == told && (off > 2.0) == told, "{degrees} degrees: {off:.1} mm off, {:?}", found.doubts);
    }
}
