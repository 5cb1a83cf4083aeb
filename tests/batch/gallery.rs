//! The page of a large study, in a browser.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use libtest_mimic::Trial;
use serde_json::Value;

use super::{batch, ends, study, test};
use crate::report::browser::{self, Browser};

pub fn tests() -> Vec<Trial> {
    let absent = browser::chromium().is_none();
    vec![test("ten_thousand_pairs_are_shown_soon", ten_thousand_pairs_are_shown_soon).with_ignored_flag(absent)]
}

/// Returns the data of the pairs that are embedded in the page of a study.
pub fn pairs(folder: &Path) -> Vec<Value> {
    let page = fs::read_to_string(folder.join("out/index.html")).unwrap();
    let (_, json) = page.split_once(r#"id="pairs">"#).unwrap();
    serde_json::from_str(json.split_once("</script>").unwrap().0).unwrap()
}

const PAIRS: usize = 10_000;

/// Makes a study of many pairs, all with the results of the first one.
fn many(folder: &Path) {
    ends(folder, &["batch", "in/pairs.csv", "--out", "out", "--backend", "cpu", "--quiet"]);
    let first = folder.join("out/p0");
    let mut table = "id,fixed,moving\n".to_owned();
    for n in 0..PAIRS {
        table += &format!("p{n},f.nii.gz,m0.nii\n");
        let other = folder.join(format!("out/p{n}"));
        let _ = fs::create_dir(&other);
        for name in ["batch.json", "moved.nii.gz", "report.html", "report.json", "thumbnail.png", "transform.tfm"] {
            let _ = fs::hard_link(first.join(name), other.join(name));
        }
    }
    fs::write(folder.join("in/pairs.csv"), table).unwrap();
}

fn ten_thousand_pairs_are_shown_soon() {
    let folder = study(1);
    many(folder.path());
    let record = fs::read_to_string(folder.path().join("out/p0/batch.json")).unwrap();
    let record: Value = serde_json::from_str(&record).unwrap();
    let code = if record["trust"] == "passed" { 0 } else { 1 };
    batch(folder.path(), code, &["--merge"]);
    let mut browser = Browser::open();
    let clock = Instant::now();
    browser.load(&folder.path().join("out/index.html"));
    let took = clock.elapsed();
    // This takes 0.3 s on an idle machine; tests run in parallel.
    assert!(took < Duration::from_secs(2), "{took:?}");
    assert_eq!(pairs(folder.path()).len(), PAIRS);

    let rows = |browser: &mut Browser| browser.evaluate("document.querySelectorAll('a.row').length").as_u64().unwrap();
    let comes = |browser: &mut Browser, what: &str| {
        let until = Instant::now() + Duration::from_secs(30);
        while browser.evaluate(&format!("Boolean({what})")) != true {
            assert!(Instant::now() < until, "{what} does not appear");
        }
    };
    comes(&mut browser, "[...document.images].some(image => image.naturalWidth > 0)");
    assert!(rows(&mut browser) < 500, "rows out of view are drawn");
    // The last rows are drawn when the page is scrolled to them, and a row when it is searched for.
    let height = browser.evaluate("document.scrollingElement.scrollHeight").as_f64().unwrap();
    assert!(height > 20.0 * PAIRS as f64, "{height} px");
    browser.evaluate("scrollTo(0, document.scrollingElement.scrollHeight)");
    comes(&mut browser, "document.querySelector('section:last-child a.row')");
    let look = "(field => { field.value = 'P9999'; field.dispatchEvent(new Event('input', { bubbles: true })); })";
    browser.evaluate(&format!("{look}(document.getElementById('find'))"));
    comes(&mut browser, "document.querySelector('a.row')?.textContent.startsWith('p9999')");
    assert_eq!(rows(&mut browser), 1);
}
