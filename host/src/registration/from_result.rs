//! Checks whether volumes agree better through an affine transform that lies elsewhere than through a result with fewer
//! degrees of freedom.
//!
//! The heads of two people differ in size and shape. A rigid transform may then align the outlines, 1 cm from where the
//! brains agree, and agree better there than at poses around. An affine optimisation that starts there moves away.

use super::objective::LevelMetric;
use super::place::Foregrounds;
use super::race::Race;
use super::tally::Part;
use super::{Options, Run};
use crate::Result;
use crate::metric::{ImagePair, NO_INFORMATION};
use crate::observer::Quiet;
use crate::transform::{Kind, Steps};
use glam::DAffine3;

/// How two volumes agree through an affine transform that was optimised from the result. Distances are root mean
/// squares over the fixed image's foreground.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FromResult {
    /// The mutual information of local contrast through the affine transform, as a multiple of that at the result.
    pub times: f64,
    /// The distance, mm, of the result to `nearest`, the transform of its kind that is nearest to the affine one.
    pub distance_mm: f64,
    /// The affine transform: a map of fixed points to moving points, LPS mm.
    pub to: DAffine3,
    /// The distance, mm, that does not tell the result from `nearest`: that of `nearest` to the affine transform, or the
    /// spacing of the level if it is larger.
    pub explained_mm: f64,
}

impl Run<'_> {
    /// Optimises an affine transform on a coarse level, from the result `to`, and compares the two. Returns `None` if
    /// too little is foreground.
    ///
    /// # Errors
    /// Those of the backend, and [`Error::Stopped`](crate::Error::Stopped).
    pub fn affine_from_result(
        &self,
        coarse: ImagePair,
        foregrounds: &Foregrounds,
        to: &DAffine3,
    ) -> Result<Option<FromResult>> {
        let mm = coarse.sampled.geometry.spacing.min_element();
        let affine = self.case.tally.timed(Part::Optimise, || self.affine(coarse, to, mm))?;
        let nearest = foregrounds.nearest(self.options.dof, |point| affine.transform_point3(point));
        Ok(nearest.map(|nearest| FromResult {
            times: foregrounds.here(&affine) / foregrounds.here(to).max(NO_INFORMATION),
            distance_mm: foregrounds.distance(&nearest, to),
            explained_mm: foregrounds.distance(&nearest, &affine).max(mm),
            to: affine,
        }))
    }

    /// Optimises an affine transform on a level with a spacing of `mm`, from `start`.
    fn affine(&self, level: ImagePair, start: &DAffine3, mm: f64) -> Result<DAffine3> {
        let Options { metric, .. } = self.options;
        let images = metric.prepare(level)?;
        let quiet = Quiet(self.case.observer);
        let mut metric = LevelMetric::new(images.grids(), images.load(self.case.backend)?, metric.worst(), &quiet);
        let grid = &self.case.fixed.geometry;
        let steps = Steps::new(Kind::Affine, self.dimension, grid);
        let mut race = Race::decided("", *start, *start, 1);
        race.refine(&mut metric, self.options.optimizer(), &steps, (mm, false), grid)?;
        Ok(race.best()?.transform)
    }
}
