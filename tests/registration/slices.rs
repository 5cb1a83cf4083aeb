//! Single slices at any position and orientation in space. They are registered in their plane, and the transform goes
//! from plane to plane.

use glam::{DAffine3, DVec3};
use libtest_mimic::Trial;
use mireg::registration::Init;
use mireg::transform::{Dimension, Kind, distance};
use mireg::{Error, Options, Silent, Volume, deform, io, mesh};

use super::{placed, plane, register, test};
use crate::cli::{mireg, names, stdout};
use crate::support::CPU;

pub fn tests() -> Vec<Trial> {
    vec![
        test("slices::found_in_their_plane", found_in_their_plane),
        test("slices::of_every_kind", of_every_kind),
        test("slices::start_and_masks", a_start_and_masks_are_in_space),
        test("slices::refused", what_does_not_lie_in_one_plane_is_refused),
        test("slices::files", files_keep_their_place),
    ]
}

/// The poses of the slices: coronal, sagittal from the other side, and oblique.
fn poses() -> [DAffine3; 3] {
    let place = |turn: DAffine3, shift| DAffine3::from_translation(shift) * turn;
    let quarter = std::f64::consts::FRAC_PI_2;
    let oblique = DAffine3::from_rotation_x(0.5) * DAffine3::from_rotation_y(-0.7) * DAffine3::from_rotation_z(0.3);
    [
        place(DAffine3::from_rotation_x(quarter), DVec3::new(-60.0, 35.0, 12.0)),
        place(DAffine3::from_rotation_y(-quarter), DVec3::new(20.0, -50.0, 80.0)),
        place(oblique, DVec3::new(5.0, -120.0, 33.0)),
    ]
}

/// Returns the normal of slices in this pose.
fn normal(pose: &DAffine3) -> DVec3 {
    pose.transform_vector3(DVec3::Z)
}

fn found_in_their_plane() {
    let fixed = plane::fixed();
    let (moving, truth) = plane::moved(Kind::Rigid);
    for pose in poses() {
        // The other scanner's slice is 17 mm further along the normal, or tilted by a degree.
        let tilt = DAffine3::from_axis_angle(pose.transform_vector3(DVec3::X), 1f64.to_radians());
        for other in [pose, DAffine3::from_translation(17.0 * normal(&pose)) * pose, tilt * pose] {
            let (fixed, moving) = (placed(fixed, &pose), placed(&moving, &other));
            let found = register(&fixed, &moving, &Options::default());
            let truth = other * truth * pose.inverse();
            assert_eq!((found.transform.kind, found.transform.dimension), (Kind::Rigid, Dimension::Three));
            let map = found.transform.to_affine();
            let apart = distance(&map, &truth, &fixed.geometry);
            assert!(apart < 0.5, "{apart} mm, {:?}", found.doubts);
            // The transform takes the fixed plane to the moving plane.
            for corner in fixed.geometry.corners() {
                let off = (map.transform_point3(corner) - moving.geometry.origin).dot(normal(&other));
                assert!(off.abs() < 1e-9, "{off} mm off the plane");
            }
            assert_eq!(found.moved.as_ref().unwrap().geometry, fixed.geometry);
        }
    }
}

fn of_every_kind() {
    let [pose, ..] = poses();
    let fixed = placed(plane::fixed(), &pose);
    let (moving, truth) = plane::moved(Kind::Translation);
    let (moving, truth) = (placed(&moving, &pose), pose * truth * pose.inverse());
    for dof in [Kind::Translation, Kind::Similarity, Kind::Affine] {
        let found = register(&fixed, &moving, &Options { dof, ..Options::default() });
        assert_eq!((found.transform.kind, found.transform.dimension), (dof, Dimension::Three));
        let apart = distance(&found.transform.to_affine(), &truth, &fixed.geometry);
        assert!(apart < 1.0, "{dof:?}: {apart} mm, {:?}", found.doubts);
    }
}

fn a_start_and_masks_are_in_space() {
    let [.., pose] = poses();
    let (fixed, (moving, truth)) = (placed(plane::fixed(), &pose), plane::moved(Kind::Rigid));
    let moving = placed(&moving, &pose);
    let truth = pose * truth * pose.inverse();
    let all = Volume { voxels: vec![1.0; fixed.voxels.len()], ..fixed.clone() };
    // The start has a wrong position along the normal.
    let start = DAffine3::from_translation(40.0 * normal(&pose)) * truth;
    let options = |init, fixed_mask| Options { init, fixed_mask, levels: Some(vec![2.0, 1.0]), ..Options::default() };
    let started = |init, mask| register(&fixed, &moving, &options(init, mask)).transform.to_affine();
    let found = started(Init::Transform(start), None);
    assert!(distance(&found, &truth, &fixed.geometry) < 0.5);
    assert_eq!(started(Init::Transform(start), Some(all.clone())), found, "a mask of all voxels changes the result");
    let away = start * DAffine3::from_translation(pose.transform_vector3(DVec3::new(25.0, -15.0, 0.0)));
    assert!(distance(&started(Init::Among(vec![away, start]), None), &truth, &fixed.geometry) < 0.5);
    let refused = |options: &Options| {
        let error = CPU.register(&fixed, &moving, options, &Silent).unwrap_err();
        assert!(matches!(error, Error::Option { .. }) && !error.to_string().contains('\n'), "{error}");
        error.to_string()
    };
    let away = placed(&all, &DAffine3::from_translation(3.0 * normal(&pose)));
    assert!(refused(&options(Init::Header, Some(away))).contains("not on the fixed image's grid"));
    let tilted = DAffine3::from_axis_angle(pose.transform_vector3(DVec3::X), 0.1);
    assert!(refused(&options(Init::Transform(tilted), None)).contains("leads out of the plane"));
}

fn what_does_not_lie_in_one_plane_is_refused() {
    let [coronal, sagittal, _] = poses().map(|pose| placed(plane::fixed(), &pose));
    let axial = plane::fixed();
    let refused = |fixed: &Volume, moving: &Volume| {
        let error = CPU.register(fixed, moving, &Options::default(), &Silent).unwrap_err();
        assert!(matches!(error, Error::Option { .. }), "{error}");
        error.to_string()
    };
    let line = "the images are slices of different orientation: the normal of the fixed one is along (0.000, -1.000, 0.000), that of \
                the moving one along (-1.000, 0.000, 0.000), 90.0 degrees off; give slices of one orientation, or volumes";
    assert_eq!(refused(&coronal, &sagittal), line);
    assert!(refused(axial, &coronal).contains("different orientation"));
    assert!(refused(&coronal, axial).contains("different orientation"));
    let error = CPU.mesh(&coronal, &coronal, &mesh::Options::default(), &Silent).unwrap_err().to_string();
    assert!(
        error.contains("the fixed image is a single slice with its normal along (0.000, -1.000, 0.000), and a mesh"),
        "{error}"
    );
    let error = CPU.deform(axial, &coronal, &deform::Options::default(), &Silent).unwrap_err().to_string();
    assert!(error.contains("the moving image is a single slice") && error.contains("a deformation"), "{error}");
}

fn files_keep_their_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let [.., pose] = poses();
    let other = DAffine3::from_translation(-9.0 * normal(&pose)) * pose;
    let (moving, truth) = plane::moved(Kind::Rigid);
    let (fixed, moving) = (placed(plane::fixed(), &pose), placed(&moving, &other));
    let truth = other * truth * pose.inverse();
    for (end, tolerance) in [("nii.gz", 1e-4), ("mha", 1e-9), ("nrrd", 1e-9)] {
        let [a, b, out] = [format!("a.{end}"), format!("b.{end}"), format!("out-{end}")];
        io::write(&path(&a), &fixed).unwrap();
        io::write(&path(&b), &moving).unwrap();
        let grid = io::read(&path(&a)).unwrap().geometry;
        assert!(
            grid.corners().iter().zip(fixed.geometry.corners()).all(|(one, other)| one.distance(other) < tolerance)
        );
        let run = mireg(folder.path(), &["register", &a, &b, "--out", &out, "--backend", "cpu"]).output().unwrap();
        let shown = String::from_utf8_lossy(&run.stdout);
        assert!(shown.contains("moved.nii.gz"), "{shown}{}", String::from_utf8_lossy(&run.stderr));
        assert_eq!(names(&path(&out)), ["moved.nii.gz", "report.html", "report.json", "transform.tfm"]);
        let transform = format!("{out}/transform.tfm");
        let text = std::fs::read_to_string(path(&transform)).unwrap();
        assert!(text.contains("Euler3DTransform_double_3_3"), "{text}");
        let found = io::transform::read_linear(&path(&transform), None, &Default::default()).unwrap();
        assert!(distance(&found.to_affine(), &truth, &grid) < 0.5);
        let moved = io::read(&path(&format!("{out}/moved.nii.gz"))).unwrap();
        assert!(moved.geometry.is_slice_in_space() && moved.geometry.is_close(&fixed.geometry));
        // `mireg apply` gives the moved image, and the metric is that of the report.
        stdout(&mut mireg(folder.path(), &["apply", &b, "--like", &a, "-t", &transform, "--out", "c.mha"]));
        let applied = io::read(&path("c.mha")).unwrap();
        let different = applied.voxels.iter().zip(&moved.voxels).filter(|(a, b)| (**a - **b).abs() > 1.0).count();
        assert!(different < moved.voxels.len() / 500, "{different} pixels differ");
        let metric = stdout(&mut mireg(folder.path(), &["metric", &a, &b, "-t", &transform, "--json"]));
        let report = std::fs::read_to_string(path(&format!("{out}/report.json"))).unwrap();
        let [metric, report] = [metric, report].map(|text| serde_json::from_str::<serde_json::Value>(&text).unwrap());
        let [one, two] = [&metric["mi"], &report["final"]["mi"]].map(|mi| mi.as_f64().unwrap());
        assert!((one - two).abs() < 0.01 * two, "{one}, {two}");
    }
}
