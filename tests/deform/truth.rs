//! Known maps are found, by every force for the pairs that it is for.

use super::{Pair, found, from_headers, test};
use libtest_mimic::Trial;
use mireg::deform::{Force, Options};

/// Another kind of image: dark becomes bright, and the middle of the range darkest.
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
        test("pictures_too", || finds(Force::Mi, other_kind, [80, 72, 1], 0.45)),
        test("the_way_back_is_the_inverse", the_way_back_is_the_inverse),
        test("more_smoothing_stretches_less", more_smoothing_stretches_less),
        test("coarse_levels_alone_are_as_a_field_of_the_whole_grid", coarse_levels_alone),
    ]
}

/// The mean error before is about 2.5 mm, more than a voxel.
fn finds(force: Force, contrast: fn(f32) -> f32, size: [usize; 3], most_mm: f64) {
    let pair = Pair::new(size, contrast);
    let found = found(&pair, &Options { force, smooth_mm: Some(6.0), ..from_headers() });
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
