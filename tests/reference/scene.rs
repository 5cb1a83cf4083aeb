//! Two volumes and the transforms with which they are compared, and the comparison of mireg's results with the
//! reference.

use super::agree;
use crate::support::{random, stored};
use glam::{DAffine3, DMat3, DVec3, EulerRot};
use gpu::math::{entropy::Entropies, interpolate};
use mireg::backend::{Backend, HistogramMethod, Pair, Wanted};
use mireg::image::voxel_map;
use mireg::reference::{Interpolator, Similarity, joint_histogram};
use mireg::transform::Rigid;
use mireg::{Geometry, PixelType, Result, Volume};
use ndarray::{Array2, ShapeBuilder};

/// A fixed and a moving volume, and the map of points between them, LPS mm.
pub struct Scene {
    pub fixed: Volume,
    pub moving: Volume,
    pub transform: DAffine3,
}

/// An interpolator, as the types of the reference and of mireg.
pub type Both = (Interpolator, interpolate::Interpolator);

/// All of them.
pub const INTERPOLATORS: [Both; 4] = [
    (Interpolator::Nearest, interpolate::Interpolator::Nearest),
    (Interpolator::Linear, interpolate::Interpolator::Linear),
    (Interpolator::CatmullRom, interpolate::Interpolator::CatmullRom),
    (Interpolator::BSpline, interpolate::Interpolator::BSpline),
];

/// Volumes of the same smooth, random field on oblique grids of unlike voxels, through transforms that keep all, most
/// and half of the fixed image inside the moving one.
pub fn smooth(seed: u64) -> Vec<Scene> {
    let direction = |a, b, c| DMat3::from_euler(EulerRot::XYZ, a, b, c);
    let around = |size, spacing, direction, middle: DVec3| {
        let grid = Geometry { size, spacing, origin: DVec3::ZERO, direction };
        Geometry { origin: middle - grid.centre(), ..grid }
    };
    let middle = DVec3::new(12.0, -30.0, 45.0);
    let fixed = around([61, 53, 23], DVec3::new(1.1, 0.9, 2.7), direction(0.2, -0.3, 0.5), middle);
    let moving = around([52, 57, 40], DVec3::new(1.6, 1.3, 2.1), direction(-0.4, 0.1, -2.8), middle + 2.0);
    let rigid = |angles, translation| Rigid { angles, translation, centre: middle }.to_affine();
    let transforms = [
        rigid(DVec3::new(0.003, 0.01, -0.002), DVec3::splat(0.31)),
        rigid(DVec3::new(0.1, -0.2, 0.3), DVec3::new(2.5, -3.2, 0.7)),
        rigid(DVec3::new(1.4, 0.3, -0.6), DVec3::new(21.0, 17.0, -11.0)),
    ];
    let field = field(seed);
    let fixed = volume(fixed, |point| field(point).abs());
    let moving = volume(moving, |point| (2.0 * field(point)).sin() + 0.2 * field(point) - 50.0);
    transforms.map(|transform| Scene { fixed: fixed.clone(), moving: moving.clone(), transform }).into()
}

/// Returns a sum of waves of 20 to 80 mm in random directions, from about -3 to 3.
fn field(seed: u64) -> impl Fn(DVec3) -> f64 {
    let mut random = random(seed);
    let mut between = move |low: f64, high: f64| low + (high - low) * f64::from(random());
    let waves: Vec<(DVec3, f64)> = (0..8)
        .map(|_| {
            let along = DVec3::new(between(-1.0, 1.0), between(-1.0, 1.0), between(-1.0, 1.0)).normalize();
            (along * std::f64::consts::TAU / between(20.0, 80.0), between(0.0, 6.3))
        })
        .collect();
    move |point| waves.iter().map(|(wave, phase)| (wave.dot(point) + phase).cos()).sum::<f64>()
}

fn volume(geometry: Geometry, intensity: impl Fn(DVec3) -> f64) -> Volume {
    let [nx, ny, _] = geometry.size;
    let index = |i: usize| DVec3::new((i % nx) as f64, (i / nx % ny) as f64, (i / nx / ny) as f64);
    let point = |i: usize| geometry.index_to_world().transform_point3(index(i));
    let voxels = (0..geometry.voxels()).map(|i| intensity(point(i)) as f32).collect();
    Volume { geometry, voxels, pixel: PixelType::F32 }
}

impl Scene {
    /// Returns the backend's counts, `[fixed bin, moving bin]`, and entropies for the scene.
    pub fn measure(
        &self,
        backend: &dyn Backend,
        bins: [u32; 2],
        interpolator: interpolate::Interpolator,
    ) -> Result<(Array2<u64>, Entropies)> {
        let (fixed, moving) = (stored(&self.fixed, bins[0]).bins(bins[0]), stored(&self.moving, bins[1]));
        let mut pair = backend.load(
            Pair { fixed: (&fixed).into(), moving: (&moving).into(), bins, interpolator },
            HistogramMethod::Auto,
        )?;
        let map = voxel_map(&self.fixed.geometry, &self.moving.geometry, &self.transform);
        let counts = pair.histogram(&map)?.into_iter().map(u64::from).collect();
        let shape = (bins[0] as usize, bins[1] as usize).f();
        let counts = Array2::from_shape_vec(shape, counts).expect("a count for each pair");
        Ok((counts, pair.evaluate(&[map], Wanted::Ratios)?[0]))
    }

    /// Fails unless the backend agrees with the reference: the metric to `tolerance`, the histogram except for a few in
    /// a thousand samples that rounding to 16 bits moves to the next bin, and the overlap except for samples within
    /// f32's precision of the border. Linear interpolation at positions in steps of 1/256 voxel moves more samples to
    /// other bins and changes the metric more, the narrower the bins are.
    pub fn check(
        &self,
        backend: &dyn Backend,
        interpolators: &[Both],
        bins: [u32; 2],
        tolerance: f64,
    ) -> std::result::Result<(), String> {
        for &(how, interpolator) in interpolators {
            let wrong = |wrong| format!("{bins:?} bins, {how:?}, {:?}: {wrong}", self.transform.to_cols_array());
            let (counts, found) =
                self.measure(backend, bins, interpolator).map_err(|error| wrong(error.to_string()))?;
            let [fixed_bins, moving_bins] = bins.map(|n| n as usize);
            let expected = joint_histogram(&self.fixed, &self.moving, &self.transform, [fixed_bins, moving_bins], how);
            agree(&found, &Similarity::of(&counts), 1e-12, 0).map_err(wrong)?;
            let coarse = how == Interpolator::Linear && bins[1] <= 256;
            let (tolerance, few) = if coarse {
                (2e-5 * f64::from(bins[1].max(50)), found.counts * u64::from(32 + bins[1]) / 4000)
            } else {
                (tolerance, found.counts * u64::from(200 + bins[1]) / 40_000)
            };
            agree(&found, &Similarity::of(&expected), tolerance, 8).map_err(wrong)?;
            let elsewhere: u64 = counts.iter().zip(&expected).map(|(&a, &b)| a.abs_diff(b)).sum();
            if elsewhere > few {
                return Err(wrong(format!("{elsewhere} of {} samples are counted elsewhere", found.counts)));
            }
        }
        Ok(())
    }
}
