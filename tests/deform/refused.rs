//! What cannot be deformed is told in a line.

use super::{Pair, on_cpu, test};
use glam::{DAffine3, DVec3};
use libtest_mimic::Trial;
use mireg::deform::{Options, deform};
use mireg::{Error, Volume};

pub fn tests() -> Vec<Trial> {
    vec![
        test("options_that_make_no_sense_are_refused", options_that_make_no_sense),
        test("images_that_cannot_be_registered_are_refused", images_that_cannot_be_registered),
        test("images_apart_are_not_trusted", images_apart),
    ]
}

fn line(pair: &Pair, start: &DAffine3, options: &Options) -> String {
    match deform(&pair.fixed, &pair.moving, start, options, &()) {
        Err(Error::Option { message, .. }) => message.to_string(),
        other => panic!("{:?}", other.map(|found| found.values)),
    }
}

fn options_that_make_no_sense() {
    let pair = Pair::new([20, 18, 16], |v| v);
    let refused = |options: &Options, says: &str| {
        let line = line(&pair, &DAffine3::IDENTITY, options);
        assert!(line.contains(says) && !line.contains('\n'), "{line}");
    };
    refused(&Options { bins: 7, ..on_cpu() }, "8 to 255");
    refused(&Options { bins: 256, ..on_cpu() }, "8 to 255");
    refused(&Options { smooth_mm: Some(0.0), ..on_cpu() }, "more than 0 mm");
    refused(&Options { smooth_mm: Some(f64::NAN), ..on_cpu() }, "more than 0 mm");
    refused(&Options { smooth_field_mm: Some(-1.0), ..on_cpu() }, "0 mm or more");
    refused(&Options { iterations: Some(vec![10, 0]), ..on_cpu() }, "1 iteration or more");
    refused(&Options { iterations: Some(vec![]), ..on_cpu() }, "1 iteration or more");
    refused(&Options { levels: Some(vec![2.0, 4.0]), ..on_cpu() }, "coarse to fine");
    let flat = DAffine3::from_scale(DVec3::new(1.0, 0.0, 1.0));
    assert!(line(&pair, &flat, &on_cpu()).contains("no inverse"));
}

fn images_that_cannot_be_registered() {
    let Pair { fixed, moving } = Pair::new([20, 18, 16], |v| v);
    let constant = Volume { voxels: vec![3.0; moving.voxels.len()], ..moving.clone() };
    let constant = Pair { fixed: fixed.clone(), moving: constant };
    assert!(line(&constant, &DAffine3::IDENTITY, &on_cpu()).contains("constant"));
    let picture = Pair { fixed, moving: Pair::new([20, 18, 1], |v| v).moving };
    assert!(line(&picture, &DAffine3::IDENTITY, &on_cpu()).contains("two-dimensional"));
}

/// A result is made all the same, but says that it should not be used.
fn images_apart() {
    let pair = Pair::new([20, 18, 16], |v| v);
    let away = DAffine3::from_translation(DVec3::new(500.0, 0.0, 0.0));
    let found = deform(&pair.fixed, &pair.moving, &away, &on_cpu(), &()).expect("a result");
    assert!(!found.trusted(), "{:?}", found.doubts);
    assert!(found.field.vectors.iter().flatten().all(|v| v.is_finite()));
}
