//! The registration loop: start, levels from coarse to fine, and the result.

mod level;
mod start;

use crate::backend::{self, BackendKind};
use crate::image::Geometry;
use crate::metric::{Evaluation, MetricKind};
use crate::optimizer::{Optimizer, Powell, Problem};
use crate::transform::Rigid;
use crate::{Result, Volume};
use glam::DAffine3;
use gpu::math::interpolate::Interpolator;
use level::{Images, RigidObjective};
use std::time::Instant;

/// What the user may choose.
#[derive(Debug, Clone)]
pub struct Options {
    /// What is maximised.
    pub metric: MetricKind,
    /// Bins a side of the joint histogram, 2 to 256.
    pub bins: u32,
    /// Where it runs.
    pub backend: BackendKind,
    /// CPU threads; 0 for one a core.
    pub threads: usize,
}

/// One level of the pyramid, for the report.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Level {
    /// Grid of this level of the fixed image, mm.
    pub spacing_mm: [f64; 3],
    /// Transforms at which the metric was evaluated.
    pub evaluations: usize,
    /// The metric at the level's end.
    pub value: f64,
}

/// Seconds spent in each part.
#[derive(Debug, Clone, Default, serde::Serialize)]
pub struct Seconds {
    pub upload: f64,
    pub pyramid: f64,
    pub optimise: f64,
    pub resample: f64,
}

/// What a registration found.
#[derive(Debug, Clone)]
pub struct Registration {
    /// Fixed point to moving point, LPS mm.
    pub transform: Rigid,
    /// The moving image on the fixed image's grid; 0 outside.
    pub moved: Volume,
    /// The metric at full resolution before and after.
    pub start: Evaluation,
    pub end: Evaluation,
    /// Which start won: "header centres" or "centres of mass".
    pub started_from: &'static str,
    pub levels: Vec<Level>,
    pub seconds: Seconds,
    /// `cpu`, `cuda` or `emulated`.
    pub backend: &'static str,
    /// The device's own name.
    pub device: String,
}

/// Hears how far a registration is. The library never prints.
pub trait Observer: Sync {
    /// A level starts: its number from 0, how many there are, and its grid, mm.
    fn level(&self, _number: usize, _of: usize, _spacing_mm: [f64; 3]) {}
    /// The metric was evaluated; `best` is the best value so far on this level.
    fn evaluated(&self, _evaluations: usize, _best: f64) {}
    /// Something worth a line, such as the choice of backend.
    fn note(&self, _text: &str) {}
}

/// Hears nothing.
impl Observer for () {}

/// Finds the rigid transform that maximises the metric.
///
/// # Errors
/// [`crate::Error::Input`] for options or volumes that cannot be registered, [`crate::Error::Device`] where the backend is not there,
/// [`crate::Error::Untrusted`] where the volumes do not overlap.
pub fn register(
    fixed: &Volume,
    moving: &Volume,
    options: &Options,
    observer: &dyn Observer,
) -> Result<Registration> {
    let backend = backend::open(options.backend, options.threads)?;
    let mut seconds = Seconds::default();
    let centre = fixed.geometry.centre();
    let spacings = level_spacings(&fixed.geometry);
    let mut levels = Vec::new();
    let mut parameters = vec![0.0; 6];
    let mut started_from = "";
    let (mut start, mut end) = (Evaluation::default(), Evaluation::default());
    for (number, &mm) in spacings.iter().enumerate() {
        let clock = Instant::now();
        let images = Images::new(fixed, moving, mm, options.bins);
        seconds.pyramid += clock.elapsed().as_secs_f64();
        let clock = Instant::now();
        let mut evaluator = images.load(&*backend, options.bins)?;
        seconds.upload += clock.elapsed().as_secs_f64();
        observer.level(number, spacings.len(), images.fixed_geometry.spacing.to_array());
        let clock = Instant::now();
        if number == 0 {
            let starts = start::candidates(fixed, moving);
            let transforms = starts.map(|s| DAffine3::from_translation(s.translation));
            let scores = images.evaluate(&mut *evaluator, &transforms)?;
            let best = (0..3).rev().max_by(|&a, &b| scores[a].value(options.metric).total_cmp(&scores[b].value(options.metric))).unwrap();
            started_from = starts[best].name;
            parameters[3..].copy_from_slice(&starts[best].translation.to_array());
        }
        if number + 1 == spacings.len() {
            start = images.evaluate(&mut *evaluator, &[DAffine3::IDENTITY])?[0];
        }
        let coarse = mm / spacings[spacings.len() - 1];
        let problem = Problem {
            start: parameters.clone(),
            step: vec![mm; 6],
            resolution: [0.05, 0.05, 0.05, 0.02, 0.02, 0.02].map(|r| r * coarse).to_vec(),
        };
        let mut objective = RigidObjective {
            images: &images,
            evaluator: &mut *evaluator,
            metric: options.metric,
            centre,
            observer,
            evaluations: 0,
            best: f64::NEG_INFINITY,
        };
        let found = Powell::default().maximise(&mut objective, &problem)?;
        parameters = found.parameters;
        if number + 1 == spacings.len() {
            end = images.evaluate(&mut *evaluator, &[level::rigid(&parameters, centre).to_affine()])?[0];
        }
        seconds.optimise += clock.elapsed().as_secs_f64();
        levels.push(Level {
            spacing_mm: images.fixed_geometry.spacing.to_array(),
            evaluations: found.evaluations,
            value: found.value,
        });
    }
    let transform = level::rigid(&parameters, centre);
    let clock = Instant::now();
    let map = level::voxel_map(&fixed.geometry, &moving.geometry, &transform.to_affine());
    let voxels = backend.resample(moving, fixed.geometry.size, &map, Interpolator::Linear)?;
    seconds.resample = clock.elapsed().as_secs_f64();
    let moved = Volume { geometry: fixed.geometry, voxels, pixel: moving.pixel };
    Ok(Registration {
        transform,
        moved,
        start,
        end,
        started_from,
        levels,
        seconds,
        backend: backend.name(),
        device: backend.device(),
    })
}

/// Spacings from coarse to fine, doubling: the last is the fixed image's own, the first leaves it about 24 voxels a side.
fn level_spacings(fixed: &Geometry) -> Vec<f64> {
    let finest = fixed.spacing.min_element();
    let extent = (0..3).map(|axis| fixed.size[axis] as f64 * fixed.spacing[axis]).fold(f64::INFINITY, f64::min);
    let mut spacings = vec![finest];
    while extent / (spacings[0] * 2.0) >= 20.0 {
        spacings.insert(0, spacings[0] * 2.0);
    }
    spacings
}
