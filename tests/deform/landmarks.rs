//! Landmarks that guide the registration where images also match at wrong displacements.

use super::{Pair, found, from_headers, test};
use crate::support::by_place;
use glam::DVec3;
use libtest_mimic::Trial;
use mireg::deform::{Deformation, Landmarks, Options};
use mireg::{Doubt, Geometry, PixelType, Volume};
use std::f64::consts::TAU;

pub fn tests() -> Vec<Trial> {
    vec![
        test("landmarks_lead_where_images_do_not_tell", || lead(false)),
        test("landmarks_lead_both_flows_that_meet", || lead(true)),
        test("landmarks_that_contradict_each_other_are_told_of", contradictions_are_told_of),
    ]
}

/// The distance between stripes, mm.
const PERIOD: f64 = 12.0;

/// Returns stripes along x, which the images cannot tell apart, with structures that vary along y and z.
fn stripes() -> Pair {
    let geometry = Geometry::axis_aligned([48, 36, 30], DVec3::splat(2.0), DVec3::new(-47.0, -35.0, -29.0));
    let blank = Volume { geometry, voxels: vec![0.0; geometry.voxels()], pixel: PixelType::F32 };
    let draw = |_, p: DVec3, _| {
        let shown = 2.0 + (TAU * p.x / PERIOD).sin() + 0.5 * (p.y / 7.0).sin() * (p.z / 6.0).cos();
        if p.length() < 45.0 { shown as f32 } else { 0.0 }
    };
    let image = by_place(&blank, draw);
    Pair { fixed: image.clone(), moving: image }
}

/// Returns landmarks around the middle, whose positions in the moving image are one stripe further on.
fn landmarks(shift: impl Fn(DVec3) -> f64) -> Landmarks {
    let axis = || [-6.0, 6.0].into_iter();
    let fixed: Vec<_> =
        axis().flat_map(|x| axis().flat_map(move |y| axis().map(move |z| DVec3::new(x, y, z)))).collect();
    let moving = fixed.iter().map(|&p| p + shift(p) * DVec3::X).collect();
    Landmarks { fixed, moving, error_mm: Some(0.5) }
}

fn at_middle(found: &Deformation) -> f64 {
    found.field.at(DVec3::ZERO).distance(PERIOD * DVec3::X)
}

fn lead(symmetric: bool) {
    let options = Options { symmetric, iterations: Some(vec![200, 50]), smooth_mm: Some(4.0), ..from_headers() };
    let alone = found(&stripes(), &options);
    assert!(
        alone.landmarks.is_none() && at_middle(&alone) > PERIOD - 1.0,
        "{} mm without landmarks",
        at_middle(&alone)
    );
    let led = found(&stripes(), &Options { landmarks: Some(landmarks(|_| PERIOD)), ..options });
    let errors = led.landmarks.expect("there were some");
    assert_eq!((errors.points, errors.error_mm), (8, 0.5));
    assert!((errors.before.mean_mm - PERIOD).abs() < 1e-9 && errors.after.max_mm < 3.0, "{errors:?}");
    assert!(at_middle(&led) < 3.0, "{} mm from where landmarks lead", at_middle(&led));
    assert!(led.jacobian_range[0] > 0.0 && !led.doubts.iter().any(of_landmarks), "{:?}", led.doubts);
}

fn of_landmarks(doubt: &Doubt) -> bool {
    doubt.check.name() == "landmarks"
}

fn contradictions_are_told_of() {
    let landmarks = Some(landmarks(|p| if p.x * p.y * p.z > 0.0 { PERIOD } else { -PERIOD }));
    let found = found(&stripes(), &Options { landmarks, ..from_headers() });
    assert!(found.doubts.iter().any(|doubt| of_landmarks(doubt) && !doubt.grave), "{:?}", found.landmarks);
}
