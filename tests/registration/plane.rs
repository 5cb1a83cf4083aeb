//! Images of two dimensions.

use glam::{DAffine3, DVec3};
use gpu::math::interpolate::Interpolator;
use libtest_mimic::Trial;
use mireg::transform::{Dimension, Kind, Linear, distance};
use mireg::{Error, Geometry, Options, PixelType, Resampling, Silent, Volume, io};
use mireg_cli::demo::Pair;
use std::sync::LazyLock;

use super::{PAIR, register, test};
use crate::cli::{mireg, names, stdout};
use crate::support::{CPU, data_dir, random};

pub fn tests() -> Vec<Trial> {
    let absent = data_dir().is_none();
    vec![
        test("slices_that_were_moved", slices_that_were_moved),
        test("tiles_that_share_a_third_are_joined", tiles_that_share_a_third_are_joined),
        test("a_detail_is_found", a_detail_is_found),
        test("a_start_that_leaves_the_plane_is_refused", a_start_that_leaves_the_plane_is_refused),
        test("pictures_go_in_and_out", pictures_go_in_and_out),
        test("a_slice_and_a_volume_are_refused", a_slice_and_a_volume_are_refused),
        test("brainweb_slices", brainweb_slices).with_ignored_flag(absent),
    ]
}

/// The same slice of a head in CT and MR, 128 x 128 pixels of 1 mm.
static SLICES: LazyLock<[Volume; 2]> = LazyLock::new(|| {
    let pair = Pair::new(3, 2.0);
    let mr = resampled(&pair.mr, &pair.ct.geometry, &pair.truth.to_affine());
    [(&pair.ct, 1100.0), (&mr, 0.0)].map(|(volume, above)| {
        let [width, height, slices] = volume.geometry.size;
        let plane = width * height;
        let voxels =
            volume.voxels[slices / 2 * plane..][..plane].iter().map(|voxel| (voxel + above).max(0.0)).collect();
        let geometry = Geometry::axis_aligned([width, height, 1], DVec3::ONE, DVec3::ZERO);
        Volume { geometry, voxels, pixel: PixelType::U16 }
    })
});

fn resampled(volume: &Volume, grid: &Geometry, map: &DAffine3) -> Volume {
    let how = Resampling { interpolator: Interpolator::Linear, outside: 0.0 };
    CPU.resample(volume, grid, &(*map).into(), &how).unwrap().volume
}

/// The CT slice.
pub fn fixed() -> &'static Volume {
    &SLICES[0]
}

/// Returns the MR slice after a translation or a rigid motion, and the true transform.
pub fn moved(kind: Kind) -> (Volume, DAffine3) {
    let [_, mr] = &*SLICES;
    let parameters = if kind == Kind::Translation { vec![7.3, -4.6] } else { vec![0.4, 7.3, -4.6] };
    let truth = Linear { kind, dimension: Dimension::Two, parameters, centre: mr.geometry.centre() }.to_affine();
    (resampled(mr, &mr.geometry, &truth.inverse()), truth)
}

fn slices_that_were_moved() {
    let [ct, _] = &*SLICES;
    for dof in [Kind::Translation, Kind::Rigid] {
        let (moving, truth) = moved(dof);
        let found = register(ct, &moving, &Options { dof, ..Options::default() });
        assert_eq!((found.transform.kind, found.transform.dimension), (dof, Dimension::Two));
        let apart = distance(&found.transform.to_affine(), &truth, &ct.geometry);
        assert!(apart < 0.5, "{dof:?}: {apart:.3} mm, {:?}", found.doubts);
    }
}

/// Returns a picture of blobs of many sizes, with noise. `map` takes its pixels to the scene.
pub fn scene(size: [usize; 2], map: DAffine3, contrast: f64, seed: u64) -> Volume {
    let mut uniform = random(3);
    let mut blob = || [330.0, 240.0, 1.0].map(|range| range * f64::from(uniform()));
    let blobs: Vec<[f64; 3]> = (0..250).map(|_| blob()).collect();
    let mut uniform = random(seed);
    let geometry = Geometry::axis_aligned([size[0], size[1], 1], DVec3::ONE, DVec3::ZERO);
    let pixel = |n: usize| {
        let at = map.transform_point3(DVec3::new((n % size[0]) as f64, (n / size[0]) as f64, 0.0));
        let near = |[x, y, size]: &[f64; 3]| {
            let radius = 2.0 * 12_f64.powf(*size);
            (-0.5 * ((at.x - x).powi(2) + (at.y - y).powi(2)) / (radius * radius)).exp()
        };
        let noise = 8.0 * f64::from(uniform() - 0.5);
        (120.0 + contrast * blobs.iter().map(near).sum::<f64>() + noise) as f32
    };
    Volume { geometry, voxels: (0..geometry.voxels()).map(pixel).collect(), pixel: PixelType::F32 }
}

/// Registers two pictures of the scene, of which the moving one is bright where the fixed one is dark.
fn scenes_are_registered(dof: Kind, [fixed, moving]: [([usize; 2], DAffine3); 2]) {
    let pictures = [scene(fixed.0, fixed.1, 60.0, 1), scene(moving.0, moving.1, -40.0, 2)];
    let found = register(&pictures[0], &pictures[1], &Options { dof, ..Options::default() });
    let apart = distance(&found.transform.to_affine(), &(moving.1.inverse() * fixed.1), &pictures[0].geometry);
    assert!(apart < 1.0 && found.trusted(), "{dof:?}: {apart:.3} px, {:?}", found.doubts);
}

/// The map of pixels to the scene: magnified, turned by `turn` radians and shifted.
pub fn placed(x: f64, y: f64, turn: f64, scale: f64) -> DAffine3 {
    DAffine3::from_translation(DVec3::new(x, y, 0.0))
        * DAffine3::from_rotation_z(turn)
        * DAffine3::from_scale(DVec3::new(scale, scale, 1.0))
}

/// Two tiles of a mosaic, side by side, of which the second one is rotated.
fn tiles_that_share_a_third_are_joined() {
    let (left, right) = (placed(15.0, 25.0, 0.0, 1.0), placed(128.0, 12.0, 0.1, 1.0));
    for dof in [Kind::Rigid, Kind::Affine] {
        scenes_are_registered(dof, [([160, 110], left), ([160, 110], right)]);
    }
}

/// The fixed image shows a third of the moving one's width, with nearly as many pixels.
fn a_detail_is_found() {
    let (detail, whole) = (placed(170.0, 60.0, 0.2, 0.36), placed(15.0, 10.0, 0.0, 1.0));
    for dof in [Kind::Similarity, Kind::Affine] {
        scenes_are_registered(dof, [([280, 200], detail), ([300, 220], whole)]);
    }
}

fn a_start_that_leaves_the_plane_is_refused() {
    let [ct, mr] = &*SLICES;
    let tilted = DAffine3::from_rotation_x(0.1);
    let options = Options { init: mireg::registration::Init::Transform(tilted), ..Options::default() };
    let error = CPU.register(ct, mr, &options, &Silent).unwrap_err();
    assert!(matches!(error, Error::Option { .. }) && error.to_string().contains("plane"), "{error}");
}

fn pictures_go_in_and_out() {
    let folder = tempfile::tempdir().unwrap();
    let (moving, truth) = moved(Kind::Rigid);
    io::write(&folder.path().join("a.png"), &SLICES[0]).unwrap();
    for name in ["b.png", "b.tif"] {
        io::write(&folder.path().join(name), &moving).unwrap();
        let arguments = ["register", "a.png", name, "--out", name.trim_start_matches("b."), "--backend", "cpu"];
        // The exit code says whether the result can be trusted, which does not matter here.
        let shown = mireg(folder.path(), &arguments).output().unwrap().stdout;
        let shown = String::from_utf8_lossy(&shown);
        assert!(shown.contains("moved.png"), "{shown}");
        let out = folder.path().join(name.trim_start_matches("b."));
        assert_eq!(names(&out), ["moved.png", "report.html", "report.json", "transform.tfm"]);
    }
    let transform = ["--transform", "png/transform.tfm"];
    stdout(mireg(folder.path(), &["apply", "b.png", "--like", "a.png", "--out", "c.png"]).args(transform));
    let [applied, written] = ["c.png", "png/moved.png"].map(|name| io::read(&folder.path().join(name)).unwrap());
    assert!(applied == written);
    let text = stdout(mireg(folder.path(), &["metric", "a.png", "b.png", "--json"]).args(transform));
    let report = std::fs::read_to_string(folder.path().join("png/report.json")).unwrap();
    let [metric, report] = [text, report].map(|text| serde_json::from_str::<serde_json::Value>(&text).unwrap());
    assert_eq!(metric["nmi"], report["final"]["nmi"]);
    let found =
        io::transform::read_linear(&folder.path().join("png/transform.tfm"), None, &Default::default()).unwrap();
    assert!(distance(&found.to_affine(), &truth, &moving.geometry) < 0.5);

    let before = std::fs::read(folder.path().join("png/moved.png")).unwrap();
    mireg(folder.path(), &["register", "a.png", "png/moved.png", "--out", "png"]).assert().code(2);
    assert!(std::fs::read(folder.path().join("png/moved.png")).unwrap() == before, "an input was replaced");
}

fn a_slice_and_a_volume_are_refused() {
    let error = CPU.register(&SLICES[0], &PAIR.mr, &Options::default(), &Silent).unwrap_err();
    assert!(matches!(error, Error::Option { .. }) && error.to_string().contains("two-dimensional"), "{error}");
}

/// Registers real slices of a T1 and of a PD that was moved, from ITK's examples. Their README has the true transforms,
/// in pixels.
fn brainweb_slices() {
    let folder = data_dir().unwrap().join("slices2d");
    let read = |name: &str| io::read(&folder.join(format!("Brain{name}.png"))).unwrap();
    let fixed = read("T1SliceBorder20");
    let centre = DVec3::new(110.0, 128.0, 0.0);
    let turn = 10_f64.to_radians();
    let cases = [
        ("Border20", Kind::Rigid, vec![0.0, 0.0, 0.0]),
        ("Shifted13x17y", Kind::Translation, vec![13.0, 17.0]),
        ("R10X13Y17", Kind::Rigid, vec![turn, 13.1, 15.9]),
    ];
    for (name, kind, parameters) in cases {
        let truth = Linear { kind, dimension: Dimension::Two, parameters, centre }.to_affine();
        let found =
            register(&fixed, &read(&format!("ProtonDensitySlice{name}")), &Options { dof: kind, ..Options::default() });
        let apart = distance(&found.transform.to_affine(), &truth, &fixed.geometry);
        // For the first pair, the maximum of mutual information is 0.3 degrees from the truth.
        assert!(apart < 0.6 && found.trusted(), "{name}: {apart:.3} px, {:?}, {:?}", found.transform, found.doubts);
    }
    // Of the scaled one, the scale and the angle are known.
    for dof in [Kind::Similarity, Kind::Affine] {
        let found = register(&fixed, &read("ProtonDensitySliceR10X13Y17S12"), &Options { dof, ..Options::default() });
        let matrix = found.transform.to_affine().matrix3;
        let (scale, angle) = (matrix.determinant().sqrt(), matrix.x_axis.y.atan2(matrix.x_axis.x).to_degrees());
        assert!((scale - 0.833).abs() < 0.01 && (angle + 10.0).abs() < 0.5, "{dof:?}: {scale}, {angle} degrees");
    }
}
