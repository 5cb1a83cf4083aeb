//! Which deformations are trusted: a field can be found between any two images.

use super::{Pair, found, from_headers, test};
use crate::support::by_place;
use libtest_mimic::Trial;
use mireg::deform::Deformation;
use mireg::{Check, random};

pub fn tests() -> Vec<Trial> {
    vec![
        test("unrelated_images_fail", unrelated),
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

fn unrelated() {
    let Pair { fixed, moving } = pair();
    let speck = |x: f64, y: f64, z: f64| random::uniform(5, ((x as u64) * 100 + y as u64) * 100 + z as u64) as f32;
    let other = by_place(&moving, |_, p, _| 100.0 * speck((p.x + 50.0) / 9.0, (p.y + 50.0) / 9.0, (p.z + 50.0) / 9.0));
    let found = found(&Pair { fixed, moving: other }, &from_headers());
    assert_eq!(grave(&found), [Check::Place], "{:?}, MI {:?}", found.place, found.values);
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
