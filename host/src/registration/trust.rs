//! What speaks against a registration that ran to its end.

use crate::metric::{Evaluation, MetricKind};
use serde::Serialize;

/// Less of the fixed image than this inside the moving image is little to go by.
const SMALL_OVERLAP: f64 = 0.25;
/// Less mutual information than this, nats, comes about by chance.
const LITTLE_INFORMATION: f64 = 0.02;

/// A check that a result did not pass.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Doubt {
    /// The check's name.
    pub name: &'static str,
    /// What was found, in a line.
    pub text: String,
    /// Whether the result should not be used.
    pub grave: bool,
}

/// What speaks against an end that was reached from a start.
pub fn doubts(start: &Evaluation, end: &Evaluation, kind: MetricKind) -> Vec<Doubt> {
    let overlap = end.overlap_fraction();
    let checks = [
        (
            "overlap",
            overlap < SMALL_OVERLAP,
            format!("only {:.0} % of the fixed image lies inside the moving image", 100.0 * overlap),
        ),
        (
            "information",
            end.mi < LITTLE_INFORMATION,
            format!("the images tell almost nothing about each other (MI {:.4} nats)", end.mi),
        ),
        ("metric", end.value(kind) < start.value(kind), "the metric is lower than before the registration".to_owned()),
    ];
    let failed = checks.into_iter().filter(|(_, failed, _)| *failed);
    failed.map(|(name, _, text)| Doubt { name, text, grave: false }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_doubt_has_its_line() {
        let good = Evaluation { mi: 0.5, nmi: 1.1, overlap: 90, samples: 100, ..Default::default() };
        let names = |end: Evaluation| -> Vec<_> {
            doubts(&good, &end, MetricKind::Nmi).iter().map(|doubt| doubt.name).collect()
        };
        assert_eq!(names(good), [""; 0]);
        assert_eq!(names(Evaluation { overlap: 24, ..good }), ["overlap"]);
        assert_eq!(names(Evaluation { mi: 0.01, ..good }), ["information"]);
        assert_eq!(names(Evaluation { nmi: 1.09, ..good }), ["metric"]);
    }
}
