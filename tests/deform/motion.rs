//! Large motion, with which steps along the forces end in a local maximum, and large changes of volume.

use super::{Pair, found, from, from_headers, inner, symmetric, test};
use glam::{DAffine3, DVec3};
use libtest_mimic::Trial;
use mireg::deform::{Deformation, Force, Options};
use mireg::{Check, Geometry, PixelType, Volume};
use std::ops::Range;

pub fn tests() -> Vec<Trial> {
    vec![
        test("large_motion_is_found", large_motion),
        test("larger_motion_is_searched_for", larger_motion),
        test("what_lies_still_beside_what_slides_stays", sliding),
        test("what_slides_is_searched_for_on_a_finer_level_too", sliding_far),
        test("what_keeps_still_may_lie_as_the_headers_say", still_by_the_headers),
        test("what_a_registration_leaves_behind_is_found_from_the_headers", left_behind),
        test("a_part_that_stays_behind_fails", stays_behind),
        test("no_search_where_climbing_does", no_search),
        test("volumes_change_within_limits", within_limits),
        test("exchanged_images_have_the_inverse_where_volumes_change_too_much", exchanged),
    ]
}

/// Returns waves of all directions with lengths of 13 to 40 mm, so that no place looks like another one 20 mm away.
fn object(p: DVec3) -> f32 {
    let wave = |n: i32| {
        let angle = |k: f64| (f64::from(n) * k).fract() * std::f64::consts::TAU;
        let (turn, rise, phase) = (angle(0.618_034), angle(0.414_214), angle(0.732_051));
        let way = DVec3::new(turn.cos() * rise.cos(), turn.sin() * rise.cos(), rise.sin());
        (way.dot(p) / (2.0 + f64::from(n % 9) * 0.5) + phase).sin()
    };
    (50.0 + 6.0 * (1..40).map(wave).sum::<f64>()) as f32
}

fn volume(grid: Geometry, at: impl Fn(DVec3) -> DVec3) -> Volume {
    let (to_mm, [width, height, _]) = (grid.index_to_world(), grid.size);
    let place = |n: usize| [n % width, n / width % height, n / (width * height)].map(|n| n as f64);
    let voxels = (0..grid.voxels()).map(|n| object(at(to_mm.transform_point3(DVec3::from_array(place(n)))))).collect();
    Volume { geometry: grid, voxels, pixel: PixelType::F32 }
}

/// Returns a pair whose fixed image is deformed and whose moving image has inverted intensities.
fn pair(truth: impl Fn(DVec3) -> DVec3) -> Pair {
    pair_of([64, 60, 48], truth)
}

/// The same as [`pair`], on grids of `size` voxels.
fn pair_of(size: [usize; 3], truth: impl Fn(DVec3) -> DVec3) -> Pair {
    let grid = Geometry::axis_aligned(size, DVec3::splat(2.0), DVec3::ZERO);
    let mut moving = volume(grid, |p| p);
    moving.voxels.iter_mut().for_each(|v| *v = 200.0 - *v);
    Pair { fixed: volume(grid, truth), moving }
}

/// Returns the mean error at the points for which `of` is true.
fn error(pair: &Pair, found: &Deformation, truth: impl Fn(DVec3) -> DVec3, of: impl Fn(DVec3) -> bool) -> f64 {
    let points: Vec<DVec3> = inner(&pair.fixed.geometry).filter(|&p| of(p)).collect();
    points.iter().map(|&p| found.field.at(p).distance(truth(p) - p)).sum::<f64>() / points.len() as f64
}

fn large_motion() {
    let truth = |p: DVec3| {
        let from = (p - DVec3::new(63.0, 59.0, 47.0)) / 45.0;
        p + (-from.length_squared()).exp() * DVec3::new(4.0, 18.0, 0.0)
    };
    let pair = pair(truth);
    let found = found(&pair, &from_headers());
    let mean = error(&pair, &found, truth, |_| true);
    assert!(mean < 0.5, "{mean:.3} mm on average");
}

fn larger_motion() {
    let truth = |p: DVec3| {
        let from = (p - DVec3::new(63.0, 59.0, 47.0)) / 45.0;
        p + (-from.length_squared()).exp() * DVec3::new(10.0, 26.0, 0.0)
    };
    let pair = pair(truth);
    for symmetric in [false, true] {
        let found = found(&pair, &Options { symmetric, ..from_headers() });
        let mean = error(&pair, &found, truth, |_| true);
        let searched = found.levels[0].searched;
        assert!(searched && mean < 0.8, "{mean:.3} mm on average, {searched}, symmetric {symmetric}");
    }
}

fn sliding() {
    let slides = |p: DVec3| p.x > 64.0;
    let truth = |p: DVec3| if slides(p) { p + DVec3::new(0.0, 12.0, 0.0) } else { p };
    let pair = pair(truth);
    let found = found(&pair, &from_headers());
    // Two voxels of the coarsest level on each side of the boundary are left out.
    let still = error(&pair, &found, truth, |p| p.x < 48.0);
    let moved = error(&pair, &found, truth, |p| p.x > 80.0 && (20.0..90.0).contains(&p.y));
    assert!(still < 1.0 && moved < 1.0, "{still:.3} mm where nothing moves, {moved:.3} mm where all does");
}

/// The images have so many voxels that a search is needed on the level before the finest one, too.
fn sliding_far() {
    let slides = |p: DVec3| p.x > 112.0;
    let truth = |p: DVec3| if slides(p) { p + DVec3::new(0.0, 24.0, 0.0) } else { p };
    let pair = pair_of([112, 104, 96], truth);
    let found = found(&pair, &Options { levels: Some(vec![8.0, 4.0, 2.0]), ..from_headers() });
    let [first, last] = &found.levels[..] else { panic!("{} levels", found.levels.len()) };
    assert!(first.searched && !last.searched && first.spacing_mm[0] == 4.0);
    let still = error(&pair, &found, truth, |p| p.x < 104.0);
    let moved = error(&pair, &found, truth, |p| p.x > 120.0 && (20.0..170.0).contains(&p.y));
    assert!(still < 0.6 && moved < 0.6, "{still:.3} mm where nothing moves, {moved:.3} mm where all does");
}

/// The linear registration follows the larger part, which is the one that slides here. For the part that stays, the
/// headers are right.
fn still_by_the_headers() {
    let (pair, truth) = most_slides(40.0..190.0, 16.0);
    for symmetric in [false, true] {
        let found = found(&pair, &Options { levels: Some(vec![8.0, 4.0, 2.0]), symmetric, ..Options::default() });
        assert!(found.trusted() && found.doubts.is_empty(), "{:?}", found.doubts);
        assert_eq!(found.start.from, "the headers");
        let still = error(&pair, &found, &truth, |p| p.x < 32.0 || p.x > 198.0);
        let moved = error(&pair, &found, &truth, |p| (48.0..182.0).contains(&p.x) && (20.0..170.0).contains(&p.y));
        assert!(still < 0.5 && moved < 0.5, "{still:.3} mm where nothing moves, {moved:.3} mm where all does");
    }
}

/// Returns a pair in which most of the body slides.
fn most_slides(slides: Range<f64>, by: f64) -> (Pair, impl Fn(DVec3) -> DVec3) {
    let truth = move |p: DVec3| if slides.contains(&p.x) { p + DVec3::new(0.0, by, 0.0) } else { p };
    let grid = Geometry::axis_aligned([112, 104, 96], DVec3::splat(2.0), DVec3::ZERO);
    (Pair { fixed: volume(grid, &truth), moving: volume(grid, |p| p) }, truth)
}

/// The first attempt has an error of 22 mm in the part that stays.
fn left_behind() {
    let (pair, truth) = most_slides(45.0..225.0, 22.0);
    let found = found(&pair, &Options::default());
    assert!(found.trusted() && found.doubts.is_empty(), "{:?}", found.doubts);
    let still = error(&pair, &found, truth, |p| p.x < 37.0);
    assert!(still < 0.5 && found.start.from == "the headers", "{still:.3} mm from {}", found.start.from);
}

/// The part that stays has an error of 30 mm, also with a start from the headers.
fn stays_behind() {
    let (pair, truth) = most_slides(40.0..200.0, 30.0);
    let found = found(&pair, &Options::default());
    let still = error(&pair, &found, truth, |p| p.x < 32.0);
    let unmatched = found.doubts.iter().find(|doubt| doubt.check == Check::Unmatched);
    assert!(still > 20.0 && unmatched.is_some_and(|doubt| doubt.grave), "{still:.3} mm, {:?}", found.unmatched);
}

fn no_search() {
    for (size, force) in [([64, 60, 48], Force::Mi), ([80, 72, 1], Force::Mi), ([80, 72, 1], Force::Lcc)] {
        let found = found(&Pair::new(size, |v| v), &Options { force: force.into(), ..from_headers() });
        assert!(found.levels.iter().all(|level| !level.searched) && found.levels.len() > 1);
    }
}

/// Returns a map that compresses the middle.
fn squeezed(centre: DVec3, part: f64) -> impl Fn(DVec3) -> DVec3 {
    move |p| {
        let from = p - centre;
        let r = from.length() / 12.0;
        centre + from * (1.0 - part * (-r * r).exp())
    }
}

/// The volume in the middle shrinks to a twentieth, which a field with little smoothing would follow.
fn within_limits() {
    let centre = DVec3::new(63.0, 59.0, 47.0);
    let truth = squeezed(centre, 0.65);
    let pair = pair(&truth);
    let soft = Options { smooth_mm: Some(1.5), smooth_field_mm: Some(0.0), ..from_headers() };
    let found = found(&pair, &soft);
    let [low, high] = found.jacobian_range;
    assert!(low >= 0.1 && high <= 10.0, "{low} to {high}");
    let mean = error(&pair, &found, truth, |p| p.distance(centre) > 20.0);
    // The check `bent` fails for so little smoothing; there is no doubt about volumes.
    let checks = found.doubts.iter().map(|doubt| doubt.check);
    assert!(mean < 1.0 && checks.eq([Check::Bent]), "{mean:.3} mm beyond, {:?}", found.doubts);
}

/// The volume in the middle shrinks to a thousandth, after a start that itself enlarges volumes.
fn exchanged() {
    let Pair { fixed, mut moving } = pair(squeezed(DVec3::new(63.0, 59.0, 47.0), 0.9));
    let start = DAffine3::from_scale(DVec3::splat(1.1));
    moving.geometry.spacing *= 1.1;
    let soft = |start: &DAffine3| Options {
        start: from(start),
        smooth_mm: Some(1.5),
        smooth_field_mm: Some(0.0),
        symmetric: true,
        ..Options::default()
    };
    let found = symmetric::exchanged(&fixed, &moving, &soft(&start), &soft(&start.inverse()));
    let [low, high] = found.jacobian_range;
    assert!(low >= 0.1 && high <= 10.0, "{low} to {high}");
}
