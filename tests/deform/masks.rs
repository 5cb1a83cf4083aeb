//! Cost-function masking: where a mask is 0 there are no forces, and the field is continued smoothly from the
//! surroundings.

use super::{Pair, found, from_headers, test};
use crate::support::by_place;
use glam::DVec3;
use libtest_mimic::Trial;
use mireg::deform::{Force, Options};
use mireg::{Geometry, Volume};

pub fn tests() -> Vec<Trial> {
    vec![
        test("a_masked_lesion_of_the_fixed_image_has_no_force", || masked(Force::Mi, false)),
        test("a_masked_lesion_of_the_moving_image_has_no_force", || masked(Force::Mi, true)),
        test("local_correlation_heeds_masks_too", || masked(Force::Lcc, false)),
        test("voxels_without_data_are_as_masked", voxels_without_data_are_as_masked),
    ]
}

fn pair() -> Pair {
    Pair::new([40, 38, 34], |v| 2.0 * v + 40.0)
}

fn options(force: Force) -> Options {
    Options { force: force.into(), smooth_mm: Some(4.0), ..from_headers() }
}

/// Returns whether a point is in the lesion, a ball in the middle of the fixed image's front half.
fn in_lesion(grid: &Geometry, p: DVec3, mm: f64) -> bool {
    p.distance(grid.centre() - DVec3::new(0.0, 14.0, 0.0)) < mm
}

/// Adds the lesion, in which one image is shifted by 8 mm, and returns its mask, too.
fn with_lesion(pair: &Pair, moving: bool) -> (Pair, Volume) {
    let grid = pair.fixed.geometry;
    let draw =
        |volume: &Volume| by_place(volume, |n, p, v| if in_lesion(&grid, p, 14.0) { volume.voxels[n + 4] } else { v });
    let mask = |volume: &Volume| by_place(volume, |_, p, _| f32::from(u8::from(!in_lesion(&grid, p, 16.0))));
    let Pair { fixed, moving: other } = pair;
    match moving {
        false => (Pair { fixed: draw(fixed), moving: other.clone() }, mask(fixed)),
        true => (Pair { fixed: fixed.clone(), moving: draw(other) }, mask(other)),
    }
}

/// Returns the mean errors in and around the lesion and elsewhere, in mm.
fn errors(pair: &Pair, options: &Options) -> [f64; 2] {
    let found = found(pair, options);
    let grid = &pair.fixed.geometry;
    let mean = |near: bool| {
        let points = super::inner(grid).filter(|&p| in_lesion(grid, p, 20.0) == near);
        let errors: Vec<f64> = points.map(|p| found.field.at(p).distance(super::truth(grid, p) - p)).collect();
        errors.iter().sum::<f64>() / errors.len() as f64
    };
    [mean(true), mean(false)]
}

fn masked(force: Force, moving: bool) {
    let whole = pair();
    let [_, clean] = errors(&whole, &options(force));
    let (hurt, mask) = with_lesion(&whole, moving);
    let [dragged, _] = errors(&hurt, &options(force));
    let mask = Some(mask);
    let (fixed_mask, moving_mask) = if moving { (None, mask) } else { (mask, None) };
    let with_mask = Options { fixed_mask, moving_mask, ..options(force) };
    let [near, elsewhere] = errors(&hurt, &with_mask);
    let [hidden, _] = errors(&whole, &with_mask);
    assert!(elsewhere < clean + 0.05, "{elsewhere:.3} mm with the mask, {clean:.3} mm without a lesion");
    assert!(near < 0.6 * dragged, "around the lesion {near:.3} mm with the mask, {dragged:.3} mm without it");
    assert!(near < hidden + 0.01, "around the lesion {near:.3} mm, where there is none behind the mask {hidden:.3} mm");
}

fn voxels_without_data_are_as_masked() {
    let (hurt, mask) = with_lesion(&pair(), false);
    let by_mask = found(&hurt, &Options { fixed_mask: Some(mask.clone()), ..options(Force::Mi) });
    let missing = by_place(&hurt.fixed, |n, _, v| if mask.voxels[n] < 0.5 { f32::NAN } else { v });
    let missing = Pair { fixed: missing, moving: hurt.moving.clone() };
    let by_gap = found(&missing, &options(Force::Mi));
    let apart = by_mask.field.vectors.iter().zip(&by_gap.field.vectors);
    let most = apart.flat_map(|(a, b)| (0..3).map(move |n| (a[n] - b[n]).abs())).fold(0.0, f32::max);
    assert!(most < 0.05, "{most} mm");
    assert!(
        by_gap.moved.as_ref().unwrap().voxels.iter().all(|v| v.is_finite()),
        "the moving image has data everywhere"
    );
}
