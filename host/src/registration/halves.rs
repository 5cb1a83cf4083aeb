//! How far a result may be off, from how far apart those of two halves of the voxels lie.

use super::Options;
use super::levels::Levels;
use super::objective::LevelMetric;
use crate::backend::Backend;
use crate::optimizer::Problem;
use crate::transform::{Steps, distance};
use crate::{Geometry, Observer, Result};
use glam::DAffine3;
use std::ops::ControlFlow;

/// The level whose voxels are halved, or the coarsest before it: on the finest this would take as long as the registration.
const LEVEL: usize = 1;
/// A climb of a half: its first step and its resolution in spacings of the level, and its evaluations at most.
const STEP: f64 = 0.25;
const RESOLUTION: f64 = 0.02;
const EVALUATIONS: usize = 200;

/// The error to expect of `found`, a map of points of the fixed image to points of the moving one: root mean square over `grid`, the fixed
/// image's, mm. Results of two independent halves differ by twice what the result of both is off.
///
/// # Errors
/// Those of the backend and of the observer.
pub fn expected_error(
    levels: &Levels,
    options: &Options,
    steps: &Steps,
    grid: &Geometry,
    found: &DAffine3,
    backend: &dyn Backend,
    observer: &dyn Observer,
) -> Result<f64> {
    let level = std::env::var("HALVES").map_or(LEVEL, |v| v.parse().unwrap()).min(levels.spacings.len() - 1);
    let (pair, mm) = (levels.images(level, Some(*found))?, levels.spacings[level]);
    let quiet = Quiet(observer);
    let climb = |second: bool| -> Result<DAffine3> {
        let images = options.metric.prepare(&pair.half(second))?;
        let loaded = images.load(backend)?;
        let mut metric = LevelMetric::new(images.grids(), loaded, options.metric.worst(), &quiet);
        let (step, resolution, evaluations) = (STEP * mm, RESOLUTION * mm, EVALUATIONS);
        let problem = Problem { start: vec![0.0; steps.count()], step, resolution, evaluations, shape: None };
        let climbed = metric.climb(&*options.optimizer().optimizer(), *found, steps, &problem)?;
        Ok(*found * steps.map(&climbed.parameters))
    };
    Ok(0.5 * distance(&climb(false)?, &climb(true)?, grid))
}

/// Hears nothing, but stops what the other one stops.
struct Quiet<'a>(&'a dyn Observer);

impl Observer for Quiet<'_> {
    fn proceed(&self) -> ControlFlow<()> {
        self.0.proceed()
    }
}
