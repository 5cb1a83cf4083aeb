//! `mireg points`: landmarks of every format, mapped forwards and backwards.

use std::fs;
use std::path::Path;

use libtest_mimic::Trial;
use mireg::Error;
use mireg::io::points::Landmarks;

use crate::cli::{mireg, stdout};
use crate::support::landmarks::{FILES, MARKUPS};
use crate::support::trial;

pub fn tests() -> Vec<Trial> {
    let test = |name: &str, run: fn()| trial(format!("cli::points_{name}"), run);
    let mut tests = vec![
        test("go_where_itk_takes_them", go_where_itk_takes_them),
        test("in_ras_are_the_same_points", in_ras_are_the_same_points),
        test("with_two_coordinates_stay_in_the_plane", with_two_coordinates_stay_in_the_plane),
        test("in_markups_are_placed_ones", in_markups_are_placed_ones),
        test("of_spreadsheets_keep_their_separators", of_spreadsheets_keep_their_separators),
        test("in_damaged_files_are_no_fault", in_damaged_files_are_no_fault),
    ];
    let back = FILES
        .iter()
        .map(|&(name, text)| trial(format!("cli::points_come_back_in_{name}"), move || come_back(name, text)));
    tests.extend(back);
    tests
}

/// The transform of `tests/fixtures/resample`.
const TRANSFORM: &str = "#Insight Transform File V1.0\n#Transform 0\nTransform: Euler3DTransform_double_3_3\n\
                         Parameters: 0.1 -0.15 0.3 0.7 -0.4 0.5\nFixedParameters: 0 6 15 0\n";
/// By SimpleITK 2.5: `t.TransformPoint((1, 2, 3))` and `t.GetInverse().TransformPoint((1, 2, 3))`; antsApplyTransformsToPoints takes
/// the point of the fixed image to the first too.
const THERE: [f64; 3] = [4.188299599888143, 3.7372805894556222, 3.443381805041622];
const BACK: [f64; 3] = [-2.574556456560547, 1.2418395116296639, 3.166506525167906];

fn folder(name: &str, text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(name), text).unwrap();
    fs::write(folder.path().join("t.tfm"), TRANSFORM).unwrap();
    folder
}

/// Runs `mireg points` on a file and returns the text that it writes.
fn points(folder: &Path, from: &str, to: &str, more: &[&str]) -> String {
    stdout(&mut mireg(folder, &[&["points", from, "--transform", "t.tfm", "--out", to], more].concat()));
    fs::read_to_string(folder.join(to)).unwrap()
}

/// Returns all numbers of a text that are delimited by blanks, commas or brackets.
fn numbers(text: &str) -> Vec<f64> {
    text.split([' ', ',', '\n', '\t', '[', ']']).filter_map(|word| word.parse().ok()).collect()
}

fn assert_has(text: &str, point: [f64; 3]) {
    let near = |found: &[f64]| found.iter().zip(point).all(|(a, b)| (a - b).abs() < 1e-9);
    assert!(numbers(text).windows(3).any(near), "{point:?} is not in\n{text}");
}

fn go_where_itk_takes_them() {
    let folder = folder("a.csv", FILES[0].1);
    let there = points(folder.path(), "a.csv", "b.csv", &[]);
    assert_has(&there, THERE);
    let lines: Vec<&str> = there.lines().collect();
    assert_eq!((lines[0], lines.len()), ("x,y,z,t,label,comment", 3));
    assert!(lines[1].ends_with(",0,1,\"a, b\"") && lines[2].ends_with(",0,2,"), "{there}");
    assert_has(&points(folder.path(), "a.csv", "b.csv", &["--invert"]), BACK);
    // The same file named twice is applied twice.
    let twice = points(folder.path(), "a.csv", "twice.csv", &["-t", "t.tfm"]);
    fs::write(folder.path().join("there.csv"), &there).unwrap();
    let again = points(folder.path(), "there.csv", "again.csv", &[]);
    assert!(numbers(&twice).iter().zip(numbers(&again)).all(|(a, b)| (a - b).abs() < 1e-9), "{twice}{again}");
}

fn in_ras_are_the_same_points() {
    let [x, y, z] = THERE;
    let folder = folder("a.txt", "-1 -2 3\n");
    assert_has(&points(folder.path(), "a.txt", "b.txt", &["--frame", "ras"]), [-x, -y, z]);
    for (name, text) in FILES.iter().filter(|(_, text)| text.contains("SPACE=RAS") || text.contains("System = 0")) {
        fs::write(folder.path().join(name), text).unwrap();
        let out = format!("out-{name}");
        assert_has(&points(folder.path(), name, &out, &[]), [-x, -y, z]);
        assert_has(&points(folder.path(), name, &out, &["--frame", "ras"]), [-x, -y, z]);
        let arguments = ["points", name, "--transform", "t.tfm", "--out", &out, "--frame", "lps"];
        mireg(folder.path(), &arguments).assert().code(2);
    }
}

/// Asserts that points that are mapped forwards and back are unchanged, and that all other bytes of the file are.
fn come_back(name: &str, text: &str) {
    let folder = folder(name, text);
    let there = points(folder.path(), name, &format!("there-{name}"), &[]);
    assert_ne!(there, text);
    let back = points(folder.path(), &format!("there-{name}"), &format!("back-{name}"), &["--invert"]);
    let words = |text: &str| -> Vec<String> {
        let rounded = |word: &str| word.parse().map_or(word.to_owned(), |n: f64| format!("{:.6}", n + 0.0));
        text.split_inclusive([' ', ',', '\n', '\t'])
            .map(|word| {
                let (word, end) = word.split_at(word.len() - 1);
                rounded(word) + end
            })
            .collect()
    };
    assert_eq!(words(&back), words(text), "{back}");
}

fn with_two_coordinates_stay_in_the_plane() {
    for (name, text, expected) in [("a.csv", "x,y,n\n3,4,7\n", "x,y,n\n8,4,7\n"), ("a.txt", "3 4\n", "8 4\n")] {
        let folder = folder(name, text);
        let tilted = ["points", name, "--transform", "t.tfm", "--out", "out"];
        let told = mireg(folder.path(), &tilted).assert().code(2).get_output().stderr.clone();
        assert!(String::from_utf8_lossy(&told).contains("plane"));
        let plane = TRANSFORM.replace("0.1 -0.15 0.3 0.7 -0.4 0.5", "0 0 0 5 0 0");
        fs::write(folder.path().join("t.tfm"), plane).unwrap();
        assert_eq!(points(folder.path(), name, "out", &[]), expected);
    }
}

fn of_spreadsheets_keep_their_separators() {
    let folder = folder("a.csv", "\u{feff}name;x;y;z\r\n\"a; b\";1;2;3\r\n");
    fs::write(folder.path().join("t.tfm"), TRANSFORM.replace("0.1 -0.15 0.3 0.7 -0.4 0.5", "0 0 0 5 0 0")).unwrap();
    let there = points(folder.path(), "a.csv", "b.csv", &[]);
    assert_eq!(there, "\u{feff}name;x;y;z\r\n\"a; b\";6;2;3\r\n");
    for (text, says) in [
        ("x;y;z\n1,5;2;3\n", "\"1,5\" on line 2, which is no finite number; write it with a point"),
        ("x,X,y,z\n1,9,2,3\n", "has more than one column x; rename all but one"),
    ] {
        fs::write(folder.path().join("a.csv"), text).unwrap();
        let words = ["points", "a.csv", "-t", "t.tfm", "--out", "b.csv"];
        let told = mireg(folder.path(), &words).assert().code(2).get_output().stderr.clone();
        let told = String::from_utf8_lossy(&told);
        assert!(told.contains(says), "{told}");
    }
}

fn in_markups_are_placed_ones() {
    let [x, y, z] = THERE;
    for (system, position, expected) in [("LPS", "[1, 2, 3]", THERE), ("RAS", "[-1.0, -2.0, 3.0]", [-x, -y, z])] {
        let text = MARKUPS.replace("SYSTEM", system).replace("POSITION", position);
        let folder = folder("a.mrk.json", &text);
        let out = points(folder.path(), "a.mrk.json", "b.mrk.json", &[]);
        let [before, mut after] = [&text, &out].map(|text| serde_json::from_str::<serde_json::Value>(text).unwrap());
        let moved = after["markups"][0]["controlPoints"][0]["position"].take();
        let moved: [f64; 3] = serde_json::from_value(moved).unwrap();
        assert!(moved.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9), "{moved:?}");
        after["markups"][0]["controlPoints"][0]["position"] =
            before["markups"][0]["controlPoints"][0]["position"].clone();
        assert_eq!(after, before, "all else stays");
    }
}

/// Files that are cut at any byte, or have a flipped bit in any byte, are either read or refused. If one is read, it
/// can be written.
fn in_damaged_files_are_no_fault() {
    let markups = MARKUPS.replace("SYSTEM", "LPS").replace("POSITION", "[1, 2, 3]");
    for (name, text) in FILES.iter().copied().chain([("a.mrk.json", markups.as_str())]) {
        let folder = folder(name, text);
        let path = folder.path().join(name);
        let cut = (0..text.len()).map(|end| text.as_bytes()[..end].to_vec());
        let flipped = (0..text.len()).map(|at| {
            let mut bytes = text.as_bytes().to_vec();
            bytes[at] ^= 1 << (at * 5 % 8);
            bytes
        });
        for bytes in cut.chain(flipped) {
            fs::write(&path, bytes).unwrap();
            match Landmarks::read(&path, None, None) {
                Ok(landmarks) => landmarks.write(&folder.path().join(format!("out-{name}"))).unwrap(),
                Err(error) => {
                    assert!(matches!(error, Error::File { .. }) && !error.to_string().contains('\n'), "{error}")
                }
            }
        }
    }
}
