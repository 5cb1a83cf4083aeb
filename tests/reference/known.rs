//! Compares the reference with results worked out by hand.

use crate::support::{random, trial};
use approx::assert_relative_eq;
use glam::{DAffine3, DVec3};
use libtest_mimic::Trial;
use mireg::reference::{Interpolator, Similarity, compare, entropy};
use mireg::{Geometry, PixelType, Volume};
use ndarray::{Array2, array};

pub fn tests() -> Vec<Trial> {
    let test = |name: &str, run: fn()| trial(format!("reference::known::{name}"), run);
    vec![
        test("a table of two by two", a_table_of_two_by_two),
        test("variance explained", variance_explained),
        test("entropy of equal shares", entropy_of_equal_shares),
        test("an image and itself", an_image_and_itself),
        test("intensities swapped for others", intensities_swapped_for_others),
        test("independent images", independent_images),
        test("one pair only", one_pair_only),
        test("a shift by whole voxels", a_shift_by_whole_voxels),
        test("it shares nothing with what it checks", it_shares_nothing_with_what_it_checks),
    ]
}

/// Voxels of 1 mm in rows of 16, so that every position is exact.
fn volume(voxels: Vec<f32>) -> Volume {
    let geometry = Geometry::axis_aligned([16, voxels.len() / 16, 1], DVec3::ONE, DVec3::ZERO);
    Volume { geometry, voxels, pixel: PixelType::F32 }
}

fn in_place(fixed: &Volume, moving: &Volume, bins: [usize; 2]) -> Similarity {
    compare(fixed, moving, &DAffine3::IDENTITY, bins, Interpolator::Linear)
}

/// Returns integers below 64 in irregular order, including 0 and 63.
fn levels() -> Vec<f32> {
    let mut random = random(5);
    let mut levels: Vec<f32> = (0..256).map(|_| (random() * 64.0).floor()).collect();
    levels[..2].copy_from_slice(&[0.0, 63.0]);
    levels
}

fn a_table_of_two_by_two() {
    let found = Similarity::of(&array![[4, 0], [2, 2]]);
    let (half, quarter) = (0.5 * 2f64.ln(), 0.25 * 4f64.ln());
    assert_relative_eq!(found.fixed_entropy, 2f64.ln(), max_relative = 1e-15);
    assert_relative_eq!(found.moving_entropy, 0.75 * (4.0 / 3.0_f64).ln() + quarter, max_relative = 1e-15);
    assert_relative_eq!(found.joint_entropy, half + 2.0 * quarter, max_relative = 1e-15);
    assert_relative_eq!(found.mi, 0.215_761_554_338_839, max_relative = 1e-12);
    assert_relative_eq!(found.nmi, 1.207_518_749_639_422, max_relative = 1e-12);
    assert_relative_eq!(found.ecc, 2.0 - 2.0 / 1.207_518_749_639_422, max_relative = 1e-12);
    assert_eq!(found.overlap, 8);
}

fn variance_explained() {
    // The mean column numbers of the rows are 0, 1/2 and 1, and the mean row numbers of the columns 1/2 and 5/3.
    let found = Similarity::of(&array![[1, 0], [1, 1], [0, 2]]);
    assert_relative_eq!(found.ratios[0], 1.0 - 0.5 / 1.2, max_relative = 1e-15);
    assert_relative_eq!(found.ratios[1], 1.0 - (0.5 + 2.0 / 3.0) / 2.8, max_relative = 1e-15);
    // The rows determine the columns, but not the other way round.
    let found = Similarity::of(&array![[3, 0], [0, 3], [3, 0]]);
    assert_eq!(found.ratios, [1.0, 0.0]);
}

fn entropy_of_equal_shares() {
    for n in [1, 2, 3, 64, 1000] {
        assert_relative_eq!(entropy(&vec![7; n]), (n as f64).ln(), max_relative = 1e-13);
    }
    assert_eq!(entropy(&[0, 9, 0]), 0.0);
}

fn an_image_and_itself() {
    let image = volume(levels());
    let found = in_place(&image, &image, [64; 2]);
    assert_relative_eq!(found.mi, found.fixed_entropy, max_relative = 1e-15);
    assert_eq!((found.moving_entropy, found.joint_entropy), (found.fixed_entropy, found.fixed_entropy));
    assert_eq!((found.nmi, found.overlap), (2.0, 256));
    assert_eq!((found.ecc, found.ratios), (1.0, [1.0; 2]));
    assert!(found.mi > 3.5, "{found:?}");
}

fn intensities_swapped_for_others() {
    // 25 and 64 have no common factor, so that this permutes the levels 0 to 63.
    let swapped = levels().iter().map(|&level| (level as u32 * 25 % 64) as f32).collect();
    let (image, swapped) = (volume(levels()), volume(swapped));
    assert_eq!(swapped.range(), (0.0, 63.0));
    let (own, found) = (in_place(&image, &image, [64; 2]), in_place(&image, &swapped, [64; 2]));
    assert_relative_eq!(found.mi, own.mi, max_relative = 1e-14);
    assert_relative_eq!(found.nmi, 2.0, max_relative = 1e-14);
}

fn independent_images() {
    let columns = volume((0..256).map(|n| (n % 16) as f32).collect());
    let rows = volume((0..256).map(|n| (n / 16 % 4) as f32).collect());
    let found = in_place(&columns, &rows, [16, 4]);
    assert_relative_eq!(found.fixed_entropy, 16f64.ln(), max_relative = 1e-14);
    assert_relative_eq!(found.moving_entropy, 4f64.ln(), max_relative = 1e-14);
    assert_relative_eq!(found.mi, 0.0, epsilon = 1e-14);
    assert_relative_eq!(found.nmi, 1.0, max_relative = 1e-14);
    assert_relative_eq!(found.ecc, 0.0, epsilon = 1e-14);
    assert_relative_eq!(found.ratios[..], [0.0; 2][..], epsilon = 1e-14);
}

fn one_pair_only() {
    let found = in_place(&volume(vec![3.0; 256]), &volume(vec![-1.0; 256]), [64; 2]);
    assert_eq!((found.joint_entropy, found.mi, found.nmi, found.overlap), (0.0, 0.0, 1.0, 256));
    assert_eq!((found.ecc, found.ratios), (0.0, [0.0; 2]));
    assert_eq!(Similarity::of(&Array2::zeros((2, 2))).overlap, 0);
}

fn a_shift_by_whole_voxels() {
    // The moving image is the fixed one, shifted by three voxels.
    let fixed = volume((0..256).map(|n| (n % 16) as f32).collect());
    let moving = volume((0..256).map(|n| ((n + 13) % 16) as f32).collect());
    for how in [Interpolator::Nearest, Interpolator::Linear] {
        let there = compare(&fixed, &moving, &DAffine3::from_translation(3.0 * DVec3::X), [16; 2], how);
        assert_eq!(there.overlap, 13 * 16);
        assert_relative_eq!(there.mi, 13f64.ln(), max_relative = 1e-14);
        let half = compare(&fixed, &moving, &DAffine3::from_translation(-15.25 * DVec3::Y), [16; 2], how);
        assert_eq!((half.overlap, half.mi), (0, 0.0));
    }
}

fn it_shares_nothing_with_what_it_checks() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../host/src/reference");
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let source = std::fs::read_to_string(&path).unwrap();
        for line in source.lines().map(str::trim).filter(|line| !line.starts_with("//")) {
            let data = |name: &str| {
                ["Volume", "Geometry", "PixelType", "{Geometry, Volume}", "{Geometry, PixelType}"].contains(&name)
            };
            let mut used = line.split("crate::").skip(1).map(|name| name.trim_end_matches(';'));
            assert!(used.all(data) && !line.contains("gpu"), "{}: {line}", path.display());
        }
    }
}
