//! report.html, used in a browser.

pub mod browser;

use crate::cli;
use crate::support::trial;
use browser::Browser;
use libtest_mimic::Trial;
use serde_json::json;

pub fn tests() -> Vec<Trial> {
    let test = |name: &str, run: fn()| trial(format!("report::{name}"), run);
    let absent = browser::chromium().is_none();
    vec![
        test("the_page_answers_to_mouse_and_keys", the_page_answers_to_mouse_and_keys).with_ignored_flag(absent),
        test("the_page_fits_on_a_phone", the_page_fits_on_a_phone).with_ignored_flag(absent),
    ]
}

/// The page of a small registration.
fn page() -> (tempfile::TempDir, Browser) {
    let (folder, _) = cli::patient();
    let arguments = ["register", "ct.nii.gz", "mr.nii.gz", "--out", "out", "--backend", "cpu", "--quiet"];
    cli::mireg(folder.path(), &arguments).assert().success();
    let mut browser = Browser::open();
    browser.load(&folder.path().join("out/report.html"));
    (folder, browser)
}

/// Returns the fraction of the pixels of the screenshot that an action changes.
fn changed(browser: &mut Browser, action: impl FnOnce(&mut Browser)) -> f64 {
    let before = browser.shot(".planes");
    action(browser);
    let after = browser.shot(".planes");
    assert_eq!(before.dimensions(), after.dimensions());
    let different = before.pixels().zip(after.pixels()).filter(|(a, b)| a != b).count();
    different as f64 / before.pixels().len() as f64
}

fn the_page_answers_to_mouse_and_keys() {
    let (_folder, mut browser) = page();
    let browser = &mut browser;
    assert_eq!(changed(browser, |_| ()), 0.0);

    // The slider between fixed and moving, by mouse and by key.
    assert!(changed(browser, |b| b.click("#fade", 0.9)) > 0.1);
    assert!(browser.evaluate("+fade.value").as_f64() > Some(80.0));
    assert!(changed(browser, |b| b.press("Home", 36)) > 0.1);
    assert_eq!(browser.evaluate("fade.value"), "0");
    assert_eq!(
        changed(browser, |b| b.click("#before", 0.5)),
        0.0,
        "the fixed image alone is the same before and after"
    );
    assert!(changed(browser, |b| b.click("#fade", 0.5)) > 0.1);

    assert!(changed(browser, |b| b.press("b", 66)) > 0.1);
    assert_eq!(browser.evaluate("document.getElementById('after').checked"), true);
    for way in ["#checkerboard", "#outline", "#overlay"] {
        assert!(changed(browser, |b| b.click(way, 0.5)) > 0.02, "{way}");
    }

    let place = "document.querySelector('figure output').value";
    let first = browser.evaluate(place);
    assert!(changed(browser, |b| b.click("figure input", 0.95)) > 0.05);
    assert_ne!(browser.evaluate(place), first);
    browser.assert_clean();
}

fn the_page_fits_on_a_phone() {
    let (_folder, mut browser) = page();
    let phone = json!({ "width": 390, "height": 800, "deviceScaleFactor": 2, "mobile": true });
    browser.call("Emulation.setDeviceMetricsOverride", phone);
    assert_eq!(browser.evaluate("document.scrollingElement.scrollWidth"), 390);
    let widths = "[...document.querySelectorAll('.stack')].map(stack => stack.clientWidth)";
    assert!(browser.evaluate(widths).as_array().unwrap().iter().all(|width| width.as_f64() > Some(300.0)));
    browser.assert_clean();
}
