//! One level: a pair of images on their grids, and the metric as a function of the transform's parameters.

use super::Observer;
use crate::backend::{Backend, Evaluator, Pair};
use crate::image::{BinImage, Geometry, StoredImage, pyramid};
use crate::metric::{Evaluation, MetricKind};
use crate::optimizer::Objective;
use crate::transform::Rigid;
use crate::{Result, Volume};
use glam::{DAffine3, DVec3};
use gpu::math::interpolate::Interpolator;
use gpu::params::Affine;

/// A fixed and a moving image ready to be loaded.
pub struct Images {
    pub fixed: BinImage,
    pub fixed_geometry: Geometry,
    pub moving: StoredImage,
    pub moving_geometry: Geometry,
}

impl Images {
    /// Both volumes at about `mm`.
    pub fn new(fixed: &Volume, moving: &Volume, mm: f64, bins: u32) -> Self {
        let (fixed_range, moving_range) = (fixed.range(), moving.range());
        let (fixed, moving) = (pyramid::coarser(fixed, mm), pyramid::coarser(moving, mm));
        Self {
            fixed: StoredImage::new(&fixed, fixed_range).bins(bins),
            fixed_geometry: fixed.geometry,
            moving: StoredImage::new(&moving, moving_range),
            moving_geometry: moving.geometry,
        }
    }

    /// Loads the pair into a backend.
    pub fn load<'a>(&'a self, backend: &'a dyn Backend, bins: u32) -> Result<Box<dyn Evaluator + 'a>> {
        backend.load(Pair {
            fixed: &self.fixed,
            moving: &self.moving,
            bins: [bins; 2],
            interpolator: Interpolator::Linear,
        })
    }

    /// From voxels of the fixed image to voxels of the moving image, through a map of points in LPS mm.
    pub fn voxel_map(&self, transform: &DAffine3) -> Affine {
        voxel_map(&self.fixed_geometry, &self.moving_geometry, transform)
    }

    /// The metric's result as users see it.
    pub fn evaluate(&self, evaluator: &mut dyn Evaluator, transforms: &[DAffine3]) -> Result<Vec<Evaluation>> {
        let maps: Vec<Affine> = transforms.iter().map(|transform| self.voxel_map(transform)).collect();
        let samples = self.fixed.bins.len() as u64;
        Ok(evaluator.evaluate(&maps)?.iter().map(|entropies| Evaluation::new(entropies, samples)).collect())
    }
}

/// From voxels of one grid to voxels of another, through a map of points in LPS mm.
pub fn voxel_map(from: &Geometry, to: &Geometry, transform: &DAffine3) -> Affine {
    let map = to.world_to_index() * *transform * from.index_to_world();
    let row = |i: usize| [map.x_axis[i], map.y_axis[i], map.z_axis[i], map.translation[i]].map(|v| v as f32);
    Affine { rows: [row(0), row(1), row(2)] }
}

/// The metric over a rigid transform's six parameters: degrees about x, y and z, then mm along x, y and z.
pub struct RigidObjective<'a> {
    pub images: &'a Images,
    pub evaluator: &'a mut dyn Evaluator,
    pub metric: MetricKind,
    pub centre: DVec3,
    pub observer: &'a dyn Observer,
    pub evaluations: usize,
    pub best: f64,
}

/// The transform with these parameters.
pub fn rigid(parameters: &[f64], centre: DVec3) -> Rigid {
    let [rx, ry, rz, tx, ty, tz] = parameters.try_into().expect("a rigid transform has six parameters");
    Rigid { angles: DVec3::new(rx, ry, rz) * (std::f64::consts::PI / 180.0), translation: DVec3::new(tx, ty, tz), centre }
}

impl Objective for RigidObjective<'_> {
    fn values(&mut self, points: &[Vec<f64>]) -> Result<Vec<f64>> {
        let transforms: Vec<_> = points.iter().map(|point| rigid(point, self.centre).to_affine()).collect();
        let evaluations = self.images.evaluate(self.evaluator, &transforms)?;
        let values: Vec<f64> = evaluations.iter().map(|evaluation| evaluation.value(self.metric)).collect();
        self.evaluations += values.len();
        self.best = values.iter().copied().fold(self.best, f64::max);
        self.observer.evaluated(self.evaluations, self.best);
        Ok(values)
    }
}
