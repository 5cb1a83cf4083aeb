//! Finds where each octant of two volumes agrees best by itself.
//!
//! A linear transform follows the larger part of the body, and agrees clearly whatever the smaller part does, such as a
//! head that was turned over still shoulders.

use super::part_poses::{Pose, SAMPLES, is_better, optimised};
use super::poses::Pair;
use super::samples::{Samples, foreground_voxels};
use super::segments::Segments;
use crate::{Geometry, Result, Volume};
use glam::{DAffine3, DVec3};

/// The fixed image's foreground, divided into octants, and where local contrast in each of them agrees best.
pub struct Octants {
    /// The centre of what is foreground in both images, LPS mm in the fixed image. It divides the octants along the axes
    /// of the fixed image's grid.
    pub middle: DVec3,
    /// Bit n of an octant's number is set if it lies beyond the centre along axis n.
    pub all: Vec<Octant>,
}

/// A part of the fixed image's foreground, and where its local contrast agrees best.
pub struct Octant {
    /// Its foreground voxels.
    pub voxels: Vec<usize>,
    /// The centre of those that fall on the moving image's foreground, LPS mm in the fixed image.
    pub middle: DVec3,
    /// Where it agrees best: a map of fixed points to moving points, LPS mm.
    pub map: DAffine3,
    /// The mutual information there, nats beyond chance.
    pub information: f64,
    /// How far from the result its centre then lies, mm, if that is more than a voxel and it agrees better there.
    pub displaced_mm: Option<f64>,
}

impl Octants {
    /// Returns them as segments of the fixed image: beyond the foreground, each goes on to the border.
    pub fn segments(&self, fixed: &Volume) -> Segments {
        let grid = &fixed.geometry;
        let middle = grid.world_to_index().transform_point3(self.middle);
        let numbers = (0..grid.voxels()).map(|n| octant(grid, n, middle) as u8).collect();
        Segments { numbers, maps: self.all.iter().map(|octant| octant.map).collect() }
    }
}

impl Pair {
    /// Finds where each octant of two volumes agrees best, near where `to` or the pose of another octant places it.
    /// Maps take fixed points to moving points, LPS mm. Returns `None` for 2-D images.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped)
    pub fn octants(&self, to: &DAffine3) -> Result<Option<Octants>> {
        if self.fixed().geometry.is_flat() {
            return Ok(None);
        }
        let (middle, octants) = self.divided(to);
        let samples: Vec<_> = octants.iter().map(|octant| Samples::among(octant, &self.0, to, SAMPLES)).collect();
        let start: Vec<Pose> = samples.iter().map(|samples| (*to, samples.information(to))).collect();
        let poses = optimised(&samples, start.clone())?;
        let found = poses.iter().zip(&start).zip(samples.iter().zip(octants));
        let found = found.map(|((pose, start), (samples, voxels))| {
            let middle = samples.middle;
            let mm = pose.0.transform_point3(middle).distance(to.transform_point3(middle));
            let is_displaced = is_better(pose, start) && mm > samples.grid.spacing_range()[1];
            let (map, information) = *pose;
            Octant { voxels, middle, map, information, displaced_mm: is_displaced.then_some(mm) }
        });
        Ok(Some(Octants { middle, all: found.collect() }))
    }

    /// Returns the mutual information of an octant through a map of fixed points to moving points, LPS mm: nats beyond
    /// chance.
    pub fn information_through(&self, octant: &Octant, map: impl Fn(DVec3) -> DVec3) -> f64 {
        Samples::among(&octant.voxels, &self.0, &octant.map, SAMPLES).information_through(map)
    }

    /// Divides the fixed image's foreground by the centre of what is foreground in both images at the map `to`. Returns
    /// the centre, LPS mm in the fixed image, and the voxels of the octants.
    fn divided(&self, to: &DAffine3) -> (DVec3, Vec<Vec<usize>>) {
        let grid = &self.fixed().geometry;
        let common = Samples::of(&self.0, to, SAMPLES).middle;
        let middle = grid.world_to_index().transform_point3(common);
        let mut octants = vec![Vec::new(); 8];
        for n in foreground_voxels(self.fixed()) {
            octants[octant(grid, n, middle)].push(n);
        }
        (common, octants)
    }
}

/// Returns the number of the octant about `middle`, in voxels, in which voxel `n` of a grid lies.
fn octant(grid: &Geometry, n: usize, middle: DVec3) -> usize {
    DVec3::from_array(grid.index_of(n).map(|i| i as f64)).cmpgt(middle).bitmask() as usize
}
