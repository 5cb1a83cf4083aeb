//! The metric at one level as a function of steps away from a transform.

use super::Rise;
use crate::backend::BATCH;
use crate::metric::{Chain, GridPair, LoadedMetric, MetricValue};
use crate::observer::ask_observer;
use crate::optimizer::{Maximum, Objective, Optimizer, Problem, Slope};
use crate::transform::Steps;
use crate::{Observer, Result};
use glam::DAffine3;

/// A transform with fewer samples inside the other image than this fraction of the most that any start has counts as
/// the worst there is: with so little overlap a high metric means nothing.
const LEAST_OVERLAP: f64 = 0.3;

/// The metric of one level.
pub struct LevelMetric<'a> {
    grids: &'a GridPair,
    loaded: Box<dyn LoadedMetric + 'a>,
    /// The value of a transform at which too little overlaps.
    worst: f64,
    observer: &'a dyn Observer,
    /// Samples inside the other image below which too little overlaps.
    least_overlap: u64,
    pub evaluations: usize,
    /// Each evaluation at which the best value so far rose.
    pub trace: Vec<Rise>,
}

impl<'a> LevelMetric<'a> {
    pub fn new(
        grids: &'a GridPair,
        loaded: Box<dyn LoadedMetric + 'a>,
        worst: f64,
        observer: &'a dyn Observer,
    ) -> Self {
        Self { grids, loaded, worst, observer, least_overlap: 1, evaluations: 0, trace: Vec::new() }
    }

    /// Evaluates the metric at maps of fixed points to moving points, LPS mm. The largest overlap among them sets the
    /// overlap that is required from now on. Returns `None` for those that have less.
    pub fn scores(&mut self, transforms: &[DAffine3]) -> Result<Vec<Option<MetricValue>>> {
        let found = self.measured(transforms)?;
        let most = found.iter().map(|at| at.overlap).max().unwrap_or(0);
        self.least_overlap = ((LEAST_OVERLAP * most as f64) as u64).max(1);
        self.values(&found);
        Ok(found.into_iter().map(|at| self.overlaps(&at).then_some(at)).collect())
    }

    /// Returns how many samples lie inside the other image at each map, without counting the evaluations or telling the
    /// observer.
    pub fn overlaps_at(&mut self, transforms: &[DAffine3]) -> Result<Vec<u64>> {
        Ok(self.measured(transforms)?.into_iter().map(|at| at.overlap).collect())
    }

    /// Evaluates the metric at a map without counting it or telling the observer.
    pub fn at(&mut self, transform: &DAffine3) -> Result<f64> {
        let at = self.measured(&[*transform])?[0];
        Ok(if self.overlaps(&at) { at.value } else { self.worst })
    }

    /// Optimises steps away from the transform `base`.
    pub fn optimise(
        &mut self,
        optimizer: &dyn Optimizer,
        base: DAffine3,
        steps: &Steps,
        problem: &Problem,
    ) -> Result<Maximum> {
        optimizer.maximise(&mut StepObjective { metric: self, base, steps }, problem)
    }

    fn measured(&mut self, transforms: &[DAffine3]) -> Result<Vec<MetricValue>> {
        let mut found = Vec::with_capacity(transforms.len());
        for batch in transforms.chunks(BATCH) {
            ask_observer(self.observer)?;
            found.extend(self.loaded.values(batch)?);
        }
        Ok(found)
    }

    fn overlaps(&self, at: &MetricValue) -> bool {
        at.overlap >= self.least_overlap
    }

    /// Returns the values, counts them, and tells the observer and the trace about them.
    fn values(&mut self, found: &[MetricValue]) -> Vec<f64> {
        let values: Vec<f64> = found.iter().map(|at| if self.overlaps(at) { at.value } else { self.worst }).collect();
        self.evaluations += values.len();
        let before = self.trace.last().map_or(f64::NEG_INFINITY, |rise| rise.value);
        let best = values.iter().copied().fold(before, f64::max);
        if best > before {
            self.trace.push(Rise { evaluations: self.evaluations, value: best });
        }
        self.observer.evaluated(self.evaluations, best);
        values
    }
}

/// The metric as the optimizer sees it: a function of steps, mm, away from the transform `base`.
struct StepObjective<'m, 'a> {
    metric: &'m mut LevelMetric<'a>,
    base: DAffine3,
    steps: &'m Steps,
}

impl StepObjective<'_, '_> {
    fn chain(&self) -> Chain<'_> {
        Chain { grids: self.metric.grids, base: &self.base, steps: self.steps }
    }
}

impl Objective for StepObjective<'_, '_> {
    fn values(&mut self, points: &[Vec<f64>]) -> Result<Vec<f64>> {
        let transforms: Vec<_> = points.iter().map(|mm| self.base * self.steps.map(mm)).collect();
        let found = self.metric.measured(&transforms)?;
        Ok(self.metric.values(&found))
    }

    fn slope(&mut self, point: &[f64]) -> Result<Slope> {
        ask_observer(self.metric.observer)?;
        let (at, by_map) = self.metric.loaded.slope(&(self.base * self.steps.map(point)))?;
        let value = self.metric.values(&[at])[0];
        let by = match self.metric.overlaps(&at) {
            true => self.chain().by_parameters(&by_map, point),
            false => vec![0.0; point.len()],
        };
        Ok(Slope { value, by })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::{Windows, cpu::Cpu};
    use crate::metric::{ImagePair, Mattes, Metric, Sampled, Viola};
    use crate::transform::{Dimension, Kind};
    use crate::{Geometry, PixelType, Silent, Volume};
    use glam::{DMat3, DVec3};
    use std::borrow::Cow;

    /// Waves that are so smooth that linear interpolation is nearly exact. The moving image is larger, so that no
    /// sample leaves it.
    fn waves(flat: bool, half: f64, spacing: f64, shape: fn(f64) -> f64) -> Volume {
        let count = (2.0 * half / spacing) as usize + 1;
        let size = if flat { [count, count, 1] } else { [count; 3] };
        let origin = DVec3::new(-half, -half, if flat { 0.0 } else { -half });
        let geometry = Geometry::axis_aligned(size, DVec3::splat(spacing), origin);
        let wave = |n: usize| {
            let index = DVec3::new((n % count) as f64, (n / count % count) as f64, (n / count / count) as f64);
            let p = geometry.index_to_world().transform_point3(index) / 9.0;
            shape((p.x + 0.3 * p.z).sin() + (0.8 * p.y - 0.4 * p.x).cos() + (0.7 * p.z + 0.5 * p.y).sin()) as f32
        };
        Volume { geometry, voxels: (0..geometry.voxels()).map(wave).collect(), pixel: PixelType::F32 }
    }

    /// Returns the derivatives at a point off `base`, and central differences of the values there.
    fn derivatives(metric: &mut LevelMetric, steps: &Steps, flat: bool, step: f64) -> (Vec<f64>, Vec<f64>) {
        let tilt = if flat { DMat3::IDENTITY } else { DMat3::from_rotation_x(0.13) * DMat3::from_rotation_y(0.07) };
        let turn = DMat3::from_rotation_z(0.1) * tilt;
        let base = DAffine3::from_mat3_translation(turn, DVec3::new(1.3, -0.9, 0.0));
        let mut away = StepObjective { metric, base, steps };
        let mm: Vec<f64> = (0..steps.count()).map(|n| 0.6 - 0.23 * n as f64).collect();
        let neighbours = (0..2 * steps.count()).map(|n| {
            let mut mm = mm.clone();
            mm[n / 2] += if n % 2 == 0 { step } else { -step };
            mm
        });
        let values = away.values(&neighbours.collect::<Vec<_>>()).unwrap();
        let differences = values.chunks(2).map(|pair| (pair[0] - pair[1]) / (2.0 * step)).collect();
        (away.slope(&mm).unwrap().by, differences)
    }

    fn check(metric: Metric, which: Sampled, flat: bool) {
        let fixed = waves(flat, 14.0, if flat { 0.2 } else { 1.0 }, |v| v);
        let moving = waves(flat, 26.0, if flat { 0.1 } else { 0.5 }, |v| (1.3 * v).sin());
        let ranges = [fixed.range(), moving.range()];
        let (sampled, interpolated) = (Cow::Borrowed(&fixed), Cow::Owned(moving));
        let pair = ImagePair { which, sampled, interpolated, sigmas: [0.0; 3], ranges, keep: None, level: 0 };
        let images = metric.prepare(pair).unwrap();
        let viola = matches!(metric, Metric::Viola(_));
        let mut level = LevelMetric::new(images.grids(), images.load(&Cpu).unwrap(), metric.worst(), &Silent);
        let dimension = if flat { Dimension::Two } else { Dimension::Three };
        // A short step, so that few samples cross into the next voxel, where the slope of linear interpolation jumps.
        // Mattes needs a longer one because its weights are rounded. Viola has so few samples that a single one that
        // crosses is seen.
        let (step, most) = if viola { (0.005, 2e-3) } else { (0.02, 1e-3) };
        for dof in [Kind::Translation, Kind::Rigid, Kind::Similarity, Kind::Affine] {
            let steps = Steps::new(dof, dimension, &fixed.geometry);
            let (found, expected) = derivatives(&mut level, &steps, flat, step);
            let largest = expected.iter().fold(0.0_f64, |largest, by| largest.max(by.abs()));
            for (found, expected) in found.iter().zip(&expected) {
                let error = (found - expected).abs() / largest;
                assert!(error < most, "{metric:?}, {which:?}, {dof:?}, {flat}: {found} and {expected}, {error:.1e}");
            }
        }
    }

    #[test]
    fn gradients_are_those_of_central_differences_for_every_metric_and_transform() {
        let mattes = |windows| Metric::Mattes(Mattes { windows, bins: 20 });
        let viola = Metric::Viola(Viola { samples: 4000, ..Viola::default() });
        for metric in [mattes(Windows::Moving), mattes(Windows::Both), viola] {
            for which in [Sampled::Fixed, Sampled::Moving] {
                [false, true].into_iter().for_each(|flat| check(metric, which, flat));
            }
        }
    }
}
