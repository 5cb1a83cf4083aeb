//! `mireg bench`: checks that everything requested is measured and shown, but not how fast it is.

use std::fs;

use libtest_mimic::Trial;
use serde_json::Value;

use crate::cli::{mireg, names, ramp, stdout};
use crate::support::trial;

pub fn tests() -> Vec<Trial> {
    let test = |name: &str, run: fn()| trial(format!("cli::bench_{name}"), run);
    vec![
        test("is_short_where_nothing_is_asked", is_short_where_nothing_is_asked),
        test("prints_a_table", prints_a_table),
        test("prints_json", prints_json),
        test("writes_plots", writes_plots),
        test("counts_violas_pairs", counts_violas_pairs),
        test("smooths", smooths),
        test("measures_own_images", measures_own_images),
        test("compares_what_a_paper_compares", compares_what_a_paper_compares),
    ]
}

/// Runs `mireg bench` with a few voxels.
fn bench(arguments: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let words: Vec<&str> = ["bench", "--size", "8", "--seconds", "0"].into_iter().chain(arguments.split(' ')).collect();
    stdout(&mut mireg(folder.path(), &words))
}

fn is_short_where_nothing_is_asked() {
    let text = bench("--backend cpu");
    assert!(text.lines().count() < 15 && !text.contains("Ledig"), "{text}");
    for line in ["  NMI ", "  Mattes ", "  with gradient ", "Registering "] {
        assert!(text.lines().any(|of| of.trim_start().starts_with(line.trim_start())), "{line} is not in\n{text}");
    }
    let all: Value = serde_json::from_str(&bench("--backend cpu --json")).unwrap();
    assert!(all["registration"]["seconds"].as_f64() > Some(0.0), "{all}");
    assert_eq!((all["rows"].as_array().map(Vec::len), all["mattes"].as_array().map(Vec::len)), (Some(1), Some(1)));
}

fn prints_a_table() {
    let text = bench("--backend cpu --bins 8,16 --data random,constant,head --samples 70");
    for data in ["random", "constant", "head"] {
        assert!(text.contains(&format!("\n{data}, 8^3 voxels, linear: ")), "{text}");
        for sides in ["the moving side", "both sides"] {
            assert!(text.contains(&format!("\n{data}, 8^3 voxels, Mattes windows on {sides}: ")), "{text}");
        }
    }
    let line = text.lines().find(|line| line.contains("one evaluation rows")).unwrap();
    let values: Vec<f64> = line.split_whitespace().skip(3).map(|value| value.parse().unwrap()).collect();
    assert!(values.len() == 2 && values.iter().all(|&value| value > 0.0), "{line}");
    assert!(
        text.contains("\n  samples each                                70\n  value          one core, exact"),
        "{text}"
    );
    assert!(!text.contains("papers"), "{text}");
}

fn prints_json() {
    let text = bench(
        "--backend cpu --bins 8,16 --data random,head --interpolation nearest,linear --axis z --estimator histogram --json",
    );
    let all: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&all["backend"], &all["axis"], &all["batch"]), (&"cpu".into(), &"z".into(), &16.into()));
    let windows = all["mattes"].as_array().unwrap();
    assert_eq!(windows.len(), 8);
    assert!(windows.iter().all(|row| row["seconds"][1].as_f64() > Some(0.0)), "{windows:?}");
    let rows = all["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 8);
    for row in rows {
        assert!(row["seconds"].as_f64() > Some(0.0) && row["batch_seconds"].as_f64() > Some(0.0), "{row}");
        assert!(row["nmi"].as_f64().is_some_and(|nmi| (1.0..=2.0).contains(&nmi)), "{row}");
        assert_eq!(row["fixed_size"], serde_json::json!([8, 8, 8]));
        assert_eq!((&row["counted_by"], &row["reason"]), (&"rows".into(), &Value::Null));
    }
}

fn counts_violas_pairs() {
    let all: Value = serde_json::from_str(&bench("--backend cpu --estimator viola --samples 64,100 --json")).unwrap();
    assert!(all["rows"].as_array().unwrap().is_empty(), "{all}");
    let rows = all["viola"].as_array().unwrap();
    let places = ["one core", "cpu"].map(|place| rows.iter().filter(|row| row["place"] == place).count());
    // There are two sizes, each exact and quantised, without and with the derivative.
    assert_eq!(places, [8, 8], "{all}");
    assert!(rows.iter().all(|row| row["seconds"].as_f64() > Some(0.0)), "{all}");
}

fn smooths() {
    let all: Value = serde_json::from_str(&bench("--backend cpu --estimator gaussian --json")).unwrap();
    let rows = all["gaussian"].as_array().unwrap();
    assert_eq!([&rows[0]["volumes"], &rows[1]["volumes"]], [1, 3]);
    assert!(rows.iter().all(|row| row["seconds"].as_f64() > Some(0.0)), "{all}");
    let text = bench("--backend emulated --estimator gaussian");
    assert!(text.contains("Recursive Gaussian, 8^3 voxels: microseconds\n") && text.contains("all axes"), "{text}");
}

fn writes_plots() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = "bench --estimator histogram --size 4 --seconds 0 --data random --bins 4,8 --backend emulated --out out --histogram";
    let arguments: Vec<&str> = arguments.split(' ').chain(["auto,shared-atomic"]).collect();
    // No font of the system is needed.
    let text = stdout(mireg(folder.path(), &arguments).env("HOME", "none").env("XDG_DATA_DIRS", "none"));
    assert!(text.contains("auto took "), "{text}");
    let out = folder.path().join("out");
    assert_eq!(names(&out), ["bench.json", "bench.png", "bench.svg"]);
    let svg = fs::read_to_string(out.join("bench.svg")).unwrap();
    let document = roxmltree::Document::parse(&svg).unwrap();
    let words: Vec<&str> = document.descendants().filter_map(|node| node.text()).map(str::trim).collect();
    for method in ["auto", "shared-atomic"] {
        assert!(words.contains(&method) && text.contains(&format!(" {method} ")), "{method} is not in\n{text}\n{svg}");
    }
    let lines = document.descendants().filter(|node| node.has_tag_name("polyline"));
    assert_eq!(lines.filter(|line| line.attribute("stroke-width") == Some("2")).count(), 2, "a line a method\n{svg}");
    let png = image::open(out.join("bench.png")).unwrap();
    let size = document.root_element();
    assert_eq!(size.attribute("width"), Some(png.width().to_string().as_str()));
}

fn measures_own_images() {
    let folder = tempfile::tempdir().unwrap();
    mireg::io::write(&folder.path().join("a.nii"), &ramp(glam::DVec3::ZERO)).unwrap();
    let arguments =
        "bench --estimator histogram --fixed a.nii --moving a.nii --bins 32 --seconds 0 --backend cpu --json";
    let text = stdout(&mut mireg(folder.path(), &arguments.split(' ').collect::<Vec<_>>()));
    let all: Value = serde_json::from_str(&text).unwrap();
    let [row] = &all["rows"].as_array().unwrap()[..] else { panic!("{text}") };
    assert_eq!((&row["data"], &row["fixed_size"]), (&"files".into(), &serde_json::json!([16, 16, 16])));
}

fn compares_what_a_paper_compares() {
    let text = bench("--paper shams-figure-7 --backend emulated --bins 4 --json");
    let all: Value = serde_json::from_str(&text).unwrap();
    let methods: Vec<&str> = all["rows"].as_array().unwrap().iter().filter_map(|row| row["method"].as_str()).collect();
    assert_eq!(methods, ["warp-tagged", "per-thread", "sort-count"].repeat(2));
    let papers = all["papers"].as_array().unwrap();
    assert!(!papers.is_empty() && papers.iter().all(|quote| quote["paper"] == "Shams and others 2009"), "{text}");
    let text = bench("--paper lin-section-5 --backend cpu --samples 64");
    assert!(text.contains("one core, exact") && text.contains("Lin and Medioni") && !text.contains("bins"), "{text}");
}
