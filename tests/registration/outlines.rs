//! Images whose outlines agree whatever lies within them: both were cut out by one mask before they were aligned, or
//! show round objects.

use glam::{DAffine3, DMat3, DVec3};
use libtest_mimic::Trial;
use mireg::{Geometry, Options, PixelType, Volume, random};

use super::place::lumps;
use super::{register, test};

pub fn tests() -> Vec<Trial> {
    vec![
        test("a_mask_cut_out_of_both_images_holds_nothing_back", one_mask),
        test("smooth_contents_place_what_they_fill", smooth),
        test("a_ball_is_not_placed_by_its_outline", ball),
        test("what_is_too_small_to_be_told_from_noise_is_not_trusted", too_small),
    ]
}

/// Returns the motion of the contents, a map of fixed points to moving points about `middle`, LPS mm.
fn motion(middle: DVec3, degrees: f64, mm: f64) -> DAffine3 {
    let turn = DMat3::from_axis_angle(DVec3::new(0.3, -0.5, 0.8).normalize(), degrees.to_radians());
    let shift = DVec3::new(0.7, 0.5, -0.5).normalize() * mm;
    DAffine3::from_mat3_translation(turn, middle - turn * middle + shift)
}

/// Returns an image on a grid of 64 voxels of 4 mm along each side. `shows` gives the intensity at a point, LPS mm.
pub fn image(shows: impl Fn(DVec3) -> f64) -> Volume {
    let geometry = Geometry::axis_aligned([64; 3], DVec3::splat(4.0), DVec3::ZERO);
    let to_mm = geometry.index_to_world();
    let at = |n: usize| to_mm.transform_point3(geometry.index_of(n).map(|i| i as f64).into());
    Volume { geometry, voxels: (0..geometry.voxels()).map(|n| shows(at(n)) as f32).collect(), pixel: PixelType::F32 }
}

/// The largest distance of two maps over the points of a ball, mm.
fn off(found: &DAffine3, truth: &DAffine3, middle: DVec3, radius: f64) -> f64 {
    let points = DVec3::AXES.into_iter().flat_map(|axis| [middle + radius * axis, middle - radius * axis]);
    points.map(|p| found.transform_point3(p).distance(truth.transform_point3(p))).fold(0.0, f64::max)
}

fn one_mask() {
    let middle = DVec3::splat(126.0);
    let masked = |at: DVec3, value: f64| {
        let inside = ((at - middle) / DVec3::new(72.0, 88.0, 64.0)).length() < 1.0;
        if inside { value } else { 0.0 }
    };
    for (degrees, mm) in [(2.0, 4.0), (5.0, 6.0), (12.0, 12.0)] {
        let truth = motion(middle, degrees, mm);
        let back = truth.inverse();
        let fixed = image(|at| masked(at, 200.0 + 10.0 * lumps(at)));
        let moving = image(|at| masked(at, 500.0 - 12.0 * lumps(back.transform_point3(at))));
        let found = register(&fixed, &moving, &Options::default());
        let off = off(&found.transform.to_affine(), &truth, middle, 70.0);
        assert!(off < 1.0 || !found.trusted(), "{degrees} degrees: {off:.1} mm off, {:?}", found.place);
        assert!(off < 1.0 || degrees > 5.0, "{degrees} degrees: {off:.1} mm off, {:?}", found.doubts);
    }
}

/// An ellipsoid with folds of 5 to 7 cm. A few voxels away, such folds agree almost as well as where they belong. No
/// affine transform makes them agree with cells.
fn smooth() {
    let middle = DVec3::splat(126.0);
    let solid = |at: DVec3, tissue: fn(DVec3) -> f64| {
        let p = at - middle;
        let inside = (p / DVec3::new(60.0, 50.0, 40.0)).length() < 1.0;
        if inside { tissue(p) } else { 0.0 }
    };
    let folds = |p: DVec3| 500.0 + 200.0 * (p.x / 9.0).sin() + 150.0 * (p.y / 8.0).cos() + 100.0 * (p.z / 11.0).sin();
    let cells = |p: DVec3| 500.0 + 400.0 * (p.x / 9.0).sin() * (p.y / 8.0).cos() * (p.z / 11.0).cos();
    for degrees in [0.0, 3.0, 10.0] {
        let truth = motion(middle, degrees, 5.0);
        let back = truth.inverse();
        let fixed = image(|at| solid(at, folds));
        let moved = |tissue| {
            let shows = |at: DVec3| solid(back.transform_point3(at), tissue);
            image(|at| if shows(at) > 0.0 { 1200.0 - shows(at) } else { 0.0 })
        };
        let found = register(&fixed, &moved(folds), &Options::default());
        let off = off(&found.transform.to_affine(), &truth, middle, 50.0);
        assert!(off < 2.0 && found.trusted(), "{degrees} degrees: {off:.1} mm off, {:?}", found.place);
        let other = register(&fixed, &moved(cells), &Options::default());
        assert!(!other.trusted(), "{degrees} degrees: {:?}", other.place);
    }
}

/// A ball moves with its contents. Its outline tells where it is, but not how it is rotated.
fn ball() {
    let middle = DVec3::splat(126.0);
    let shows = |at: DVec3, value: fn(f64) -> f64| if at.distance(middle) < 60.0 { value(lumps(at)) } else { 0.0 };
    for degrees in [8.0, 15.0, 60.0] {
        let truth = motion(middle, degrees, 10.0);
        let back = truth.inverse();
        let fixed = image(|at| shows(at, |lumps| 200.0 + 10.0 * lumps));
        let moving = image(|at| shows(back.transform_point3(at), |lumps| 500.0 - 12.0 * lumps));
        let found = register(&fixed, &moving, &Options::default());
        let off = off(&found.transform.to_affine(), &truth, middle, 60.0);
        assert!(off < 1.0 || !found.trusted(), "{degrees} degrees: {off:.1} mm off, {:?}", found.place);
    }
}

/// A ball of a half percent of the volume, in noise.
fn too_small() {
    let middle = DVec3::splat(126.0);
    let noise = |seed: u64, at: DVec3| {
        let voxel = (at / 4.0).round();
        8.0 * random::uniform(seed, (voxel.x + 64.0 * (voxel.y + 64.0 * voxel.z)) as u64)
    };
    let shows = |at: DVec3, value: fn(f64) -> f64| if at.distance(middle) < 26.0 { value(lumps(at)) } else { 0.0 };
    for degrees in [20.0, 80.0, 150.0] {
        let truth = motion(middle, degrees, 10.0);
        let back = truth.inverse();
        let fixed = image(|at| shows(at, |lumps| 200.0 + 10.0 * lumps) + noise(1, at));
        let moving = image(|at| shows(back.transform_point3(at), |lumps| 500.0 - 12.0 * lumps) + noise(2, at));
        let found = register(&fixed, &moving, &Options::default());
        let off = off(&found.transform.to_affine(), &truth, middle, 26.0);
        assert!(off < 2.0 || !found.trusted(), "{degrees} degrees: {off:.1} mm off, {:?}", found.place);
    }
}
