//! One level: a pair of images on their grids, and the metric as a function of the transform's parameters.

use super::{Options, Rise};
use crate::backend::{Backend, Evaluator, HistogramMethod, Pair, Wanted};
use crate::image::{BinImage, Geometry, StoredImage};
use crate::metric::{Evaluation, MetricKind};
use crate::optimizer::Objective;
use crate::transform::Steps;
use crate::{Error, Observer, Result, Volume};
use glam::DAffine3;
use gpu::math::interpolate::Interpolator;
use gpu::params::Affine;

/// The smallest and the largest intensity.
pub type Range = (f32, f32);

/// A fixed and a moving image ready to be loaded.
pub struct Images {
    pub fixed: BinImage,
    pub fixed_geometry: Geometry,
    pub moving: StoredImage,
    pub moving_geometry: Geometry,
    bins: u32,
    interpolator: Interpolator,
    histogram: HistogramMethod,
    /// Voxels of the fixed image that are to be counted.
    samples: u64,
}

impl Images {
    /// Both volumes with the intensity ranges that are to be spread over the bins, and a mask on the fixed image's grid.
    ///
    /// # Errors
    /// [`Error::Input`] where the mask leaves no voxel.
    pub fn new(
        fixed: (&Volume, Range),
        moving: (&Volume, Range),
        mask: Option<&Volume>,
        options: &Options,
    ) -> Result<Self> {
        let bins = options.bins;
        let mut fixed_bins = StoredImage::new(fixed.0, fixed.1, bins).bins(bins);
        let samples = match mask {
            Some(mask) => fixed_bins.mask(mask),
            None => fixed_bins.bins.len(),
        } as u64;
        if samples == 0 {
            let mm = fixed.0.geometry.spacing.min_element();
            return Err(Error::Input(format!(
                "the fixed mask leaves no voxel on a grid of {mm:.1} mm: make it larger"
            )));
        }
        Ok(Self {
            fixed: fixed_bins,
            fixed_geometry: fixed.0.geometry,
            moving: StoredImage::new(moving.0, moving.1, bins),
            moving_geometry: moving.0.geometry,
            bins,
            interpolator: options.interpolator,
            histogram: options.histogram,
            samples,
        })
    }

    /// Loads the pair into a backend.
    pub fn load<'a>(&'a self, backend: &'a dyn Backend) -> Result<Box<dyn Evaluator + 'a>> {
        let bins = [self.bins; 2];
        backend.load(
            Pair { fixed: &self.fixed, moving: &self.moving, bins, interpolator: self.interpolator },
            self.histogram,
        )
    }

    /// Voxels that are counted.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// The joint histogram at a map of points in LPS mm: the pair (f, m) is at `f + bins * m`.
    pub fn histogram(&self, evaluator: &mut dyn Evaluator, transform: &DAffine3) -> Result<Vec<u32>> {
        evaluator.histogram(&voxel_map(&self.fixed_geometry, &self.moving_geometry, transform))
    }

    /// What is wanted at each map of points in LPS mm; the rest is 0.
    pub fn evaluate(
        &self,
        evaluator: &mut dyn Evaluator,
        transforms: &[DAffine3],
        wanted: Wanted,
    ) -> Result<Vec<Evaluation>> {
        let map = |transform| voxel_map(&self.fixed_geometry, &self.moving_geometry, transform);
        let maps: Vec<Affine> = transforms.iter().map(map).collect();
        let samples = self.samples;
        Ok(evaluator.evaluate(&maps, wanted)?.iter().map(|entropies| Evaluation::new(entropies, samples)).collect())
    }
}

/// Steps a unit that the numbers of a map are rounded to.
const ROUND: f64 = (1_u64 << 36) as f64;

/// From voxels of one grid to voxels of another, through a map of points in LPS mm.
pub fn voxel_map(from: &Geometry, to: &Geometry, transform: &DAffine3) -> Affine {
    let map = to.world_to_index() * *transform * from.index_to_world();
    // To 2^-36, less than f32 resolves, so that round-off pushes no border out of an image on the same grid. Adding 0 makes a -0
    // a 0, so that no position is -0.
    let number = |v: f64| ((v * ROUND).round() / ROUND) as f32 + 0.0;
    let row = |i: usize| [map.x_axis[i], map.y_axis[i], map.z_axis[i], map.translation[i]].map(number);
    Affine { rows: [row(0), row(1), row(2)] }
}

/// The metric at one level as a function of steps away from a transform.
pub struct Metric<'a> {
    images: &'a Images,
    evaluator: &'a mut dyn Evaluator,
    kind: MetricKind,
    steps: &'a Steps,
    /// What the steps lead away from.
    base: DAffine3,
    observer: &'a dyn Observer,
    /// With fewer samples than this fraction inside the moving image, a transform counts as the worst there is.
    least_overlap: f64,
    evaluations: usize,
    trace: Vec<Rise>,
}

impl<'a> Metric<'a> {
    pub fn new(
        images: &'a Images,
        evaluator: &'a mut dyn Evaluator,
        kind: MetricKind,
        steps: &'a Steps,
        observer: &'a dyn Observer,
    ) -> Self {
        let base = DAffine3::IDENTITY;
        Self { images, evaluator, kind, steps, base, observer, least_overlap: 0.0, evaluations: 0, trace: vec![] }
    }

    /// What steps lead away from.
    pub fn start_from(&mut self, transform: DAffine3) {
        self.base = transform;
    }

    /// Where the best value rose.
    pub fn trace(&self) -> Vec<Rise> {
        self.trace.clone()
    }

    /// Keeps the search from where little overlaps: a high metric means nothing there.
    pub fn require_overlap(&mut self, fraction: f64) {
        self.least_overlap = fraction;
    }

    /// Everything at each map of points in LPS mm.
    pub fn evaluate(&mut self, transforms: &[DAffine3]) -> Result<Vec<Evaluation>> {
        self.images.evaluate(self.evaluator, transforms, Wanted::Ratios)
    }
}

impl Objective for Metric<'_> {
    fn values(&mut self, points: &[Vec<f64>]) -> Result<Vec<f64>> {
        let transforms: Vec<_> = points.iter().map(|mm| self.base * self.steps.map(mm)).collect();
        let enough = self.least_overlap;
        let value = |e: &Evaluation| if e.overlap_fraction() < enough { 0.0 } else { e.value(self.kind) };
        let found = self.images.evaluate(self.evaluator, &transforms, self.kind.wanted())?;
        let values: Vec<f64> = found.iter().map(value).collect();
        self.evaluations += values.len();
        let before = self.trace.last().map_or(f64::NEG_INFINITY, |rise| rise.value);
        let best = values.iter().copied().fold(before, f64::max);
        if best > before {
            self.trace.push(Rise { evaluations: self.evaluations, value: best });
        }
        self.observer.evaluated(self.evaluations, best);
        Ok(values)
    }
}
