//! Images of two people, which no rigid transform aligns.

use glam::{DAffine3, DMat3, DVec3};
use libtest_mimic::Trial;
use mireg::transform::Kind;
use mireg::{Geometry, Options, PixelType, Volume, io};

use super::place::lumps;
use super::{register, test};
use crate::support::{block_means, data_dir};

pub fn tests() -> Vec<Trial> {
    vec![
        test("another_person_lies_where_an_affine_registration_says", another_person),
        test("a_result_that_fails_says_how_its_optimum_compares", other_contents),
        test("heads_of_two_people", heads_of_two_people).with_ignored_flag(data_dir().is_none()),
        test("heads_of_two_people_in_two_contrasts", two_contrasts).with_ignored_flag(data_dir().is_none()),
        test("heads_of_which_the_outlines_agree", heads_of_which_the_outlines_agree)
            .with_ignored_flag(data_dir().is_none()),
    ]
}

/// How a body differs from the first one: longer along x, shorter along z.
const STRETCH: DVec3 = DVec3::new(1.2, 1.0, 0.82);

/// A body of lumps in an ellipsoid, 2 mm, as a scanner shows it.
fn body(stretch: DVec3, shows: fn(f64) -> f64) -> Volume {
    let geometry = Geometry::axis_aligned([64; 3], DVec3::splat(2.0), DVec3::ZERO);
    let middle = geometry.centre();
    let voxel = |n: usize| {
        let at = geometry.index_to_world().transform_point3(geometry.index_of(n).map(|i| i as f64).into());
        let in_first = (at - middle) / stretch;
        let inside = (in_first / DVec3::new(44.0, 52.0, 48.0)).length() < 1.0;
        if inside { shows(lumps(in_first)) as f32 } else { 0.0 }
    };
    Volume { geometry, voxels: (0..geometry.voxels()).map(voxel).collect(), pixel: PixelType::F32 }
}

/// Returns the largest distance, in mm, between two maps over the corners of a volume.
fn apart(a: &DAffine3, b: &DAffine3, volume: &Volume) -> f64 {
    let apart = |at| a.transform_point3(at).distance(b.transform_point3(at));
    volume.geometry.corners().map(apart).into_iter().fold(0.0, f64::max)
}

/// The transform with which the outlines agree best is not the one with which their contents agree.
fn another_person() {
    let fixed = body(DVec3::ONE, |lumps| 200.0 + 10.0 * lumps);
    let turn = DMat3::from_rotation_z(0.2) * DMat3::from_rotation_x(-0.1);
    let mut moving = body(STRETCH, |lumps| 500.0 - 12.0 * lumps);
    let moved = DAffine3::from_mat3_translation(turn, DVec3::new(9.0, -7.0, 4.0));
    moving.geometry.origin = moved.transform_point3(moving.geometry.origin);
    moving.geometry.direction = turn;
    let about = |matrix: DMat3| {
        let middle = fixed.geometry.centre();
        moved * DAffine3::from_mat3_translation(matrix, middle - matrix * middle)
    };
    let volume = libm::cbrt(STRETCH.element_product());
    let nearest = [(Kind::Rigid, about(DMat3::IDENTITY)), (Kind::Similarity, about(DMat3::IDENTITY * volume))];
    for (dof, nearest) in nearest {
        let found = register(&fixed, &moving, &Options { dof, ..Options::default() });
        assert!(found.trusted() && found.started.from == "affine", "{dof:?}: {:?}, {:?}", found.started, found.doubts);
        let apart = apart(&found.transform.to_affine(), &nearest, &fixed);
        assert!(found.transform.kind == dof && apart < 2.0, "{dof:?}: {apart:.1} mm, {:?}", found.transform);
    }
}

/// A plain rigid registration of these two agrees better than poses around, 9 to 18 mm from where the brains agree.
fn heads_of_which_the_outlines_agree() {
    let [thin, moving] = ["brainweb/t1.mha", "rire/training_001_mr_T1.mha"]
        .map(|path| io::read(&data_dir().unwrap().join(path)).unwrap());
    let fixed = block_means(&thin, [2; 3]);
    let found = register(&fixed, &moving, &Options::default());
    let affine = register(&thin, &moving, &Options { dof: Kind::Affine, ..Options::default() });
    assert!(found.trusted() && affine.trusted(), "{:?}, {:?}", found.doubts, affine.doubts);
    let middle = fixed.geometry.centre();
    let [rigid, affine] = [&found, &affine].map(|found| found.transform.to_affine().transform_point3(middle));
    assert!(rigid.distance(affine) < 4.0, "{:.1} mm, {:?}", rigid.distance(affine), found.started);
}

/// A plain rigid registration of these two ends 190 mm away, or where the heads, whose sizes differ by 15 %, touch on
/// one side.
fn heads_of_two_people() {
    let [fixed, moving] =
        ["chris/chris_t1.nii.gz", "brainweb/t1.mha"].map(|path| io::read(&data_dir().unwrap().join(path)).unwrap());
    let by = |dof| register(&fixed, &moving, &Options { dof, ..Options::default() });
    let [rigid, affine] = [by(Kind::Rigid), by(Kind::Affine)];
    assert!(rigid.trusted() && affine.trusted(), "{:?}, {:?}", rigid.doubts, affine.doubts);
    let apart = apart(&rigid.transform.to_affine(), &affine.transform.to_affine(), &fixed);
    assert!(apart < 25.0, "{apart:.1} mm");
}

/// Two bodies of one shape that show different contents.
fn other_contents() {
    let fixed = body(DVec3::ONE, |lumps| 200.0 + 10.0 * lumps);
    let voxel = |n: usize| {
        let at = fixed.geometry.index_to_world().transform_point3(fixed.geometry.index_of(n).map(|i| i as f64).into());
        if fixed.voxels[n] > 0.0 { (500.0 - 12.0 * lumps(at + 1000.0)) as f32 } else { 0.0 }
    };
    let moving = Volume { voxels: (0..fixed.voxels.len()).map(voxel).collect(), ..fixed.clone() };
    let found = register(&fixed, &moving, &Options { dof: Kind::Affine, ..Options::default() });
    let lead = found.place.and_then(|place| place.optima);
    assert!(!found.trusted() && lead.is_some_and(|lead| lead < 1.5), "{:?}, {:?}", found.place, found.doubts);
}

/// The proton density of one head hardly agrees with the T2 of another: the right position is nearly as good as others.
fn two_contrasts() {
    let [t1, density, other_t1, other_t2] =
        ["chris/chris_t1.nii.gz", "chris/chris_PD.nii.gz", "brainweb/t1.mha", "brainweb/t2.mha"]
            .map(|path| io::read(&data_dir().unwrap().join(path)).unwrap());
    let halved = |image: &Volume| block_means(image, [2; 3]);
    let by = |fixed: &Volume, moving: &Volume, dof| register(fixed, moving, &Options { dof, ..Options::default() });
    let [same_person, other_person] = [by(&density, &t1, Kind::Rigid), by(&t1, &other_t1, Kind::Affine)];
    let reference = other_person.transform.to_affine() * same_person.transform.to_affine();
    let middle = density.geometry.centre();
    let [density, other_t2] = [block_means(&density, [2, 2, 1]), halved(&other_t2)];
    let brain = DVec3::AXES.into_iter().flat_map(|axis| [middle + 50.0 * axis, middle - 50.0 * axis]);
    for (dof, mm) in [(Kind::Affine, 8.0), (Kind::Rigid, 12.0)] {
        let found = by(&density, &other_t2, dof);
        let map = found.transform.to_affine();
        let off = brain.clone().map(|at| map.transform_point3(at).distance(reference.transform_point3(at)));
        let off = off.fold(0.0, f64::max);
        assert!(found.trusted() && off < mm, "{dof:?}: {off:.1} mm, {:?}, {:?}", found.place, found.doubts);
    }
}
