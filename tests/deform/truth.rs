//! Checks that known deformations are found, by every force for the kind of images that it is meant for.

use super::{Pair, found, from_headers, test};
use crate::support::by_place;
use glam::DVec3;
use libtest_mimic::Trial;
use mireg::deform::{Channel, Force, Forces, Options};

/// Converts an intensity to that of another kind of image: dark becomes bright, and the middle of the range becomes
/// darkest.
fn other_kind(v: f32) -> f32 {
    (v - 60.0).abs() * 9.0 + 200.0
}

fn brighter(v: f32) -> f32 {
    3.0 * v + 40.0
}

pub fn tests() -> Vec<Trial> {
    vec![
        test("mutual_information_finds_the_map_between_two_kinds_of_image", || {
            finds(Force::Mi, other_kind, [40, 38, 34], 0.35)
        }),
        test("normalised_mutual_information_does_too", || finds(Force::Nmi, other_kind, [40, 38, 34], 0.35)),
        test("local_correlation_finds_it_through_a_change_of_brightness", || {
            finds(Force::Lcc, brighter, [40, 38, 34], 0.35)
        }),
        test("squared_differences_find_it_between_equal_images", || finds(Force::Ssd, |v| v, [40, 38, 34], 0.35)),
        test("forces_together_find_it", || finds(forces("nmi,lcc:0.5"), brighter, [40, 38, 34], 0.35)),
        test("forces_take_turns_by_level", forces_take_turns),
        test("a_force_of_next_to_no_weight_does_next_to_nothing", a_force_of_no_weight),
        test("channels_together_find_what_neither_does", channels_together),
        test("pictures_too", || finds(Force::Mi, other_kind, [80, 72, 1], 0.45)),
        test("the_way_back_is_the_inverse", the_way_back_is_the_inverse),
        test("more_smoothing_stretches_less", more_smoothing_stretches_less),
        test("coarse_levels_alone_are_as_a_field_of_the_whole_grid", coarse_levels_alone),
    ]
}

fn forces(text: &str) -> Forces {
    text.parse().unwrap()
}

/// Asserts that the deformation is found to `most_mm` on average. Before registration, the mean error is about 2.5 mm,
/// more than a voxel.
fn finds(force: impl Into<Forces>, contrast: fn(f32) -> f32, size: [usize; 3], most_mm: f64) {
    let pair = Pair::new(size, contrast);
    let found = found(&pair, &Options { force: force.into(), smooth_mm: Some(6.0), ..from_headers() });
    let [mean, worst] = pair.errors(&found);
    assert!(mean < most_mm && worst < 6.0 * most_mm, "{mean:.3} mm on average, {worst:.3} mm at most");
    assert!(found.jacobian_range[0] > 0.2 && found.trusted(), "{:?}, {:?}", found.jacobian_range, found.doubts);
    assert!(found.values[1] > found.values[0]);
    let (low, high) = found.jacobian.range();
    assert_eq!([f64::from(low), f64::from(high)], found.jacobian_range);
}

fn the_way_back_is_the_inverse() {
    let pair = Pair::new([36, 32, 30], other_kind);
    let found = found(&pair, &from_headers());
    let misses: Vec<f64> = super::inner(&pair.fixed.geometry)
        .map(|p| found.inverse.transform_point3(found.field.transform_point3(p)).distance(p))
        .collect();
    let mean = misses.iter().sum::<f64>() / misses.len() as f64;
    assert!(mean < 0.02, "{mean} mm");
    assert!(found.consistency.mean_mm < 0.05, "{:?}", found.consistency);
    assert!(found.inverse.geometry == pair.moving.geometry && found.field.geometry == pair.fixed.geometry);
}

fn more_smoothing_stretches_less() {
    let pair = Pair::new([36, 32, 30], other_kind);
    let spread = |mm| {
        let [low, high] = found(&pair, &Options { smooth_mm: Some(mm), ..from_headers() }).jacobian_range;
        high - low
    };
    assert!(spread(20.0) < 0.7 * spread(6.0));
}

fn coarse_levels_alone() {
    let pair = Pair::new([40, 38, 34], other_kind);
    let found = found(&pair, &Options { levels: Some(vec![8.0, 4.0]), smooth_mm: Some(8.0), ..from_headers() });
    assert_eq!(found.field.geometry, pair.fixed.geometry);
    let [mean, _] = pair.errors(&found);
    assert!(mean < 0.8, "{mean:.3} mm on average");
}

fn forces_take_turns() {
    // Steps along the forces find this small motion, so that no level is replaced by a search.
    let pair = Pair::new([64, 60, 48], brighter);
    let options = Options { force: forces("mi:1/1/0,lcc:0/0.5"), smooth_mm: Some(6.0), ..from_headers() };
    let found = found(&pair, &Options { levels: Some(vec![8.0, 4.0, 2.0]), ..options });
    let terms =
        |level: usize| found.levels[level].terms.iter().map(|term| (term.force, term.weight)).collect::<Vec<_>>();
    let expected = [vec![(Force::Mi, 1.0)], vec![(Force::Mi, 1.0), (Force::Lcc, 0.5)], vec![(Force::Lcc, 0.5)]];
    assert_eq!([0, 1, 2].map(terms), expected);
    assert!(found.levels.iter().all(|level| level.ends()[1] > level.ends()[0]));
    let of_one = &found.levels[2].terms[0];
    assert_eq!([of_one.before, of_one.after], found.values, "a metric alone is its value");
    // Two metrics have their common unit, nats: see `Level::terms`.
    let [mi, lcc] = [0, 1].map(|term| found.levels[1].terms[term].after);
    assert!((found.levels[1].ends()[1] - (mi - 0.25 * (1.0 - lcc).ln())).abs() < 1e-9);
}

fn a_force_of_no_weight() {
    let pair = Pair::new([36, 32, 30], brighter);
    let [alone, both] = ["mi,ssd:0", "mi,ssd:1e-9"]
        .map(|text| found(&pair, &Options { force: forces(text), smooth_mm: Some(6.0), ..from_headers() }).field);
    let apart = alone.vectors.iter().zip(&both.vectors).flat_map(|(a, b)| (0..3).map(move |n| (a[n] - b[n]).abs()));
    let most = apart.fold(0.0, f32::max);
    assert!(most < 0.01, "{most} mm");
}

/// There are two channels, each of which shows the anatomy of one side only.
fn channels_together() {
    let whole = Pair::new([40, 38, 34], |v| v);
    let grid = whole.fixed.geometry;
    let side = |sign: f64| {
        let shown = |p: DVec3, v: f32| {
            let part = 1.0 / (1.0 + (-sign * (p.x - grid.centre().x) / 3.0).exp());
            50.0 + (v - 50.0) * part as f32
        };
        let fixed = by_place(&whole.fixed, |_, p, v| shown(super::truth(&grid, p), v));
        Pair { fixed, moving: by_place(&whole.moving, |_, p, v| other_kind(shown(p, v))) }
    };
    let [left, right] = [side(-1.0), side(1.0)];
    let options = |extra| Options { extra, smooth_mm: Some(6.0), ..from_headers() };
    let error = |pair: &Pair, extra| whole.errors(&found(pair, &options(extra)))[0];
    let [by_left, by_right] = [&left, &right].map(|pair| error(pair, Vec::new()));
    let extra = Channel { fixed: right.fixed.clone(), moving: right.moving.clone(), weight: 1.0 };
    let both = error(&left, vec![extra]);
    assert!(both < 0.35 && both < 0.6 * by_left.min(by_right), "{both:.3}, {by_left:.3} and {by_right:.3} mm");
}
