//! A registration in words.

use std::path::Path;

use glam::DVec3;
use mireg::registration::Registration;
use mireg::report::Report;
use mireg::transform::{Kind, Linear, angle};

/// What came out, a line a fact.
pub fn registration(found: &Registration, report: &Report, out: &Path) -> String {
    let kind = report.metric;
    let metric = format!("{} {:.5} -> {:.5}", kind.name(), found.start.value(kind), found.end.value(kind));
    let other = format!("MI {:.4} -> {:.4} nats", found.start.mi, found.end.mi);
    let seconds = &report.seconds;
    let lines = [
        ("motion", motion(&found.transform)),
        ("metric", format!("{metric}, {other}, from {}", found.started.from)),
        ("overlap", format!("{:.1} % of the fixed image", 100.0 * found.end.overlap_fraction())),
        ("time", format!("{:.2} s in all, {:.2} s of it registering", seconds.total, seconds.register)),
        ("computed on", format!("{} ({}), {} histogram", found.backend, found.device, found.histogram)),
        ("files", format!("transform.tfm, moved.nii.gz, report.json in {}", out.display())),
    ];
    lines.iter().map(|(label, text)| line(label, text)).collect()
}

/// One labelled line.
pub fn line(label: &str, text: &str) -> String {
    format!("{label:<12} {text}\n")
}

/// A motion from the fixed to the moving image: degrees, percent and mm.
pub fn motion(transform: &Linear) -> String {
    let shift = shift(transform.translation());
    let turn = angle(&transform.matrix()).to_degrees();
    let size = 100.0 * (transform.matrix().determinant() - 1.0);
    match transform.kind {
        Kind::Translation => shift,
        Kind::Rigid => format!("{turn:.2} degrees and {shift}"),
        Kind::Similarity | Kind::Affine => format!("{turn:.2} degrees, {size:+.2} % volume and {shift}"),
    }
}

fn shift(shift: DVec3) -> String {
    let towards =
        |value: f64, plus: &str, minus: &str| format!("{:.2} {}", value.abs(), if value < 0.0 { minus } else { plus });
    format!(
        "{:.2} mm ({}, {}, {})",
        shift.length(),
        towards(shift.x, "left", "right"),
        towards(shift.y, "back", "front"),
        towards(shift.z, "up", "down"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use mireg::transform::Rigid;

    #[test]
    fn a_motion_reads_like_a_sentence() {
        let angles = DVec3::new(0.0, 0.0, -90f64.to_radians());
        let rigid = Rigid { angles, translation: DVec3::new(3.0, -4.0, 0.0), centre: DVec3::ONE };
        assert_eq!(motion(&rigid.into()), "90.00 degrees and 5.00 mm (3.00 left, 4.00 front, 0.00 up)");
    }
}
