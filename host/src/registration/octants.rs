//! Finds where each octant of two volumes agrees best by itself.
//!
//! A linear transform follows the larger part of the body, and agrees clearly whatever the smaller part does, such as a
//! head that was turned over still shoulders.

use super::part_poses::{Pose, SAMPLES, is_better, optimised};
use super::poses::Pair;
use super::samples::{Samples, foreground_voxels};
use super::segments::Segments;
use crate::transform::{Kind, nearest_linear};
use crate::{Geometry, Result, Volume};
use glam::{DAffine3, DVec3};
use rayon::prelude::*;

/// The fixed image's foreground, divided into octants, and where local contrast in each of them agrees best.
pub struct Octants {
    /// The centre of what is foreground in both images, LPS mm in the fixed image. It divides the octants along the axes
    /// of the fixed image's grid.
    pub middle: DVec3,
    /// Bit n of an octant's number is set if it lies beyond the centre along axis n.
    pub all: Vec<Octant>,
    /// Whether some moved so far that they were only found by a search of all poses around.
    pub far: bool,
    /// The maps of octants before they [followed](Pair::follow) a field.
    pub former_maps: Vec<DAffine3>,
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
    /// Returns whether some of them agree better elsewhere.
    pub fn are_displaced(&self) -> bool {
        self.all.iter().any(|octant| octant.displaced_mm.is_some())
    }

    /// Returns them as segments of the fixed image: beyond the foreground, each goes on to the border. The former maps are
    /// further segments, still empty.
    pub fn segments(&self, fixed: &Volume) -> Segments {
        let grid = &fixed.geometry;
        let middle = grid.world_to_index().transform_point3(self.middle);
        let numbers = (0..grid.voxels()).map(|n| octant(grid, n, middle) as u8).collect();
        let maps = self.all.iter().map(|octant| octant.map).chain(self.former_maps.iter().copied()).collect();
        Segments { numbers, maps }
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
        let mut poses = optimised(&samples, start.clone())?;
        let far = self.search_parts(&octants, &samples, to, &mut poses)?;
        let found = poses.iter().zip(&start).zip(samples.iter().zip(octants));
        let found = found.map(|((pose, start), (samples, voxels))| {
            let middle = samples.middle;
            let mm = pose.0.transform_point3(middle).distance(to.transform_point3(middle));
            let is_displaced = is_better(pose, start) && mm > samples.grid.spacing_range()[1];
            let (map, information) = *pose;
            Octant { voxels, middle, map, information, displaced_mm: is_displaced.then_some(mm) }
        });
        Ok(Some(Octants { middle, all: found.collect(), far, former_maps: Vec::new() }))
    }

    /// Moves each octant by the rigid motion after `to` that is nearest to a field there, if it agrees clearly better
    /// then: an octant that moved far is not found from `to`, but a field may have come near. `map` takes fixed points to
    /// moving points, as `to` does, LPS mm. Returns whether there is such an octant.
    pub fn follow(&self, octants: &mut Octants, to: &DAffine3, map: impl Fn(DVec3) -> DVec3 + Sync) -> bool {
        let back = to.inverse();
        let follow = |octant: &mut Octant| {
            let samples = Samples::among(&octant.voxels, &self.0, to, SAMPLES);
            let pairs: Vec<_> = samples.points().map(|point| (point, back.transform_point3(map(point)))).collect();
            let map = *to * nearest_linear(Kind::Rigid, &pairs, false)?;
            let (there, before) = ((map, samples.information(&map)), (octant.map, octant.information));
            is_better(&there, &before).then(|| {
                (octant.map, octant.information) = there;
                before.0
            })
        };
        let former: Vec<_> = octants.all.par_iter_mut().filter_map(follow).collect();
        octants.former_maps.extend(&former);
        !former.is_empty()
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

#[cfg(test)]
mod tests {
    use super::super::segments::tests::turned_head;
    use super::*;

    /// Returns how far an octant's centre is at most from where it moved, mm.
    fn farthest(octants: &Octants, moved: impl Fn(DVec3) -> DVec3) -> f64 {
        let off = |octant: &Octant| octant.map.transform_point3(octant.middle).distance(moved(octant.middle));
        octants.all.iter().map(off).fold(0.0, f64::max)
    }

    #[test]
    fn octants_that_turned_far_are_found() {
        for (angle, far) in [(0.1, false), (0.7, true)] {
            let (pair, moved) = turned_head(angle, 68.0);
            let octants = pair.octants(&DAffine3::IDENTITY).unwrap().unwrap();
            let off = farthest(&octants, moved);
            assert!(off < 2.0 && octants.far == far, "{angle}: {off:.1} mm off");
        }
    }

    #[test]
    fn octants_follow_a_field_that_comes_near() {
        let (angle, neck) = (0.7, 68.0);
        let (pair, moved) = turned_head(angle, neck);
        let start = DAffine3::IDENTITY;
        let mut octants = pair.octants(&start).unwrap().unwrap();
        for octant in &mut octants.all {
            octant.map = start;
            octant.information = pair.information_through(octant, |point| point);
        }
        assert!(!pair.follow(&mut octants, &start, |point| point), "they follow a field of 0");
        let (_, nearly) = turned_head(angle + 0.05, neck);
        let near = |point: DVec3| {
            nearly(point) + DVec3::new(libm::sin(0.1 * point.y), libm::sin(0.1 * point.z), libm::sin(0.1 * point.x))
        };
        assert!(pair.follow(&mut octants, &start, near), "they do not follow");
        let off = farthest(&octants, moved);
        assert!(off < 2.0, "{off:.2} mm off");
    }
}
