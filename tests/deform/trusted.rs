//! Which deformations are trusted: a field can be found between any two images.

use super::{Pair, found, from_headers, test};
use crate::support::by_place;
use libtest_mimic::Trial;
use mireg::deform::{Deformation, Options, Start};
use mireg::transform::Kind;
use mireg::{Check, random};

pub fn tests() -> Vec<Trial> {
    vec![
        test("unrelated_images_fail", unrelated),
        test("local_correlation_needs_a_registration_of_use", local_correlation_needs_a_registration_of_use),
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

fn local_correlation_needs_a_registration_of_use() {
    for force in ["lcc", "mi,lcc:0.5"] {
        let options = Options { force: force.parse().unwrap(), start: Start::Register(Kind::Affine), ..from_headers() };
        assert!(grave(&found(&noise(), &options)).contains(&Check::Start), "{force}");
        assert_eq!(grave(&found(&pair(), &options)), [], "{force}");
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
