//! The race of the starts: all are evaluated, the best few are optimised, and the best of these goes on to the finest
//! level.

use super::objective::LevelMetric;
use super::poses::is_clearly_more;
use super::start::Start;
use crate::error::message;
use crate::metric::MetricValue;
use crate::optimizer::{Batch, Optimizer, OptimizerKind, Problem, Quadratic, Stopped};
use crate::transform::{Steps, distance};
use crate::{Error, Geometry, Result};
use glam::{DAffine3, DMat3};

/// Poses that are optimised on the coarsest level, and how many of them go on to the next level at most.
const OPTIMISED: usize = 8;
const KEPT: usize = 3;
/// The fraction of the best pose's lead over the median of all starts that a pose needs to go on.
const LEAD: f64 = 0.7;
/// In a plane, two poses within so many pixels of each other are taken for the same one: landmarks set by hand in real
/// pictures are no closer, and the metric often has several maxima within the blur of a slice.
const SAME_PIXELS: f64 = 3.0;
/// On every level: the first step and the resolution of an optimisation, in spacings of the level, and its evaluations
/// at most. Near the maximum, BFGS takes only a step or two for a finer resolution.
const STEP: f64 = 0.5;
const RESOLUTION: f64 = 0.05;
const BFGS_RESOLUTION: f64 = 0.02;
const EVALUATIONS: usize = 2000;
/// The same for the first optimisations on the coarsest level, which only have to rank the poses.
const FIRST_STEP: f64 = 1.0;
const FIRST_RESOLUTION: f64 = 0.2;
const FIRST_EVALUATIONS: usize = 200;

/// A start that is still in the race.
#[derive(Debug, Clone)]
pub struct Pose {
    /// The [`Init`](super::Init) that it is from.
    pub from: &'static str,
    /// Where it started and where it is now: maps of fixed points to moving points, LPS mm.
    pub start: DAffine3,
    pub transform: DAffine3,
    /// The metric at `transform`, and the samples that lie inside the other image there.
    pub value: f64,
    overlap: u64,
    /// Why its last optimisation ended.
    pub stopped: Stopped,
    /// The model of the metric around the maximum that its last optimisation made.
    shape: Option<Quadratic>,
}

/// Another pose that was left when the race was decided.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rival {
    /// Of the second pose, its lead over the median of all starts as a fraction of the winner's, 0 to 1. Of a wider one,
    /// the information that all samples share there, as a fraction of that at the winner, more than 1.
    pub lead: f64,
    /// Whether all samples share more information there: see [`Race::total`].
    pub wider: bool,
    /// The root mean square distance between the two over the fixed image's grid, mm.
    pub distance_mm: f64,
    /// The map of fixed points to moving points at which it ended, LPS mm.
    pub to: DAffine3,
}

/// The poses that are still in the race, best first.
#[derive(Debug, Default)]
pub struct Race {
    pub poses: Vec<Pose>,
    /// Starts that were evaluated.
    pub candidates: usize,
    /// The median of their ranks; 0 if poses are ranked by `of_all`.
    median: f64,
    /// The value that is taken for starts at which the images hardly overlap.
    independent_value: f64,
    /// Whether poses are ranked by the information that all samples share (see [`Race::total`]), as a search ranks them,
    /// and not by the metric. The metric is often higher where less overlaps.
    of_all: bool,
    /// See [`Race::refine`].
    pub rivals: Vec<Rival>,
}

impl Race {
    /// Creates a race without poses. `independent_value` is the value of the metric for independent images; `of_all`:
    /// whether the information that all samples share decides.
    pub fn new(independent_value: f64, of_all: bool) -> Self {
        Self { independent_value, of_all, ..Self::default() }
    }

    /// Creates a race that is over, for a pose that was found in another way: it started at `start` and ended at
    /// `transform`.
    pub fn decided(from: &'static str, start: DAffine3, transform: DAffine3, candidates: usize) -> Self {
        let pose = Pose { from, start, transform, value: 0.0, overlap: 0, stopped: Stopped::Converged, shape: None };
        Self { poses: vec![pose], candidates, ..Self::default() }
    }

    /// Returns the best pose.
    ///
    /// # Errors
    /// [`Error::Untrusted`] if the images overlap at no start.
    pub fn best(&self) -> Result<&Pose> {
        let none = || {
            Error::Untrusted(
                message!("the images do not overlap where they start"; "check the headers, or use ", Init, " search"),
            )
        };
        self.poses.first().ok_or_else(none)
    }

    /// Evaluates all starts on a level with a spacing of `mm`. If several are left, optimises the best of them by
    /// `steps`, and the best one that turns nothing, and keeps the best of those.
    pub fn begin(
        &mut self,
        metric: &mut LevelMetric,
        starts: &[Start],
        steps: &Steps,
        mm: f64,
        grid: &Geometry,
    ) -> Result<()> {
        let transforms: Vec<_> = starts.iter().map(|start| start.transform).collect();
        let values = metric.scores(&transforms)?;
        let poses = starts.iter().zip(&values).filter_map(|(start, at)| {
            let MetricValue { value, overlap } = (*at)?;
            let (from, start, transform) = (start.from, start.transform, start.transform);
            Some(Pose { from, start, transform, value, overlap, stopped: Stopped::Converged, shape: None })
        });
        let poses: Vec<_> = poses.collect();
        let upright = poses.iter().rev().filter(|pose| pose.transform.matrix3 == DMat3::IDENTITY).cloned();
        let upright = upright.max_by(|a, b| self.rank(a).total_cmp(&self.rank(b)));
        self.poses = and_one_more(self.distinct(poses, OPTIMISED, 2.0 * mm, grid), upright, 2.0 * mm, grid);
        self.candidates = starts.len();
        if !self.of_all {
            let value = |at: Option<MetricValue>| at.map_or(self.independent_value, |at| at.value);
            self.median = median(values.into_iter().map(value).collect());
        }
        if self.poses.len() > 1 {
            let start = vec![0.0; steps.count()];
            let (step, resolution, evaluations) = (FIRST_STEP * mm, FIRST_RESOLUTION * mm, FIRST_EVALUATIONS);
            let problem = Problem { start, step, resolution, evaluations, shape: None };
            // Longer steps take more rounds here, and later results are no better.
            self.optimise(metric, &Batch { cautious: true }, steps, &problem)?;
            self.keep(mm, grid);
        }
        Ok(())
    }

    /// Optimises every pose on a level with a spacing of `mm`. If the level `decides`, keeps the best pose alone. Others
    /// are its rivals: the second one, and one at which all samples share more information.
    pub fn refine(
        &mut self,
        metric: &mut LevelMetric,
        optimizer: OptimizerKind,
        steps: &Steps,
        (mm, decides): (f64, bool),
        grid: &Geometry,
    ) -> Result<()> {
        let start = vec![0.0; steps.count()];
        let resolution = if optimizer == OptimizerKind::Bfgs { BFGS_RESOLUTION } else { RESOLUTION };
        let (step, resolution, evaluations) = (STEP * mm, resolution * mm, EVALUATIONS);
        let problem = Problem { start, step, resolution, evaluations, shape: None };
        self.optimise(metric, &*optimizer.optimizer(), steps, &problem)?;
        self.keep(mm, grid);
        if decides && self.poses.len() > 1 {
            self.rivals = self.rivals(grid);
            self.poses.truncate(1);
        }
        Ok(())
    }

    /// Returns the second pose. Also returns the one at which all samples share clearly more information than at the best
    /// pose; or just more, if it is nearer to the headers' alignment, since that makes it the more likely of two that are
    /// about as good.
    fn rivals(&self, grid: &Geometry) -> Vec<Rival> {
        let [first, others @ ..] = &self.poses[..] else { return Vec::new() };
        let same = if grid.is_flat() { SAME_PIXELS * grid.spacing.truncate().min_element() } else { 0.0 };
        let is_other = |pose: &&Pose| distance(&first.transform, &pose.transform, grid) > same;
        let others: Vec<_> = others.iter().filter(is_other).collect();
        let rival = |pose: &Pose, lead, wider| {
            let (distance_mm, to) = (distance(&first.transform, &pose.transform, grid), pose.transform);
            Rival { lead, wider, distance_mm, to }
        };
        let second = others.first().map(|second| rival(second, self.lead(second), false));
        let share = |pose: &Pose| self.total(pose) / self.total(first);
        let from_headers = |pose: &Pose| distance(&pose.transform, &DAffine3::IDENTITY, grid);
        let more = |pose: &&Pose| match from_headers(pose) < from_headers(first) {
            true => share(pose) > 1.0,
            false => is_clearly_more(share(pose), 1.0),
        };
        let wider = others.iter().copied().filter(more).max_by(|a, b| share(a).total_cmp(&share(b)));
        second.into_iter().chain(wider.map(|pose| rival(pose, share(pose), true))).collect()
    }

    fn optimise(
        &mut self,
        metric: &mut LevelMetric,
        optimizer: &dyn Optimizer,
        steps: &Steps,
        problem: &Problem,
    ) -> Result<()> {
        for pose in &mut self.poses {
            let shape = pose.shape.take().filter(|shape| shape.count() == steps.count());
            let found = metric.optimise(optimizer, pose.transform, steps, &Problem { shape, ..problem.clone() })?;
            pose.transform *= steps.map(&found.parameters);
            (pose.value, pose.stopped, pose.shape) = (found.value, found.stopped, found.shape);
        }
        if self.poses.len() > 1 {
            let transforms: Vec<_> = self.poses.iter().map(|pose| pose.transform).collect();
            let overlaps = metric.overlaps_at(&transforms)?;
            self.poses.iter_mut().zip(overlaps).for_each(|(pose, overlap)| pose.overlap = overlap);
        }
        Ok(())
    }

    /// Keeps the best few poses: those with a lead near that of the first, and no two closer than `mm`. Also keeps the one
    /// at which all samples share most information.
    fn keep(&mut self, mm: f64, grid: &Geometry) {
        let widest = self.poses.iter().rev().max_by(|a, b| self.total(a).total_cmp(&self.total(b))).cloned();
        let poses = std::mem::take(&mut self.poses);
        self.poses = self.distinct(poses, KEPT, mm, grid);
        let ahead = self.poses.iter().take_while(|pose| self.lead(pose) >= LEAD).count();
        self.poses.truncate(ahead.max(1));
        self.poses = and_one_more(std::mem::take(&mut self.poses), widest, mm, grid);
    }

    /// Returns the information that all samples share at a pose, if those outside the other image share none. The metric
    /// is the information per sample inside. That is higher where a small object fills more of the overlap, as when a
    /// long image lies across another.
    fn total(&self, pose: &Pose) -> f64 {
        (pose.value - self.independent_value) * pose.overlap as f64
    }

    /// Returns what poses are ranked by.
    fn rank(&self, pose: &Pose) -> f64 {
        if self.of_all { self.total(pose) } else { pose.value }
    }

    /// Returns a pose's lead over the median of all starts as a fraction of the best pose's.
    fn lead(&self, pose: &Pose) -> f64 {
        let best = self.poses.first().map_or(0.0, |best| self.rank(best) - self.median);
        if best > 0.0 { (self.rank(pose) - self.median) / best } else { 0.0 }
    }

    /// Sorts poses, best first, drops those within `apart` mm of a better one, and returns `most` at most. Of equal poses
    /// the one that came first is the better one.
    fn distinct(&self, mut poses: Vec<Pose>, most: usize, apart: f64, grid: &Geometry) -> Vec<Pose> {
        poses.sort_by(|a, b| self.rank(b).total_cmp(&self.rank(a)));
        let mut kept: Vec<Pose> = Vec::new();
        for pose in poses {
            if kept.len() == most {
                break;
            }
            if are_apart(&kept, &pose, apart, grid) {
                kept.push(pose);
            }
        }
        kept
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// Adds a pose to those that are kept, unless one of them is within `apart` mm of it.
fn and_one_more(mut kept: Vec<Pose>, more: Option<Pose>, apart: f64, grid: &Geometry) -> Vec<Pose> {
    let more = more.filter(|pose| are_apart(&kept, pose, apart, grid));
    kept.extend(more);
    kept
}

/// Returns whether none of `kept` is within `apart` mm of a pose.
fn are_apart(kept: &[Pose], pose: &Pose, apart: f64, grid: &Geometry) -> bool {
    kept.iter().all(|other| distance(&other.transform, &pose.transform, grid) > apart)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Silent;
    use crate::metric::{CountedKind, GridPair, LoadedMetric, Metric, Sampled};
    use crate::transform::{Dimension, Kind};
    use glam::DVec3;

    /// A made-up NMI: 1.1 for shifts along x of less than 50 mm, 1.04 of less than 200 mm, and no overlap beyond.
    struct Slab;

    impl LoadedMetric for Slab {
        fn values(&mut self, transforms: &[DAffine3]) -> Result<Vec<MetricValue>> {
            let at = |map: &DAffine3| match map.translation.x {
                x if x < 50.0 => MetricValue { value: 1.1, overlap: 1000 },
                x if x < 200.0 => MetricValue { value: 1.04, overlap: 1000 },
                _ => MetricValue { value: 0.0, overlap: 0 },
            };
            Ok(transforms.iter().map(at).collect())
        }

        fn slope(&mut self, transform: &DAffine3) -> Result<(MetricValue, [[f64; 4]; 3])> {
            Ok((self.values(&[*transform])?[0], [[0.0; 4]; 3]))
        }
    }

    /// A made-up MI: 0.20 where the second half of the samples lies outside, beyond shifts along x of 50 mm; 0.15 before.
    struct Across;

    impl LoadedMetric for Across {
        fn values(&mut self, transforms: &[DAffine3]) -> Result<Vec<MetricValue>> {
            let at = |map: &DAffine3| match map.translation.x {
                x if x < 50.0 => MetricValue { value: 0.15, overlap: 1000 },
                _ => MetricValue { value: 0.2, overlap: 500 },
            };
            Ok(transforms.iter().map(at).collect())
        }

        fn slope(&mut self, transform: &DAffine3) -> Result<(MetricValue, [[f64; 4]; 3])> {
            Ok((self.values(&[*transform])?[0], [[0.0; 4]; 3]))
        }
    }

    /// Runs a race along x with an NMI or MI, through a plane or a volume, in which poses are ranked `of_all` or not.
    /// Returns how many poses it begins with, where the best one ends, mm, and its rivals.
    fn raced(
        (metric, loaded): (CountedKind, impl LoadedMetric),
        depth: usize,
        of_all: bool,
        starts: &[f64],
    ) -> (usize, f64, Vec<Rival>) {
        let metric = Metric::all().into_iter().find(|of| of.key() == <&str>::from(metric)).unwrap();
        let grid = Geometry::axis_aligned([64, 64, depth], DVec3::ONE, DVec3::ZERO);
        let grids = GridPair { which: Sampled::Fixed, sampled: grid, interpolated: grid };
        let mut level = LevelMetric::new(&grids, Box::new(loaded), metric.worst(), &Silent);
        let start = |x| Start { from: "search", transform: DAffine3::from_translation(DVec3::new(x, 0.0, 0.0)) };
        let starts: Vec<_> = starts.iter().copied().map(start).collect();
        let steps = Steps::new(Kind::Translation, Dimension::Three, &grid);
        let mut race = Race::new(metric.independent_value(), of_all);
        race.begin(&mut level, &starts, &steps, 1.0, &grid).unwrap();
        let begun = race.poses.len();
        race.refine(&mut level, OptimizerKind::Batch, &steps, (1.0, true), &grid).unwrap();
        // The best pose goes on alone, and its rivals stay.
        race.refine(&mut level, OptimizerKind::Batch, &steps, (1.0, true), &grid).unwrap();
        assert_eq!(race.poses.len(), 1);
        (begun, race.poses[0].transform.translation.x, race.rivals)
    }

    #[test]
    fn an_nmi_of_1_is_no_information_where_most_starts_do_not_overlap() {
        let (begun, _, rivals) = raced((CountedKind::Nmi, Slab), 4, false, &[0.0, 100.0, 300.0, 400.0, 500.0, 600.0]);
        assert_eq!(begun, 1, "the second start has 0.4 of the lead");
        assert_eq!(rivals, []);
    }

    #[test]
    fn a_pose_at_which_all_samples_share_more_is_a_rival() {
        let wider = |starts| {
            let (_, _, rivals) = raced((CountedKind::Mi, Across), 4, false, starts);
            rivals.into_iter().find(|rival| rival.wider)
        };
        let found = wider(&[0.0, 100.0]).unwrap();
        assert!((found.lead - 1.5).abs() < 1e-9 && found.distance_mm == 100.0, "{found:?}");
        assert_eq!(wider(&[100.0, 200.0]), None);
    }

    #[test]
    fn what_all_samples_share_may_decide() {
        let (_, best, _) = raced((CountedKind::Mi, Across), 1, false, &[0.0, 100.0]);
        assert_eq!(best, 100.0);
        let (_, best, rivals) = raced((CountedKind::Mi, Across), 1, true, &[0.0, 100.0]);
        assert_eq!((best, rivals), (0.0, vec![]), "the other pose has two thirds of the information");
    }

    #[test]
    fn poses_within_three_pixels_of_a_plane_are_one() {
        let rivals = |depth, apart| {
            let (_, _, rivals) = raced((CountedKind::Nmi, Slab), depth, false, &[0.0, apart, 300.0, 400.0, 500.0]);
            rivals.len()
        };
        assert_eq!([rivals(1, 2.9), rivals(1, 3.1), rivals(4, 2.9)], [0, 1, 1]);
    }
}
