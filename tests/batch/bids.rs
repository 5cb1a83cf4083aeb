//! Studies as derivatives of BIDS datasets.

use std::fs;
use std::path::Path;

use libtest_mimic::Trial;
use mireg::io;
use serde_json::{Value, json};

use super::{SIZE, batch, ends, records, test, waves};
use crate::cli::names;

pub fn tests() -> Vec<Trial> {
    vec![test("moved_images_say_where_they_are_from", moved_images_say_where_they_are_from)]
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

fn moved_images_say_where_they_are_from() {
    let folder = tempfile::tempdir().unwrap();
    for (n, name) in ["in/raw/a b/f.nii.gz", "in/raw/sub-1/m0.nii", "in/m1.nii"].into_iter().enumerate() {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        io::write(&path, &waves(SIZE, 0.2 * n as f64)).unwrap();
    }
    fs::write(folder.path().join("in/raw/dataset_description.json"), "{}").unwrap();
    let table = "id,fixed,moving,write\n\
        p0,raw/a b/f.nii.gz,raw/sub-1/m0.nii,\n\
        p1,raw/a b/f.nii.gz,m1.nii,\n\
        p2,raw/a b/f.nii.gz,m1.nii,transform\n";
    fs::write(folder.path().join("in/pairs.csv"), table).unwrap();
    let run = |more: &[&str]| {
        let words = [&["batch", "in/pairs.csv", "--out", "out", "--backend", "cpu"], more, &["--", "--init", "header"]];
        ends(folder.path(), &words.concat());
    };
    let out = folder.path().join("out");

    // If `--bids` is added later, nothing is registered again.
    run(&[]);
    let files = names(&out.join("p0"));
    let image = fs::metadata(out.join("p0/moved.nii.gz")).unwrap().modified().unwrap();
    run(&["--bids"]);
    assert_eq!(fs::metadata(out.join("p0/moved.nii.gz")).unwrap().modified().unwrap(), image);
    assert_eq!(names(&out.join("p0")).len(), files.len() + 1);

    let links = &json(&out.join("dataset_description.json"))["DatasetLinks"];
    let root = format!("file://{}", folder.path().join("in/raw").display());
    assert_eq!(*links, json!({ "raw": root }));
    let description = json(&out.join("dataset_description.json"));
    assert_eq!(
        (&description["DatasetType"], &description["GeneratedBy"][0]["Name"]),
        (&json!("derivative"), &json!("mireg"))
    );
    let sidecar = json(&out.join("p0/moved.json"));
    let fixed = "bids:raw:a%20b/f.nii.gz";
    assert_eq!(sidecar["Sources"], json!(["bids:raw:sub-1/m0.nii", fixed]));
    assert_eq!(sidecar["SpatialReference"], fixed);
    assert_eq!(sidecar["SkullStripped"], false);
    let alone = format!("file://{}", folder.path().join("in/m1.nii").display());
    let sidecar = json(&out.join("p1/moved.json"));
    assert_eq!(sidecar["Sources"][0], alone);
    // For an image that is not in a dataset, this is not known.
    assert!(sidecar["SkullStripped"].is_null());
    assert!(!out.join("p2/moved.json").exists());
    let ignored = || fs::read_to_string(out.join(".bidsignore")).unwrap();
    for line in ["batch*.tsv", "*/batch.json", "*/moved.json", "*/report.html"] {
        assert!(ignored().lines().any(|known| known == line), "{line} is not in\n{}", ignored());
    }

    // With `--bids` from the start, the result is the same, and a second run does not change it.
    let first = records(folder.path());
    let lines = format!("mine\n{}", ignored());
    fs::write(out.join(".bidsignore"), &lines).unwrap();
    run(&["--bids"]);
    assert_eq!(ignored(), lines);
    assert!(first == records(folder.path()));
    fs::rename(&out, folder.path().join("before")).unwrap();
    run(&["--bids"]);
    for name in ["p0/moved.json", "p1/moved.json", "dataset_description.json"] {
        assert_eq!(json(&out.join(name)), json(&folder.path().join("before").join(name)), "{name}");
    }
    fs::write(out.join("dataset_description.json"), r#"{ "Name": "mine" }"#).unwrap();
    assert!(batch(folder.path(), 2, &["--bids"]).contains("dataset_description.json: is not mireg's"));
}
