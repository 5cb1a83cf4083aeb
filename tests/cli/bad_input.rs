//! Input that the command line refuses, with one line and the right exit code, and without writing anything.

use std::fs;
use std::path::Path;

use glam::DVec3;
use libtest_mimic::Trial;
use mireg::{Volume, io};

use crate::cli::{mireg, names, ramp};
use crate::support::trial;

/// Bytes of a NIfTI-1 header and the extension flag after it.
const NIFTI_HEADER: usize = 352;

/// What is wrong, the arguments, the exit code, and words that the line must contain. The folder has the good images
/// `a.nii` and `b.nii` and the bad ones that `prepare` makes.
type Row = (&'static str, &'static str, i32, &'static [&'static str]);

const ROWS: &[Row] = &[
    ("a_missing_file", "register none.nii.gz b.nii --out out", 2, &["none.nii.gz"]),
    ("a_missing_moving_file", "register a.nii none.mha --out out", 2, &["none.mha"]),
    ("a_folder_as_image", "register . b.nii --out out", 2, &[]),
    ("a_file_of_another_kind", "register text.nii b.nii --out out", 2, &["text.nii"]),
    ("a_name_of_another_kind", "register text.txt b.nii --out out", 2, &["text.txt"]),
    ("an_empty_file", "register empty.nii b.nii --out out", 2, &["empty.nii"]),
    ("a_truncated_file", "register cut.nii.gz b.nii --out out", 2, &["cut.nii.gz"]),
    ("a_header_of_10_to_the_12_voxels", "register huge.nii b.nii --out out", 2, &["huge.nii"]),
    ("a_gzipped_header_of_10_to_the_12_voxels", "register a.nii huge.nii.gz --out out", 2, &["huge.nii.gz"]),
    ("infinite_voxels", "register a.nii infinite.nii --out out", 2, &["infinite.nii", "infinite"]),
    ("an_image_without_data", "register a.nii nan.nii --out out --backend cpu", 2, &["moving", "no data", "NaN"]),
    (
        "a_range_without_intensities",
        "register a.nii b.nii --out out --backend cpu --fixed-range 1e6,1e7",
        2,
        &["range", "fixed image", "0 to 996"],
    ),
    ("a_range_the_wrong_way", "register a.nii b.nii --out out --fixed-range 5,1", 2, &["--fixed-range", "smaller"]),
    ("a_constant_image", "register constant.nii b.nii --out out", 2, &["fixed", "constant"]),
    ("a_constant_moving_image", "register a.nii constant.nii --out out", 2, &["moving", "constant"]),
    ("images_that_do_not_overlap", "register a.nii far.nii --out out --init header --quiet", 1, &["overlap"]),
    ("a_4d_file", "register 4d.nii b.nii --out out", 2, &["4d.nii", "4"]),
    ("a_non_invertible_sform", "register flat.nii b.nii --out out", 2, &["flat.nii"]),
    ("no_bins", "register a.nii b.nii --out out --bins 0", 2, &["--bins", "0"]),
    ("one_bin", "register a.nii b.nii --out out --bins 1", 2, &["--bins", "1"]),
    ("too_many_bins", "register a.nii b.nii --out out --bins 1025", 2, &["--bins", "1025"]),
    ("bins_in_words", "register a.nii b.nii --out out --bins many", 2, &["--bins", "many", "from 2 to 1024"]),
    ("a_negative_seed", "register a.nii b.nii --out out --seed -1", 2, &["--seed", "a whole number, 0 or more"]),
    ("an_unknown_interpolation", "register a.nii b.nii --out out --interpolation sinc", 2, &["sinc", "catmull-rom"]),
    ("an_unknown_histogram", "register a.nii b.nii --out out --histogram magic", 2, &["magic", "tiled"]),
    (
        "a_histogram_that_the_cpu_lacks",
        "register a.nii b.nii --out out --histogram tiled --backend cpu",
        2,
        &["tiled", "auto"],
    ),
    ("a_mask_on_another_grid", "register a.nii b.nii --out out --fixed-mask far.nii", 2, &["mask", "grid"]),
    ("an_empty_mask", "register a.nii b.nii --out out --fixed-mask none_inside.nii", 2, &["mask", "0.5"]),
    ("a_missing_mask", "metric a.nii b.nii --fixed-mask none.nii", 2, &["none.nii"]),
    ("no_threads", "register a.nii b.nii --out out --threads 0", 2, &["--threads"]),
    ("negative_threads", "register a.nii b.nii --out out --threads=-1", 2, &["--threads"]),
    ("an_unknown_metric", "register a.nii b.nii --out out --metric ncc", 2, &["ncc", "nmi"]),
    (
        "a_gradient_that_nmi_lacks",
        "register a.nii b.nii --out out --metric nmi --optimizer bfgs",
        2,
        &["NMI", "--metric mattes"],
    ),
    ("mattes_with_four_bins", "register a.nii b.nii --out out --metric mattes --bins 4", 2, &["4 bins", "5 to 1024"]),
    (
        "mattes_between_other_values",
        "register a.nii b.nii --out out --metric mattes --interpolation b-spline",
        2,
        &["--interpolation linear"],
    ),
    (
        "mattes_with_a_histogram",
        "register a.nii b.nii --out out --metric mattes --histogram tiled",
        2,
        &["--histogram"],
    ),
    ("viola_with_few_samples", "register a.nii b.nii --out out --metric viola --samples 99", 2, &["99", "100 or more"]),
    (
        "viola_with_one_sigma",
        "register a.nii b.nii --out out --metric viola --sigmas 0.1",
        2,
        &["--sigmas", "0.02,0.03"],
    ),
    (
        "viola_with_a_sigma_of_nothing",
        "register a.nii b.nii --out out --metric viola --sigmas 0,0.1",
        2,
        &["--sigmas", "above 0"],
    ),
    ("sigmas_without_viola", "register a.nii b.nii --out out --sigmas 0.1,0.1", 2, &["--sigmas", "viola"]),
    (
        "unknown_exponentials",
        "register a.nii b.nii --out out --metric viola --exponentials slow",
        2,
        &["slow", "quantised"],
    ),
    ("an_unknown_backend", "register a.nii b.nii --out out --backend tpu", 2, &["tpu", "cuda"]),
    ("an_unknown_option", "register a.nii b.nii --out out --bin 5", 2, &["--bin", "--bins"]),
    ("an_unknown_command", "regster a.nii b.nii --out out", 2, &["regster", "register"]),
    ("no_output_folder", "register a.nii b.nii", 2, &["--out"]),
    ("no_moving_image", "register a.nii --out out", 2, &["MOVING"]),
    ("a_file_as_output_folder", "register a.nii b.nii --out text.txt", 2, &["text.txt"]),
    ("an_output_folder_in_a_file", "register a.nii b.nii --out text.txt/out", 2, &["text.txt"]),
    #[cfg(target_os = "linux")]
    ("an_output_folder_that_cannot_be_written", "register a.nii b.nii --out /proc/out", 2, &["/proc/out"]),
    ("metric_of_a_missing_file", "metric a.nii none.nii", 2, &["none.nii"]),
    ("metric_with_a_missing_transform", "metric a.nii b.nii --transform none.tfm", 2, &["none.tfm"]),
    ("metric_with_a_damaged_transform", "metric a.nii b.nii --transform text.txt", 2, &["text.txt"]),
    (
        "metric_with_bytes_as_transform",
        "metric a.nii b.nii --transform bytes.tfm",
        2,
        &["bytes.tfm", "no transform", "FSL"],
    ),
    ("metric_with_one_bin", "metric a.nii b.nii --bins 1", 2, &["--bins"]),
    ("metric_of_a_constant_image", "metric a.nii constant.nii", 2, &["moving", "constant"]),
    ("metric_of_images_that_do_not_overlap", "metric a.nii far.nii", 1, &["overlap"]),
    ("convert_of_a_missing_file", "convert none.tfm out.tfm", 2, &["none.tfm", "no such file"]),
    ("convert_over_its_input", "convert a.tfm ./a.tfm", 2, &["a.tfm", "replace"]),
    ("convert_over_an_image", "convert a.tfm a.nii --to json --fixed a.nii", 2, &["a.nii", "replace"]),
    ("convert_to_an_unknown_format", "convert a.tfm a.b", 2, &["a.b", ".tfm", "matrix-ras"]),
    ("convert_to_fsl_without_images", "convert a.tfm a.mat", 2, &["a.mat", "--fixed", "--moving"]),
    ("convert_of_a_damaged_file", "convert text.txt out.tfm", 2, &["text.txt"]),
    ("convert_into_a_missing_folder", "convert a.tfm none/out.tfm", 2, &["none"]),
    ("compose_of_nothing", "compose --out out.tfm", 2, &["TRANSFORM"]),
    ("compose_of_a_matrix_without_frame", "compose a.tfm matrix.txt --out out.tfm", 2, &["matrix.txt", "--from"]),
    ("compose_over_an_input", "compose a.tfm b.tfm --out b.tfm", 2, &["b.tfm", "replace"]),
    ("invert_without_an_output", "invert a.tfm", 2, &["--out"]),
    ("invert_over_its_input", "invert a.tfm --out a.tfm", 2, &["a.tfm", "replace"]),
    ("apply_without_a_grid", "apply a.nii --out out.nii", 2, &["--like"]),
    ("apply_to_a_missing_file", "apply none.nii --like a.nii --out out.nii", 2, &["none.nii"]),
    ("apply_of_a_missing_transform", "apply a.nii --like b.nii --transform none.tfm --out out.nii", 2, &["none.tfm"]),
    ("apply_of_two_of_fsl", "apply a.nii --like b.nii -t a.mat -t a.mat --out out.nii", 2, &["a.mat", "convert"]),
    ("apply_over_its_input", "apply a.nii --like b.nii --out a.nii", 2, &["a.nii", "--out"]),
    ("apply_into_another_kind", "apply a.nii --like b.nii --out out.txt", 2, &["out.txt", ".nii"]),
    (
        "apply_of_an_unknown_interpolation",
        "apply a.nii --like b.nii --out out.nii --interpolation partial-volume",
        2,
        &["linear"],
    ),
    (
        "apply_to_labels_between",
        "apply a.nii --like b.nii --out out.nii --labels --interpolation linear",
        2,
        &["--labels"],
    ),
    ("apply_at_no_spacing", "apply a.nii --like b.nii --out out.nii --spacing 0", 2, &["--spacing", "positive"]),
    ("apply_at_two_spacings", "apply a.nii --like b.nii --out out.nii --spacing 1,2", 2, &["--spacing", "three"]),
    ("apply_at_a_spacing_too_fine", "apply a.nii --like b.nii --out out.nii --spacing 0.0001", 2, &["grid", "32768"]),
    ("apply_with_nan_outside", "apply a.nii --like b.nii --out out.nii --outside nan", 2, &["--outside"]),
    ("points_of_a_missing_file", "points none.csv --transform t.tfm --out out.csv", 2, &["none.csv"]),
    ("points_without_a_transform", "points good.csv --out out.csv", 2, &["--transform"]),
    ("points_of_an_unknown_kind", "points a.nii --transform t.tfm --out out.csv", 2, &["a.nii"]),
    ("points_of_an_unknown_name", "points good.dat --transform t.tfm --out out.dat", 2, &["good.dat", "--format"]),
    ("points_of_an_empty_file", "points empty.csv --transform t.tfm --out out.csv", 2, &["empty.csv", "x and y"]),
    (
        "points_under_a_header_alone",
        "points header.csv --transform t.tfm --out out.csv",
        2,
        &["header.csv", "no points"],
    ),
    ("points_in_wrong_columns", "points columns.csv --transform t.tfm --out out.csv", 2, &["columns.csv", "x and y"]),
    ("points_that_are_nan", "points nan.csv --transform t.tfm --out out.csv", 2, &["nan.csv", "line 3", "nan"]),
    ("points_in_short_rows", "points short.csv --transform t.tfm --out out.csv", 2, &["short.csv", "line 2"]),
    ("points_in_uneven_rows", "points uneven.txt --transform t.tfm --out out.txt", 2, &["uneven.txt", "line 2"]),
    ("points_in_words", "points text.txt --transform t.tfm --out out.txt", 2, &["text.txt", "line 1"]),
    ("points_in_bytes", "points bytes.vtk --transform t.tfm --out out.vtk", 2, &["bytes.vtk", "ASCII"]),
    ("points_fewer_than_said", "points few.vtk --transform t.tfm --out out.vtk", 2, &["few.vtk", "1000000000000"]),
    ("points_in_damaged_json", "points cut.mrk.json --transform t.tfm --out out.json", 2, &["cut.mrk.json", "line 1"]),
    ("points_in_voxels", "points voxels.fcsv --transform t.tfm --out out.fcsv", 2, &["voxels.fcsv", "IJK"]),
    ("points_into_another_kind", "points good.csv --transform t.tfm --out out.vtk", 2, &["out.vtk"]),
    ("points_through_fsl_alone", "points good.csv --transform a.mat --out out.csv", 2, &["a.mat", "--fixed"]),
    ("points_over_their_input", "points good.csv --transform t.tfm --out good.csv", 2, &["good.csv", "--out"]),
    ("evaluate_over_nothing", "evaluate t.tfm --truth t.tfm", 2, &["--mask"]),
    ("evaluate_without_a_truth", "evaluate t.tfm --fixed a.nii", 2, &["--truth"]),
    ("evaluate_over_two_things", "evaluate t.tfm --truth t.tfm --mask a.nii --points good.csv", 2, &["--points"]),
    ("evaluate_fsl_without_the_moving_image", "evaluate a.mat --truth t.tfm --fixed a.nii", 2, &["a.mat", "--moving"]),
    ("evaluate_a_missing_transform", "evaluate none.tfm --truth t.tfm --fixed a.nii", 2, &["none.tfm"]),
    ("evaluate_against_a_missing_truth", "evaluate t.tfm --truth none.tfm --fixed a.nii", 2, &["none.tfm"]),
    ("evaluate_over_an_empty_mask", "evaluate t.tfm --truth t.tfm --mask none_inside.nii", 2, &["none_inside.nii"]),
    (
        "evaluate_over_other_points",
        "evaluate t.tfm --points good.csv --moving-points one.csv",
        2,
        &["one.csv", "1 points"],
    ),
    ("evaluate_with_a_limit_in_words", "evaluate t.tfm --truth t.tfm --fixed a.nii --limit x", 2, &["--limit"]),
    ("bench_with_one_bin", "bench --bins 64,1", 2, &["--bins", "1"]),
    ("bench_with_bins_in_words", "bench --bins many", 2, &["--bins", "many"]),
    ("bench_of_an_unknown_method", "bench --histogram magic", 2, &["magic", "tiled"]),
    ("bench_of_an_unknown_interpolation", "bench --interpolation sinc", 2, &["sinc", "linear"]),
    ("bench_of_unknown_data", "bench --data files", 2, &["files", "random"]),
    ("bench_of_an_unknown_paper", "bench --paper maes", 2, &["maes", "shams-figure-7"]),
    ("bench_without_size", "bench --size 0", 2, &["--size", "0"]),
    ("bench_for_negative_seconds", "bench --seconds -1", 2, &["--seconds", "-1"]),
    ("bench_of_a_fixed_image_alone", "bench --fixed a.nii", 2, &["--moving"]),
    ("bench_of_a_missing_file", "bench --fixed a.nii --moving none.nii --backend cpu", 2, &["none.nii"]),
    ("bench_of_a_constant_image", "bench --fixed constant.nii --moving a.nii --backend cpu", 2, &["constant"]),
    ("bench_of_a_method_that_the_cpu_lacks", "bench --histogram tiled --backend cpu", 2, &["--histogram", "CPU"]),
    ("bench_into_a_file", "bench --out text.txt", 2, &["text.txt"]),
    ("demo_into_a_file", "demo --out text.txt", 2, &["text.txt"]),
];

pub fn tests() -> Vec<Trial> {
    let rows = ROWS.iter().map(|row| trial(format!("cli::refuses_{}", row.0), || refuses(row)));
    rows.chain([trial("cli::refuses_a_long_picture", a_long_picture_is_refused_before_it_is_registered)]).collect()
}

fn a_long_picture_is_refused_before_it_is_registered() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name, size: [u32; 2], grey: fn(u32) -> u8| {
        let picture = image::GrayImage::from_fn(size[0], size[1], |x, _| image::Luma([grey(x)]));
        picture.save(folder.path().join(name)).unwrap();
    };
    // This picture is so large that it is thinned while it is read, to a size that could be registered.
    write("long.png", [33_000, 2_100], |x| (x % 251) as u8);
    // Registration would refuse this one.
    write("constant.png", [40, 30], |_| 7);
    let arguments = ["register", "constant.png", "long.png", "--out", "out", "--backend", "cpu"];
    let assert = mireg(folder.path(), &arguments).assert().code(2);
    let told = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
    assert!(
        told.contains("33000 x 2100") && told.contains("32768 along an axis") && told.lines().count() == 1,
        "{told}"
    );
    assert_eq!(names(folder.path()), ["constant.png", "long.png"]);
}

fn refuses((_, arguments, code, words): &Row) {
    let folder = tempfile::tempdir().unwrap();
    prepare(folder.path());
    let before = names(folder.path());
    let arguments: Vec<&str> = arguments.split(' ').collect();
    let assert = mireg(folder.path(), &arguments).assert();
    let output = assert.get_output();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(*code), "{told}");
    assert!(output.stdout.is_empty(), "on stdout: {}", String::from_utf8_lossy(&output.stdout));
    assert!(told.starts_with("mireg: ") && told.lines().count() == 1, "not one line:\n{told}");
    for word in *words {
        assert!(told.contains(word), "{word:?} is not in {told}");
    }
    assert_eq!(names(folder.path()), before, "something was written");
}

fn prepare(folder: &Path) {
    let write = |name: &str, volume: &Volume| io::write(&folder.join(name), volume).unwrap();
    let image = ramp(DVec3::ZERO);
    write("a.nii", &image);
    write("b.nii", &image);
    write("far.nii", &ramp(DVec3::splat(1000.0)));
    write("constant.nii", &Volume { voxels: vec![3.0; image.voxels.len()], ..image.clone() });

    write("none_inside.nii", &Volume { voxels: vec![0.0; image.voxels.len()], ..image.clone() });

    let good = fs::read(folder.join("a.nii")).unwrap();
    let file = |name: &str, bytes: &[u8]| fs::write(folder.join(name), bytes).unwrap();
    file("bytes.tfm", b"\x07\x08\x09\x00 of no format");
    let patched = |patches: &[(usize, &[u8])]| {
        let mut bytes = good.clone();
        patches.iter().for_each(|(at, new)| bytes[*at..at + new.len()].copy_from_slice(new));
        bytes
    };
    file("text.nii", "not an image\n".repeat(100).as_bytes());
    file("text.txt", b"not an image\n");
    file("empty.nii", b"");
    file("matrix.txt", b"1 0 0 0\n0 1 0 0\n0 0 1 0\n0 0 0 1\n");
    let shift = "#Insight Transform File V1.0\nTransform: TranslationTransform_double_3_3\nParameters: 1 2 3\nFixedParameters:\n";
    file("a.mat", b"1 0 0 0\n0 1 0 0\n0 0 1 0\n0 0 0 1\n");
    file("a.tfm", shift.as_bytes());
    file("b.tfm", shift.as_bytes());
    prepare_points(folder);
    let dimensions = |d: [i16; 5]| d.map(i16::to_le_bytes).concat();
    let huge = patched(&[(40, &dimensions([3, 10_000, 10_000, 10_000, 1]))]);
    file("huge.nii", &huge);
    file("infinite.nii", &patched(&[(NIFTI_HEADER + 400, &f32::INFINITY.to_le_bytes())]));
    write("nan.nii", &Volume { voxels: vec![f32::NAN; image.voxels.len()], ..image.clone() });
    let twice = [&patched(&[(40, &dimensions([4, 16, 16, 16, 2]))]), &good[NIFTI_HEADER..]].concat();
    file("4d.nii", &twice);
    // No qform, and an sform whose rows are all alike.
    let row = [1.0f32, 2.0, 3.0, 4.0].map(f32::to_le_bytes).concat();
    file("flat.nii", &patched(&[(252, &[0, 0, 1, 0]), (280, &row.repeat(3))]));

    gzipped(folder, "huge.nii.gz", &huge);
    io::write(&folder.join("cut.nii.gz"), &image).unwrap();
    let whole = fs::read(folder.join("cut.nii.gz")).unwrap();
    file("cut.nii.gz", &whole[..whole.len() / 2]);
}

fn prepare_points(folder: &Path) {
    let transform = "#Insight Transform File V1.0\n#Transform 0\nTransform: TranslationTransform_double_3_3\n";
    let few = "# vtk DataFile Version 3.0\npoints\nASCII\nDATASET POLYDATA\nPOINTS 1000000000000 float\n1 2 3\n";
    let files = [
        ("t.tfm", [transform, "Parameters: 1 2 3\nFixedParameters:\n"].concat()),
        ("good.csv", "x,y,z\n1,2,3\n4,5,6\n".into()),
        ("one.csv", "x,y,z\n1,2,3\n".into()),
        ("good.dat", "1 2 3\n".into()),
        ("empty.csv", String::new()),
        ("header.csv", "x,y,z\n".into()),
        ("columns.csv", "a,b,c\n1,2,3\n".into()),
        ("nan.csv", "x,y,z\n1,2,3\n1,nan,3\n".into()),
        ("short.csv", "x,y,z\n1,2\n".into()),
        ("uneven.txt", "1 2 3\n1 2\n".into()),
        ("few.vtk", few.into()),
        ("bytes.vtk", few.replace("ASCII", "BINARY")),
        ("cut.mrk.json", "{\"markups\": [".into()),
        ("voxels.fcsv", "# CoordinateSystem = IJK\n# columns = id,x,y,z\n1,2,3,4\n".into()),
    ];
    files.iter().for_each(|(name, text)| fs::write(folder.join(name), text).unwrap());
}

fn gzipped(folder: &Path, name: &str, bytes: &[u8]) {
    use std::io::Write;
    let file = fs::File::create(folder.join(name)).unwrap();
    let mut encoder = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap();
}
