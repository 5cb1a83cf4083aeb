//! Masks of either image.

use crate::support::CPU;
use glam::DAffine3;
use libtest_mimic::Trial;
use mireg::{Error, Options, Silent, Volume};

use super::{GOOD_MM, PAIR, error, register, test};

pub fn tests() -> Vec<Trial> {
    vec![
        test("a_mask_of_half_the_head", a_mask_of_half_the_head),
        test("a_mask_of_a_thousand_voxels", a_mask_of_a_thousand_voxels),
        test("masks_that_are_refused", masks_that_are_refused),
    ]
}

/// Returns a mask that is 1 at the voxel indices for which `inside` is true, else 0.
fn mask(volume: &Volume, inside: impl Fn([usize; 3]) -> bool) -> Volume {
    let [width, height, _] = volume.geometry.size;
    let index = |n: usize| [n % width, n / width % height, n / width / height];
    let voxels = (0..volume.voxels.len()).map(|n| f32::from(u8::from(inside(index(n))))).collect();
    Volume { voxels, ..volume.clone() }
}

/// The mask covers either half along the first axis.
fn a_mask_of_half_the_head() {
    let half = |volume: &Volume| mask(volume, |[i, _, _]| 2 * i < volume.geometry.size[0]);
    let masks =
        [(Some(half(&PAIR.ct)), None), (None, Some(half(&PAIR.mr))), (Some(half(&PAIR.ct)), Some(half(&PAIR.mr)))];
    for (fixed_mask, moving_mask) in masks {
        let which = (fixed_mask.is_some(), moving_mask.is_some());
        let found = register(&PAIR.ct, &PAIR.mr, &Options { fixed_mask, moving_mask, ..Options::default() });
        let error = error(&found, &DAffine3::IDENTITY);
        assert!(error < 2.0 * GOOD_MM && found.trusted(), "{which:?}: {error:.3} mm, {:?}", found.doubts);
        assert!(found.end.samples < PAIR.ct.voxels.len() as u64 * 3 / 4, "{}", found.end.samples);
    }
}

/// The mask is a cube of ten voxels a side in the middle. With so few voxels, the result is less exact.
fn a_mask_of_a_thousand_voxels() {
    let cube = |volume: &Volume| {
        let near = |n: usize, size: usize| n.abs_diff(size / 2) <= 5 && n != size / 2 + 5;
        mask(volume, |index| (0..3).all(|axis| near(index[axis], volume.geometry.size[axis])))
    };
    let (ct, mr) = (cube(&PAIR.ct), cube(&PAIR.mr));
    assert_eq!(ct.voxels.iter().sum::<f32>(), 1000.0);
    for (fixed_mask, moving_mask) in [(Some(ct), None), (None, Some(mr))] {
        let which = fixed_mask.is_some();
        let found = register(&PAIR.ct, &PAIR.mr, &Options { fixed_mask, moving_mask, ..Options::default() });
        let error = error(&found, &DAffine3::IDENTITY);
        assert!(error < 4.0, "fixed mask: {which}: {error:.3} mm, {:?}", found.doubts);
    }
}

fn masks_that_are_refused() {
    let (ct, mr) = (&PAIR.ct, &PAIR.mr);
    let full = |volume: &Volume| mask(volume, |_| true);
    let none = |volume: &Volume| mask(volume, |_| false);
    let cases = [
        (Some(full(mr)), None, "fixed mask is not on the fixed image's grid"),
        (None, Some(full(ct)), "moving mask is not on the moving image's grid"),
        (Some(none(ct)), None, "fixed mask has no voxel"),
        (None, Some(none(mr)), "moving mask has no voxel"),
    ];
    for (fixed_mask, moving_mask, says) in cases {
        let error =
            CPU.register(ct, mr, &Options { fixed_mask, moving_mask, ..Options::default() }, &Silent).unwrap_err();
        assert!(matches!(error, Error::Option { .. }) && error.to_string().contains(says), "{error}");
    }
}
