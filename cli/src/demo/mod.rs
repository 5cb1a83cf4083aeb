//! A made-up patient: a CT-like and an MR-like scan of one head with a known motion between them, for `mireg demo` and the
//! tests, and cubes for `mireg bench`. The same seed gives the same voxels on every machine, with any number of threads.

mod anatomy;
pub mod cubes;
mod parts;
pub mod picture;
mod scanners;
mod shapes;
mod tissue;

use glam::{DAffine3, DVec3};

use mireg::random;
use mireg::transform::Rigid;
use mireg::{Geometry, Volume};

/// Two scans of one head.
pub struct Pair {
    /// The fixed image: 0.9 x 0.9 x 2.5 mm, Hounsfield units, vertex and nose cut off.
    pub ct: Volume,
    /// The moving image: 1 mm sagittal, T1-like, with a bias field and Rician noise.
    pub mr: Volume,
    /// From a point of the CT to the corresponding point of the MR, LPS mm.
    pub truth: Rigid,
    /// From a point of the CT to the frame of the head, mm.
    head: DAffine3,
}

/// Distances between where a transform puts points and where they belong, mm.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Misplacement {
    pub mean_mm: f64,
    pub max_mm: f64,
}

impl Pair {
    /// The patient number `seed`. `coarseness` of 1 gives scans of clinical size; 4 gives voxels four times as long.
    pub fn new(seed: u64, coarseness: f64) -> Self {
        let head = anatomy::Head::new(random::mix(seed));
        let ct_grid = scanners::ct_grid(coarseness);
        let truth = motion(seed, ct_grid.centre());
        let to_head = scanners::patient_in_ct().inverse();
        let ct = scanners::ct(&head, ct_grid, to_head, seed);
        let mr_grid = scanners::mr_grid(coarseness);
        let mr = scanners::mr(&head, mr_grid, to_head * truth.to_affine().inverse(), seed);
        Self { ct, mr, truth, head: to_head }
    }

    /// Measures the error of `found` over the brain: at every third voxel of the CT inside the skull.
    pub fn misplacement(&self, found: &DAffine3) -> Misplacement {
        let truth = self.truth.to_affine();
        let error = |p: DVec3| found.transform_point3(p).distance(truth.transform_point3(p));
        let errors: Vec<f64> = self.brain().map(error).collect();
        Misplacement {
            mean_mm: errors.iter().sum::<f64>() / errors.len() as f64,
            max_mm: errors.iter().copied().fold(0.0, f64::max),
        }
    }

    fn brain(&self) -> impl Iterator<Item = DVec3> {
        let (grid, to_world) = (self.ct.geometry, self.ct.geometry.index_to_world());
        let index = move |n: usize| grid.index_of(n).map(|i| i as f64).into();
        let points = (0..grid.voxels()).step_by(3).map(move |n| to_world.transform_point3(index(n)));
        points.filter(|&p| anatomy::cavity(self.head.transform_point3(p).as_vec3()) < -2.0)
    }
}

/// Returns a motion of 7 to 12 degrees and 7 to 15 mm, in a direction that depends on the seed.
fn motion(seed: u64, centre: DVec3) -> Rigid {
    let signed = |number: u64, low: f64, high: f64| {
        let size = low + (high - low) * random::uniform(seed, number);
        if random::uniform(seed, number + 3) < 0.5 { -size } else { size }
    };
    let three =
        |first: u64, low: f64, high: f64| DVec3::new(0.0, 1.0, 2.0).map(|n| signed(first + n as u64, low, high));
    Rigid { angles: three(0, 4.0, 6.9).map(f64::to_radians), translation: three(6, 4.0, 8.6), centre }
}

/// Returns the number of voxels along an axis if they are `coarseness` times as long.
fn count(fine: usize, coarseness: f64) -> usize {
    (fine as f64 / coarseness).round().max(2.0) as usize
}

/// Returns a grid whose middle lies at `centre`. For a coarseness of 1 it has `size` voxels of `spacing` mm.
fn grid(size: [usize; 3], spacing: DVec3, coarseness: f64, direction: glam::DMat3, centre: DVec3) -> Geometry {
    let mut grid = Geometry {
        size: size.map(|n| count(n, coarseness)),
        spacing: spacing * coarseness,
        origin: DVec3::ZERO,
        direction,
    };
    grid.origin = centre - grid.centre();
    grid
}
