//! Files that are not a linear transform, or cannot be parsed, are refused with one line that says what to do.

use libtest_mimic::Trial;
use mireg::io::transform::{Format, Grids, read_linear, write_linear};
use mireg::transform::{Dimension, Kind, Linear};

use super::grids;
use crate::io::Folder;
use crate::support::trial;

pub fn tests() -> Vec<Trial> {
    vec![
        trial("io::transform::refused::itk", bad_itk_files),
        trial("io::transform::refused::others", bad_files_of_others),
        trial("io::transform::refused::lta, afni and minc", bad_files_of_freesurfer_afni_and_minc),
        trial("io::transform::refused::grids", what_needs_grids_says_so),
        trial("io::transform::refused::chains", chains_lead_somewhere),
    ]
}

fn refused(name: &str, bytes: &[u8], format: Option<Format>, expected: &str) {
    let folder = Folder::new();
    let [fixed, moving] = grids();
    let message = read_linear(&folder.file(name, bytes), format, &Grids::of(&fixed, &moving)).unwrap_err().to_string();
    let told = message.contains(expected) && message.contains(name);
    assert!(told && !message.contains('\n'), "{}: {message}", String::from_utf8_lossy(bytes));
}

fn bad_itk_files() {
    let head = "#Insight Transform File V1.0\n";
    let one = "Transform: TranslationTransform_double_3_3\nParameters: 1 2 3\nFixedParameters:\n";
    let affine = "Transform: AffineTransform_double_3_3\nParameters: 0 0 0 0 0 0 0 0 0 0 0 0\nFixedParameters: 0 0 0\n";
    let bad = [
        ("hello".into(), "no transform that mireg reads"),
        (head.into(), "several transforms or none"),
        (format!("{head}{one}{one}"), "several transforms"),
        (format!("{head}Transform: CompositeTransform_double_3_3\n"), "CompositeTransform of nothing"),
        (format!("{head}Parameters: 1 2 3\n{one}"), "before the name of a transform"),
        (
            format!("{head}Transform: BSplineTransform_double_3_3\nParameters: 1\nFixedParameters:\n"),
            "BSplineTransform",
        ),
        (format!("{head}Transform: CompositeTransform_double_3_3\n{one}{affine}"), "no inverse"),
        (format!("{head}{one}").replace("1 2 3", "1 2"), "2 parameters, not 3"),
        (format!("{head}{one}").replace("1 2 3", "1 2 x"), "\"x\""),
        (format!("{head}{one}").replace("1 2 3", "1 2 NaN"), "\"NaN\""),
        (format!("{head}{one}").replace("FixedParameters:\n", ""), "truncated"),
        (format!("{head}{one}").trim_end().into(), "truncated"),
        (format!("{head}{affine}"), "no inverse"),
    ];
    for (text, expected) in bad {
        refused("a.tfm", text.as_bytes(), None, expected);
    }
    let folder = Folder::new();
    let missing = read_linear(&folder.path("none.tfm"), None, &Grids::default()).unwrap_err().to_string();
    assert!(missing.contains("no such file"), "{missing}");
}

fn bad_files_of_others() {
    let matrix = "1 0 0 5\n0 1 0 6\n0 0 1 7\n0 0 0 1\n";
    let bad: &[(&str, &str, Option<Format>, &str)] = &[
        ("a.txt", matrix, None, "`format` matrix-lps"),
        ("a.mat", "1 0 0\n0 1 0\n0 0 1\n", None, "four lines of four numbers"),
        ("a.txt", "1 0 0 0\n1 0 0 0\n0 0 1 0\n0 0 0 1\n", Some(Format::MatrixRas), "no inverse"),
        ("a.txt", "1 0 0 0\n0 1 0 0\n0 0 1 0\n0 0 1 1\n", Some(Format::Niftyreg), "last row"),
        ("a.h5", "\u{89}HDF", Some(Format::Ants), "MATLAB 4"),
        ("a.json", "{\"lps\": [[1]]}", None, "is not a transform ("),
        ("a.json", "{\"kind\": \"rigid\"", None, "is not JSON ("),
        ("a.standard", "Point x y z new_x new_y new_z\n1 0 0 0 0 0 0\n", None, "has 1 rows"),
        ("a.txt", "(Transform \"BSplineTransform\")\n(FixedImageDimension 3)\n", None, "holds a BSplineTransform"),
        ("a.txt", "(Transform \"EulerTransform\")\n(FixedImage", None, "(Key value)"),
        ("a.txt", "(Transform \"EulerTransform\")\n(FixedImageDimension 3)\n", None, "CenterOfRotationPoint"),
    ];
    for (name, text, format, expected) in bad {
        refused(name, text.as_bytes(), *format, expected);
    }
    refused("a.tfm", b"\x89HDF\r\n\x1a\n", None, "truncated HDF5");
    refused("a.h5", b"hello", Some(Format::ItkHdf5), "is not HDF5");
    refused("a.mat", b"MATLAB 5.0 MAT-file\0", None, "MATLAB 4");
    refused("a.tfm", &[b' '; (1 << 20) + 1], None, "too large");
    let (kind, parameters, centre) = ("translation", "[1, 2, 3]", "[0, 0, 0]");
    let rows = "[[1,0,0,1],[0,1,0,2],[0,0,1,9],[0,0,0,1]]";
    let differs = format!(r#"{{"kind":"{kind}","parameters":{parameters},"centre_mm":{centre},"matrix":{rows}}}"#);
    refused("a.json", differs.as_bytes(), None, "say different things");
    refused("a.json", differs.replace("1, 2, 3", "1, 2, 3, 4").as_bytes(), None, "cannot have 4 parameters");
}

fn bad_files_of_freesurfer_afni_and_minc() {
    let volume = "valid = 1\nfilename = a\nvolume = 4 5 6\nvoxelsize = 1 2 3\nxras = 1 0 0\nyras = 0 1 0\nzras = 0 0 1\ncras = 7 8 9\n";
    let head = "type = 0 # LINEAR_VOX_TO_VOX\nnxforms = 1\nmean = 0 0 0\nsigma = 1\n1 4 4\n";
    let lta = format!("{head}1 0 0 0\n0 1 0 0\n0 0 1 0\n0 0 0 1\nsrc volume info\n{volume}dst volume info\n{volume}");
    let xfm = "MNI Transform File\n% by hand\nTransform_Type = Linear;\nLinear_Transform = 1 0 0 5 0 1 0 6 0 0 1 7;\n";
    let row = "1 0 0 5 0 1 0 6 0 0 1 7\n";
    let bad = [
        ("a.lta", lta.replace("type = 0", "type = 14"), "neither LINEAR_VOX_TO_VOX"),
        ("a.lta", lta.replace("nxforms = 1", "nxforms = 2"), "several transforms"),
        ("a.lta", lta.replace("valid = 1", "valid = 0"), "not valid"),
        ("a.lta", lta.replace("dst volume info", ""), "no line \"dst volume info\""),
        ("a.lta", lta.replace("cras = 7 8 9", "cras = 7 8"), "has not three numbers"),
        ("a.lta", lta.replace("cras = 7 8 9", ""), "no line \"cras = ...\""),
        ("a.lta", lta.replace("voxelsize = 1 2 3", "voxelsize = 1 2 0"), "no inverse"),
        ("a.lta", lta.replace("0 0 1 0\n0 0 0 1\n", "0 0 1 0\n"), "four lines of four numbers"),
        ("a.1D", row.repeat(2), "holds 2 matrices"),
        ("a.1D", "1 0 0 5 0 1 0 6 0 0 1\n".into(), "12 numbers"),
        ("a.1D", format!("# 3dAllineate parameters:\n{row}"), "-1Dmatrix_save"),
        ("a.1D", "1 0 0 5\n1 0 0 6\n1 0 0 7\n".into(), "no inverse"),
        ("a.xfm", xfm.replace("Linear;", "Grid_Transform;"), "holds a Grid_Transform"),
        ("a.xfm", xfm.replace("7;", "7"), "truncated"),
        ("a.xfm", xfm.replace("7;", ";"), "11 numbers"),
        ("a.xfm", xfm.replace("Transform_Type = Linear;", ""), "holds \"Linear_Transform = "),
        ("a.xfm", xfm.replace("Linear_Transform", "Displacement_Volume"), "holds \"Displacement_Volume = "),
        ("a.xfm", "MNI Transform File\nTransform_Type = Linear;\n".into(), "without its Linear_Transform"),
    ];
    for (name, text, expected) in bad {
        refused(name, text.as_bytes(), None, expected);
    }
}

fn what_needs_grids_says_so() {
    let folder = Folder::new();
    let [fixed, moving] = grids();
    let all = Grids::of(&fixed, &moving);
    let linear = Linear::identity(Kind::Rigid, Dimension::Three, glam::DVec3::ZERO);
    for (name, needs_moving) in
        [("a.mat", true), ("a.standard", true), ("a.aff12.1D", true), ("TransformParameters.0.txt", false)]
    {
        let path = folder.path(name);
        let message = write_linear(&path, None, &linear, &Grids { fixed: None, ..all }).unwrap_err().to_string();
        assert!(message.contains("`fixed`"), "{message}");
        let alone = write_linear(&path, None, &linear, &Grids { moving: None, ..all });
        assert_eq!(alone.is_err(), needs_moving);
        write_linear(&path, None, &linear, &all).unwrap();
        let blind = read_linear(&path, None, &Grids::default());
        assert!(!needs_moving || blind.unwrap_err().to_string().contains("`fixed` and `moving`"));
    }
    let [lta, described] = [folder.path("a.lta"), folder.path("b.lta")];
    let message = write_linear(&lta, None, &linear, &Grids::default()).unwrap_err().to_string();
    assert!(message.contains("`fixed` and `moving`"), "{message}");
    write_linear(&described, None, &linear, &all).unwrap();
    read_linear(&described, None, &Grids::default()).unwrap();
    let message = write_linear(&folder.path("a.b"), None, &linear, &all).unwrap_err().to_string();
    assert!(message.contains(".tfm") && message.contains(".h5") && message.contains("matrix-ras"), "{message}");
}

fn chains_lead_somewhere() {
    let folder = Folder::new();
    let [fixed, moving] = grids();
    let path = folder.path("TransformParameters.0.txt");
    let linear = Linear::identity(Kind::Rigid, Dimension::Three, glam::DVec3::ZERO);
    write_linear(&path, None, &linear, &Grids::of(&fixed, &moving)).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let initial = |name: &str| text.replace("NoInitialTransform", name);
    let told =
        |text: String| read_linear(&folder.file("a.txt", text), None, &Grids::default()).unwrap_err().to_string();
    assert!(told(initial("a.txt")).contains("without end"));
    assert!(told(initial("C:\\old\\none.0.txt")).contains("none.0.txt: no such file"));
    assert!(told(initial("b.txt").replace("\"Compose\"", "\"Add\"")).contains("use Compose"));
    assert!(told(text.replace("\"true\"", "\"false\"")).contains("UseDirectionCosines"));
}
