//! Small bright objects on a dark ground, as in fluorescence microscopy.

use glam::{DAffine3, DVec2, DVec3};
use libtest_mimic::Trial;
use mireg::transform::Kind;
use mireg::{Check, Geometry, Options, PixelType, Registration, Volume, random};

use super::{register, test};

pub fn tests() -> Vec<Trial> {
    vec![
        test("how_scattered_objects_lie_tells_where_they_are", how_scattered_objects_lie_tells_where_they_are),
        test("one_small_object_is_found_in_noise", one_small_object_is_found_in_noise),
        test("one_small_object_is_not_taken_for_another", one_small_object_is_not_taken_for_another),
    ]
}

/// Pixels along each side.
const SIDE: usize = 320;

/// An ellipse: its centre, its half axes, and the angle of the first one.
struct Object {
    centre: DVec2,
    half: DVec2,
    angle: f64,
}

impl Object {
    fn contains(&self, at: DVec2) -> bool {
        (DVec2::from_angle(-self.angle).rotate(at - self.centre) / self.half).length() < 1.0
    }
}

/// Numbers of a seed.
fn numbers(seed: u64) -> impl Fn(u64) -> f64 {
    move |n| random::uniform(seed, n)
}

/// Objects of about `radius` pixels, anywhere in a picture.
fn objects(seed: u64, count: u64, radius: f64) -> Vec<Object> {
    let number = numbers(seed);
    let object = |n: u64| Object {
        centre: DVec2::new(0.15 + 0.7 * number(4 * n), 0.15 + 0.7 * number(4 * n + 1)) * SIDE as f64,
        half: DVec2::new(1.0, 0.6 + 0.3 * number(4 * n + 2)) * radius,
        angle: 3.0 * number(4 * n + 3),
    };
    (0..count).map(object).collect()
}

/// What objects are made of, from 0 to 1: random numbers at points of two grids, interpolated between them.
fn texture(seed: u64, at: DVec2) -> f64 {
    let layer = |mm: f64, of: u64| {
        let (cell, part) = ((at / mm).floor(), (at / mm).fract_gl());
        let corner = |x: f64, y: f64| {
            let at = cell + DVec2::new(x, y);
            random::uniform(seed + of, (1e6 + at.x + 1e3 * (at.y + 1e3)) as u64)
        };
        let row = |y: f64| corner(0.0, y) + part.x * (corner(1.0, y) - corner(0.0, y));
        row(0.0) + part.y * (row(1.0) - row(0.0))
    };
    0.6 * layer(9.0, 1000) + 0.4 * layer(3.0, 2000)
}

/// A picture of objects that are as bright as `shows` says, at the pixels to which `to` takes them, in noise.
fn picture(objects: &[Object], shows: impl Fn(DVec2) -> f64, to: &DAffine3, noise: (u64, f32)) -> Volume {
    let geometry = Geometry::axis_aligned([SIDE, SIDE, 1], DVec3::ONE, DVec3::ZERO);
    let back = to.inverse();
    let pixel = |n: usize| {
        let at = back.transform_point3(DVec3::new((n % SIDE) as f64, (n / SIDE) as f64, 0.0)).truncate();
        let shown = if objects.iter().any(|object| object.contains(at)) { shows(at) } else { 0.0 };
        (shown as f32 + 10.0 + noise.1 * random::normal(noise.0, n as u64)).max(0.0)
    };
    Volume { geometry, voxels: (0..SIDE * SIDE).map(pixel).collect(), pixel: PixelType::F32 }
}

/// Where objects are moved to.
fn moved() -> DAffine3 {
    let middle = DAffine3::from_translation(DVec3::new(160.0, 160.0, 0.0));
    let shift = DAffine3::from_translation(DVec3::new(9.0, -14.0, 0.0));
    middle * DAffine3::from_rotation_z(0.2) * shift * middle.inverse()
}

/// Returns how far from `moved` a result takes the centres of objects at most, pixels.
fn most_off(found: &Registration, objects: &[Object]) -> f64 {
    let (end, to) = (found.transform.to_affine(), moved());
    let centres = objects.iter().map(|object| object.centre.extend(0.0));
    centres.map(|at| end.transform_point3(at).distance(to.transform_point3(at))).fold(0.0, f64::max)
}

/// The objects are thinner than the rim that is left out of local contrast, and few of them lie on each other elsewhere.
fn how_scattered_objects_lie_tells_where_they_are() {
    for seed in 0..3 {
        let objects = objects(seed, 10, 9.0);
        let shows = |at| texture(seed + 50, at);
        let fixed = picture(&objects, |at| 60.0 + 190.0 * shows(at), &DAffine3::IDENTITY, (1, 2.0));
        let moving = picture(&objects, |at| 220.0 - 150.0 * shows(at), &moved(), (2, 2.0));
        let found = register(&fixed, &moving, &Options::default());
        let most = most_off(&found, &objects);
        assert!(most < 0.5 && found.trusted(), "{seed}: {most:.2} pixels, {:?}, {:?}", found.place, found.doubts);
    }
}

/// An object is 2 % of the pixels. Neither its intensities are outliers, nor is noise foreground.
fn one_small_object_is_found_in_noise() {
    for (seed, noise) in [(20, 1.0), (21, 1.0), (21, 2.0), (22, 3.0), (24, 6.0)] {
        let object = objects(seed, 1, 28.0);
        let shows = |at| texture(seed + 50, at);
        let fixed = picture(&object, |at| 60.0 + 170.0 * shows(at), &DAffine3::IDENTITY, (1, noise));
        let moving = picture(&object, |at| 220.0 - 150.0 * shows(at), &moved(), (2, noise));
        let found = register(&fixed, &moving, &Options::default());
        let most = most_off(&found, &object);
        assert!(most < 0.3 && found.trusted(), "{noise}: {most:.2} pixels, {:?}, {:?}", found.place, found.doubts);
    }
}

/// A search finds some pose at which two objects agree by chance, better than at the poses around that no search led to.
fn one_small_object_is_not_taken_for_another() {
    let found = |seed: u64| {
        let one = |seed, noise| {
            let shows = |at| 60.0 + 190.0 * texture(seed + 50, at);
            picture(&objects(seed, 1, 30.0), shows, &DAffine3::IDENTITY, (noise, 2.0))
        };
        let dof = [Kind::Rigid, Kind::Affine][seed as usize % 2];
        register(&one(seed, 1), &one(seed + 100, 2), &Options { dof, ..Options::default() })
    };
    let pairs: Vec<_> = (0..10).map(found).collect();
    let trusted = pairs.iter().filter(|found| found.trusted()).count();
    let says = |found: &&Registration| found.doubts.iter().any(|doubt| doubt.check == Check::Place);
    let told = pairs.iter().filter(says).count();
    assert!(trusted == 0 && told >= 8, "{trusted} trusted, {told} told of");
}
