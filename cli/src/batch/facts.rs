//! What a study's summary says about a result, taken from its report.

use glam::{DMat3, DVec3};
use mireg::transform;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The facts of a result of register, deform or mesh. What a command does not report is `None`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// `passed`, or `failed` for a result that should not be used.
    pub trust: String,
    pub warnings: Vec<Warning>,
    /// The metric before and after.
    pub metric: Option<[f64; 2]>,
    /// The angle of the linear transform.
    pub rotation_degrees: Option<f64>,
    /// How far the linear transform moves the centre of the fixed image.
    pub translation_mm: Option<f64>,
    /// Mean displacement of a deformation or a mesh, without that by its initial transform.
    pub displacement_mm: Option<f64>,
    pub seconds: Seconds,
    pub backend: String,
    pub device: String,
}

/// A warning.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Warning {
    pub name: String,
    pub text: String,
}

/// Seconds by stage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Seconds {
    pub total: f64,
    pub read: f64,
    /// All that is neither reading nor writing.
    pub compute: f64,
    pub write: f64,
}

impl Facts {
    /// Takes the facts from the content of report.json.
    pub fn new(report: &Value) -> Self {
        let number = |at: &str| report.pointer(at).and_then(Value::as_f64);
        let text = |at: &str| report.pointer(at).and_then(Value::as_str).unwrap_or_default().to_owned();
        let both = |[before, after]: [&str; 2]| Some([number(before)?, number(after)?]);
        let metrics =
            [["/start/value", "/final/value"], ["/values/before", "/values/after"], ["/climb/before", "/climb/after"]];
        let displacement = number("/displacement/mean_mm").or_else(|| number("/mesh/mean_mm"));
        let motion = motion(report);
        let [total, read, write] =
            ["/seconds/total", "/seconds/read", "/seconds/write"].map(|at| number(at).unwrap_or(0.0));
        Self {
            trust: text("/trust"),
            warnings: warnings(report),
            metric: metrics.into_iter().find_map(both),
            rotation_degrees: motion.map(|(degrees, _)| degrees),
            translation_mm: motion.map(|(_, mm)| mm),
            displacement_mm: displacement,
            seconds: Seconds { total, read, compute: (total - read - write).max(0.0), write },
            backend: text("/backend"),
            device: text("/device"),
        }
    }

    pub fn trusted(&self) -> bool {
        self.trust == "passed"
    }
}

fn warnings(report: &Value) -> Vec<Warning> {
    let all = report["warnings"].as_array().map(Vec::as_slice).unwrap_or_default();
    let text = |of: &Value| of.as_str().unwrap_or_default().to_owned();
    all.iter().map(|warning| Warning { name: text(&warning["name"]), text: text(&warning["text"]) }).collect()
}

/// Returns the angle of the linear transform in degrees, and its translation in mm.
fn motion(report: &Value) -> Option<(f64, f64)> {
    let transform = &report["transform"];
    let row = |of: &Value| -> Option<[f64; 4]> { serde_json::from_value(of.clone()).ok() };
    let rows: Vec<[f64; 4]> = transform["matrix"].as_array()?.iter().take(3).filter_map(row).collect();
    let &[x, y, z] = &rows[..] else { return None };
    let centre = DVec3::from_array(serde_json::from_value(transform["centre_mm"].clone()).ok()?);
    let matrix = DMat3::from_cols_array(&[x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]]);
    let moved = matrix * centre + DVec3::new(x[3], y[3], z[3]);
    Some((transform::angle(&matrix).to_degrees(), moved.distance(centre)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_report_is_understood() {
        let facts = Facts::new(&json!({
            "trust": "failed", "backend": "cpu", "device": "d",
            "warnings": [{"name": "overlap", "text": "is small", "grave": true}],
            "start": {"value": 1.0}, "final": {"value": 1.5},
            "transform": {"matrix": [[0, -1, 0, 4], [1, 0, 0, 0], [0, 0, 1, 3], [0, 0, 0, 1]], "centre_mm": [0, 0, 0]},
            "seconds": {"total": 2.0, "read": 0.5, "write": 0.25},
        }));
        assert!(!facts.trusted() && facts.metric == Some([1.0, 1.5]) && facts.displacement_mm.is_none());
        assert!((facts.rotation_degrees.unwrap() - 90.0).abs() < 1e-9 && facts.translation_mm == Some(5.0));
        assert_eq!(facts.seconds, Seconds { total: 2.0, read: 0.5, compute: 1.25, write: 0.25 });
        assert_eq!(facts.warnings[0].name, "overlap");
    }
}
