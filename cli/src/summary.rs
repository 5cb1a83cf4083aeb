//! A registration in words.

use std::path::Path;

use crate::report::{self, Report, motion};
use mireg::registration::Registration;

/// What came out, a line a fact. `moving`: the moving image's file.
pub fn registration(found: &Registration, report: &Report, moving: &Path, out: &Path) -> String {
    let [before, after] = found.values;
    let metric = format!("{} {before:.5} -> {after:.5}", report.metric.name());
    let other = format!("MI {:.4} -> {:.4} nats", found.start.mi, found.end.mi);
    let seconds = &report.seconds;
    let moved = report::moved(moving);
    let lines = [
        ("motion", motion(&found.transform)),
        ("metric", format!("{metric}, {other}, from {}", found.started.from)),
        ("overlap", format!("{:.1} % of the fixed image", 100.0 * found.end.overlap_fraction())),
        ("time", format!("{:.2} s in all, {:.2} s of it registering", seconds.total, seconds.register)),
        ("computed on", format!("{} ({}), {} histogram", found.backend, found.device, found.histogram)),
        ("files", format!("transform.tfm, {moved}, report.json, report.html in {}", out.display())),
    ];
    lines.iter().map(|(label, text)| line(label, text)).collect()
}

/// One labelled line.
pub fn line(label: &str, text: &str) -> String {
    format!("{label:<12} {text}\n")
}
