//! Checks that input that cannot be registered is refused with one line.

use super::{Pair, found, from, from_headers, test};
use crate::support::CPU;
use glam::{DAffine3, DVec3};
use libtest_mimic::Trial;
use mireg::deform::{Channel, Options};
use mireg::error::Setting;
use mireg::{Error, Silent, Volume};

pub fn tests() -> Vec<Trial> {
    vec![
        test("options_that_make_no_sense_are_refused", options_that_make_no_sense),
        test("a_start_out_of_the_plane_is_refused_by_its_name", start_out_of_the_plane),
        test("images_that_cannot_be_registered_are_refused", images_that_cannot_be_registered),
        test("images_apart_are_not_trusted", images_apart),
    ]
}

fn line(pair: &Pair, options: &Options) -> String {
    match CPU.deform(&pair.fixed, &pair.moving, options, &Silent) {
        Err(Error::Option { message, .. }) => message.to_string(),
        other => panic!("{:?}", other.map(|found| found.values)),
    }
}

fn options_that_make_no_sense() {
    let pair = Pair::new([20, 18, 16], |v| v);
    let refused = |options: &Options, says: &str| {
        let line = line(&pair, options);
        assert!(line.contains(says) && !line.contains('\n'), "{line}");
    };
    refused(&Options { bins: 7, ..from_headers() }, "8 to 255");
    refused(&Options { bins: 256, ..from_headers() }, "8 to 255");
    refused(&Options { smooth_mm: Some(0.0), ..from_headers() }, "more than 0 mm");
    refused(&Options { smooth_mm: Some(f64::NAN), ..from_headers() }, "more than 0 mm");
    refused(&Options { smooth_field_mm: Some(-1.0), ..from_headers() }, "0 mm or more");
    refused(&Options { iterations: Some(vec![10, 0]), ..from_headers() }, "1 iteration or more");
    refused(&Options { iterations: Some(vec![]), ..from_headers() }, "1 iteration or more");
    refused(&Options { levels: Some(vec![2.0, 4.0]), ..from_headers() }, "each less than the one before");
    let extra = |fixed: &Volume, moving: &Volume, weight: f64| Options {
        extra: vec![Channel { fixed: fixed.clone(), moving: moving.clone(), weight }],
        ..from_headers()
    };
    let constant = Volume { voxels: vec![3.0; pair.moving.voxels.len()], ..pair.moving.clone() };
    refused(&extra(&pair.fixed, &pair.moving, 0.0), "more than 0");
    refused(&extra(&pair.moving, &pair.moving, 1.0), "an extra fixed image is not on the fixed image's grid");
    refused(&extra(&pair.fixed, &pair.fixed, 1.0), "an extra moving image is not on the moving image's grid");
    refused(&extra(&pair.fixed, &constant, 1.0), "extra images: the moving image is constant");
    let flat = DAffine3::from_scale(DVec3::new(1.0, 0.0, 1.0));
    assert!(line(&pair, &Options { start: from(&flat), ..Options::default() }).contains("no inverse"));
}

fn start_out_of_the_plane() {
    let Pair { fixed, moving } = Pair::new([20, 18, 1], |v| v);
    let options = Options { start: from(&DAffine3::from_rotation_x(0.2)), ..Options::default() };
    let Err(Error::Option { setting, message }) = CPU.deform(&fixed, &moving, &options, &Silent) else {
        panic!("it leads out of the plane")
    };
    assert!(setting == Setting::Start && message.to_string().contains("out of the plane"), "{setting:?}: {message}");
}

fn images_that_cannot_be_registered() {
    let Pair { fixed, moving } = Pair::new([20, 18, 16], |v| v);
    let constant = Volume { voxels: vec![3.0; moving.voxels.len()], ..moving.clone() };
    let constant = Pair { fixed: fixed.clone(), moving: constant };
    assert!(line(&constant, &from_headers()).contains("constant"));
    let picture = Pair { fixed, moving: Pair::new([20, 18, 1], |v| v).moving };
    assert!(line(&picture, &from_headers()).contains("two-dimensional"));
}

/// A result is made nevertheless, but is marked as not to be used.
fn images_apart() {
    let pair = Pair::new([20, 18, 16], |v| v);
    let away = DAffine3::from_translation(DVec3::new(500.0, 0.0, 0.0));
    let found = found(&pair, &Options { start: from(&away), ..Options::default() });
    assert!(!found.trusted(), "{:?}", found.doubts);
    assert!(found.field.vectors.iter().flatten().all(|v| v.is_finite()));
}
