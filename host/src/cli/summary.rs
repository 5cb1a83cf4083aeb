//! A registration in words.

use std::path::Path;

use glam::{DAffine3, DVec3};
use mireg::registration::Registration;
use mireg::report::Report;
use mireg::transform::Rigid;

/// What came out, a line a fact.
pub fn registration(found: &Registration, report: &Report, out: &Path) -> String {
    let kind = report.metric;
    let metric = format!("{} {:.5} -> {:.5}", kind.name(), found.start.value(kind), found.end.value(kind));
    let other = format!("MI {:.4} -> {:.4} nats", found.start.mi, found.end.mi);
    let seconds = &report.seconds;
    let lines = [
        ("motion", motion(&found.transform)),
        ("metric", format!("{metric}, {other}, from {}", found.started_from)),
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

/// A motion from the fixed to the moving image, in degrees and mm.
pub fn motion(rigid: &Rigid) -> String {
    let DVec3 { x, y, z } = rigid.angles.map(f64::to_degrees);
    let turn = angle(&rigid.to_affine()).to_degrees();
    let shift = rigid.translation;
    let towards =
        |value: f64, plus: &str, minus: &str| format!("{:.2} {}", value.abs(), if value < 0.0 { minus } else { plus });
    format!(
        "{turn:.2} degrees ({x:.2} about x, {y:.2} about y, {z:.2} about z) and {:.2} mm ({}, {}, {})",
        shift.length(),
        towards(shift.x, "left", "right"),
        towards(shift.y, "back", "front"),
        towards(shift.z, "up", "down"),
    )
}

/// The whole rotation, radians.
fn angle(affine: &DAffine3) -> f64 {
    let m = affine.matrix3;
    let trace = m.x_axis.x + m.y_axis.y + m.z_axis.z;
    ((trace - 1.0) / 2.0).clamp(-1.0, 1.0).acos()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_motion_reads_like_a_sentence() {
        let angles = DVec3::new(0.0, 0.0, -90f64.to_radians());
        let rigid = Rigid { angles, translation: DVec3::new(3.0, -4.0, 0.0), centre: DVec3::ONE };
        let expected =
            "90.00 degrees (0.00 about x, 0.00 about y, -90.00 about z) and 5.00 mm (3.00 left, 4.00 front, 0.00 up)";
        assert_eq!(motion(&rigid), expected);
    }
}
