//! What speaks against a registration that ran to its end.

use crate::metric::MetricKind;
use crate::registration::Registration;

/// Less of the fixed image than this inside the moving image is little to go by.
const SMALL_OVERLAP: f64 = 0.25;
/// Less mutual information than this, nats, comes about by chance.
const LITTLE_INFORMATION: f64 = 0.02;

/// One line for each doubt.
pub fn of(found: &Registration, kind: MetricKind) -> Vec<String> {
    let (start, end) = (&found.start, &found.end);
    let overlap = end.overlap_fraction();
    let doubts = [
        (
            overlap < SMALL_OVERLAP,
            format!("only {:.0} % of the fixed image lies inside the moving image", 100.0 * overlap),
        ),
        (
            end.mi < LITTLE_INFORMATION,
            format!("the images tell almost nothing about each other (MI {:.4} nats)", end.mi),
        ),
        (end.value(kind) < start.value(kind), "the metric is lower than before the registration".to_owned()),
    ];
    let look = "; look at moved.nii.gz before you use the result";
    doubts.into_iter().filter(|(doubtful, _)| *doubtful).map(|(_, text)| text + look).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::Evaluation;
    use crate::transform::Rigid;
    use crate::{Geometry, PixelType, Volume};
    use glam::DVec3;

    fn found(start: Evaluation, end: Evaluation) -> Registration {
        let geometry = Geometry::axis_aligned([1; 3], DVec3::ONE, DVec3::ZERO);
        Registration {
            transform: Rigid::identity(DVec3::ZERO),
            moved: Volume { geometry, voxels: vec![0.0], pixel: PixelType::U8 },
            start,
            end,
            started_from: "header centres",
            levels: vec![],
            seconds: Default::default(),
            histogram: "rows",
            backend: "cpu",
            device: String::new(),
        }
    }

    #[test]
    fn each_doubt_has_its_line() {
        let good = Evaluation { mi: 0.5, nmi: 1.1, overlap: 90, samples: 100, ..Default::default() };
        let count = |end: Evaluation| of(&found(good, end), MetricKind::Nmi).len();
        assert_eq!(count(good), 0);
        assert_eq!(count(Evaluation { overlap: 24, ..good }), 1);
        assert_eq!(count(Evaluation { mi: 0.01, ..good }), 1);
        assert_eq!(count(Evaluation { nmi: 1.09, ..good }), 1);
    }
}
