//! Volumes of which a part moved by itself.

use glam::{DAffine3, DMat3, DVec3};
use libtest_mimic::Trial;
use mireg::{Check, Options, Volume};

use super::outlines::image;
use super::place::lumps;
use super::{register, test};

pub fn tests() -> Vec<Trial> {
    vec![test("a_head_that_turned_over_still_shoulders_is_told_of", turned_head)]
}

/// The centre of the ball, LPS mm.
pub const HEAD: DVec3 = DVec3::new(126.0, 126.0, 165.0);

/// Returns an image of a ball on a larger box. `back` maps points of the ball to where its contents were, LPS mm.
pub fn body(back: &DAffine3, value: fn(f64) -> f64) -> Volume {
    image(|at| {
        let shoulders = (at - DVec3::new(126.0, 126.0, 50.0)).abs().cmplt(DVec3::new(100.0, 70.0, 35.0)).all();
        match () {
            () if at.distance(HEAD) < 60.0 => value(lumps(back.transform_point3(at))),
            () if shoulders => value(lumps(at)),
            () => 0.0,
        }
    })
}

/// Returns the motion of the ball's contents: a rotation about the body's axis, and a shift in mm.
pub fn turned(degrees: f64, shift: DVec3) -> DAffine3 {
    let turn = DMat3::from_rotation_z(degrees.to_radians());
    DAffine3::from_mat3_translation(turn, HEAD - turn * HEAD + shift)
}

fn turned_head() {
    let still = body(&DAffine3::IDENTITY, |lumps| 200.0 + 10.0 * lumps);
    for (degrees, told) in [(0.0, false), (15.0, true)] {
        let moved = turned(degrees, DVec3::Z * 0.2 * degrees);
        let moving = body(&moved.inverse(), |lumps| 500.0 - 12.0 * lumps);
        let found = register(&still, &moving, &Options::default());
        let mut doubts = found.doubts.iter().filter(|doubt| doubt.check == Check::Place);
        let says = doubts.any(|doubt| doubt.message.to_string().contains("mm away: a part may have moved by itself"));
        assert!(found.trusted() && says == told, "{degrees} degrees: {:?}", found.doubts);
    }
}
