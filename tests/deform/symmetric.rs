//! Symmetric registration: with exchanged images, the result is the inverse.

use super::{Pair, from, from_headers, inner, test, truth};
use crate::support::CPU;
use glam::{DAffine3, DVec3};
use libtest_mimic::Trial;
use mireg::deform::{Deformation, Options, Start};
use mireg::transform::Kind;
use mireg::{Geometry, Silent, Volume};
use mireg_cli::demo;

fn other_kind(v: f32) -> f32 {
    (v - 60.0).abs() * 9.0 + 200.0
}

pub fn tests() -> Vec<Trial> {
    vec![
        test("flows_to_the_middle_find_the_map", || finds("mi", other_kind, [40, 38, 34], 0.4)),
        test("flows_to_the_middle_by_local_correlation_too", || finds("lcc", |v| 3.0 * v, [40, 38, 34], 0.4)),
        test("flows_to_the_middle_of_pictures_too", || finds("mi,lcc:0.1", |v| 3.0 * v, [80, 72, 1], 0.5)),
        test("exchanged_images_have_the_inverse", || {
            for options in [symmetric(from_headers()), Options { smooth_mm: Some(6.0), ..symmetric(from_headers()) }] {
                let Pair { fixed, moving } = Pair::new([40, 38, 34], other_kind);
                exchanged(&fixed, &moving, &options, &options);
            }
        }),
        test("exchanged_images_with_masks_have_the_inverse", masks),
        test("exchanged_heads_have_the_inverse_by_default", heads),
        test("a_start_that_turns_is_halved", turned),
        test("a_start_without_a_middle_is_refused", no_middle),
    ]
}

fn symmetric(options: Options) -> Options {
    Options { symmetric: true, ..options }
}

fn found(fixed: &Volume, moving: &Volume, options: &Options) -> Deformation {
    CPU.deform(fixed, moving, options, &Silent).expect("this pair can be registered")
}

fn finds(force: &str, contrast: fn(f32) -> f32, size: [usize; 3], most_mm: f64) {
    let pair = Pair::new(size, contrast);
    let options = Options { force: force.parse().unwrap(), smooth_mm: Some(6.0), ..symmetric(from_headers()) };
    let found = super::found(&pair, &options);
    let [mean, worst] = pair.errors(&found);
    assert!(mean < most_mm && worst < 6.0 * most_mm, "{mean:.3} mm on average, {worst:.3} mm at most");
    assert!(found.trusted() && found.values[1] > found.values[0], "{:?}", found.doubts);
    assert_eq!(found.field.geometry, pair.fixed.geometry);
    assert_eq!(found.inverse.geometry, pair.moving.geometry);
    assert!(found.consistency.mean_mm < 0.05, "{:?}", found.consistency);
}

/// Asserts that the field agrees with the inverse for exchanged images, and that both inverses agree. Returns the
/// result for the images in the given order.
pub fn exchanged(fixed: &Volume, moving: &Volume, options: &Options, back: &Options) -> Deformation {
    let (there, back) = (found(fixed, moving, options), found(moving, fixed, back));
    let most = |a: &[[f32; 3]], b: &[[f32; 3]]| {
        assert_eq!(a.len(), b.len());
        a.as_flattened().iter().zip(b.as_flattened()).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
    };
    let apart = [most(&there.field.vectors, &back.inverse.vectors), most(&there.inverse.vectors, &back.field.vectors)];
    assert!(apart.iter().all(|&mm| mm < 0.05), "{apart:?} mm");
    let smooth = |found: &Deformation| found.levels.iter().map(|level| level.smooth_mm).collect::<Vec<_>>();
    assert_eq!(smooth(&there), smooth(&back), "smoothing differs");
    let moves = there.field.vectors.iter().flatten().any(|mm| mm.abs() > 1.0);
    assert!(moves, "nothing moved");
    there
}

fn masks() {
    let Pair { fixed, moving } = Pair::new([36, 32, 30], other_kind);
    let mask = |image: &Volume, side: f64| {
        let centre = image.geometry.centre();
        crate::support::by_place(image, |_, p, _| f32::from(u8::from(side * (p.x - centre.x) < 12.0)))
    };
    let [fixed_mask, moving_mask] = [mask(&fixed, 1.0), mask(&moving, -1.0)].map(Some);
    let options = Options { smooth_mm: Some(6.0), ..symmetric(from_headers()) };
    let there = Options { fixed_mask: fixed_mask.clone(), moving_mask: moving_mask.clone(), ..options.clone() };
    let back = Options { fixed_mask: moving_mask, moving_mask: fixed_mask, ..options };
    exchanged(&fixed, &moving, &there, &back);
}

/// Registers two synthetic scans of a head, one of which is rotated, starting with linear registrations.
fn heads() {
    let demo::Pair { ct, mr, .. } = demo::Pair::new(5, 6.0);
    let options = symmetric(Options { start: Start::Register(Kind::Rigid), ..Options::default() });
    exchanged(&ct, &mr, &options, &options);
}

/// The header of the moving image is rotated, so that the start must contain a rotation, too.
fn turned() {
    let Pair { fixed, moving } = Pair::new([40, 38, 34], other_kind);
    let turn = DAffine3::from_axis_angle(DVec3::new(0.3, -0.2, 1.0).normalize(), 0.5);
    let Geometry { direction, origin, .. } = moving.geometry;
    let geometry =
        Geometry { direction: turn.matrix3 * direction, origin: turn.transform_point3(origin), ..moving.geometry };
    let turned = Volume { geometry, ..moving };
    let options =
        |start: DAffine3| Options { start: from(&start), smooth_mm: Some(6.0), ..symmetric(Options::default()) };
    let there = exchanged(&fixed, &turned, &options(turn), &options(turn.inverse()));
    let ends = |p: DVec3| there.field.transform_point3(p).distance(turn.transform_point3(truth(&fixed.geometry, p)));
    let errors: Vec<f64> = inner(&fixed.geometry).map(ends).collect();
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    assert!(mean < 0.4, "{mean:.3} mm");
}

fn no_middle() {
    let Pair { fixed, moving } = Pair::new([20, 18, 16], |v| v);
    let over = DAffine3::from_rotation_z(std::f64::consts::PI);
    let options = symmetric(Options { start: from(&over), ..Options::default() });
    let line = CPU.deform(&fixed, &moving, &options, &Silent).unwrap_err().to_string();
    assert!(line.contains("has no half") && !line.contains('\n'), "{line}");
}
