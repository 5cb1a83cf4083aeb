//! Finds the optima of the mutual information of two images around a pose, and compares that of the pose with the best
//! other one.

use super::part_poses::Pose;
use super::poses::{LITTLE_INFORMATION, OPTIMUM_LEAD, Pair, directions};
use super::rotations::rotations;
use super::samples::{SAMPLES, Samples};
use crate::Result;
use crate::transform::Dimension;
use glam::{DAffine3, DVec3};
use rayon::prelude::*;
use std::iter;

/// How far poses to start from are shifted, as fractions of the side. Rotated ones are also shifted by the first of
/// these along the axes.
const SHIFTS: [f64; 3] = [0.12, 0.2, 0.3];
/// Samples by which poses are compared, and how many of these poses are optimised: in 2-D, and in 3-D.
const SCAN: usize = 1000;
const OPTIMISED: usize = 16;
const OPTIMISED_IN_SPACE: usize = 32;
/// First step and resolution of an optimisation, voxels; and those with which an optimum is refined.
const STEPS: (f64, f64) = (2.0, 0.5);
const FINE_STEPS: (f64, f64) = (1.0, 0.1);
/// Optima less than half the shortest shift apart are the same one.
const SAME: f64 = 0.5 * SHIFTS[0];
/// The least that other optima count as having, nats: one stands only if it has [`LITTLE_INFORMATION`]. Of thousands of
/// poses, the best one leads the others by chance where there is hardly anything but noise.
const LITTLE_ELSEWHERE: f64 = LITTLE_INFORMATION / OPTIMUM_LEAD;

/// Two images around a pose.
pub struct Optima<'a> {
    /// A map of fixed points to moving points, LPS mm.
    to: DAffine3,
    pair: &'a Pair,
    samples: Samples<'a>,
    /// The length of which shifts and distances are fractions, mm.
    side: f64,
}

impl<'a> Optima<'a> {
    /// Takes samples of two images around `to`, a map of fixed points to moving points, LPS mm. `side`, mm, is how large
    /// they are.
    pub fn around(to: &DAffine3, pair: &'a Pair, side: f64) -> Self {
        Self { to: *to, pair, samples: Samples::of(&pair.0, to, SAMPLES).by_overlap(), side }
    }

    /// Does the same for images that are as large as the fixed image's foreground.
    pub fn of_foreground(to: &DAffine3, pair: &'a Pair) -> Self {
        let around = Self::around(to, pair, 0.0);
        Self { side: around.samples.side(), ..around }
    }

    /// Returns the mutual information at the pose, nats per sample.
    pub fn information(&self) -> f64 {
        self.samples.information(&self.to)
    }

    /// Returns the affine map to which an optimisation from the pose leads.
    pub fn refined(&self) -> Result<DAffine3> {
        self.samples.refined(self.to, FINE_STEPS).map(|(map, _)| map)
    }

    /// Returns the optima to which rigid optimisations lead: from poses around, in any orientation, and from `rivals`.
    pub fn found(&self, rivals: &[DAffine3]) -> Result<Vec<Pose>> {
        let mut starts = [&[self.to], rivals].concat();
        match Dimension::of(self.samples.grid) {
            Dimension::Two => starts.extend(self.best([self.shifted(), self.rotated(2)].concat(), OPTIMISED)),
            Dimension::Three => {
                starts.extend(self.shifted());
                starts.extend(self.best(self.rotated(3), OPTIMISED_IN_SPACE));
            }
        }
        starts.into_par_iter().map(|start| self.samples.optimised(start, STEPS)).collect()
    }

    /// Returns shifted poses.
    fn shifted(&self) -> Vec<DAffine3> {
        let shift = |axis: DVec3| move |part: f64| self.by(part * axis, self.to);
        directions(self.samples.grid, 0).into_iter().flat_map(|axis| SHIFTS.map(shift(axis))).collect()
    }

    /// Returns poses that are rotated about the centre of the common foreground in all directions, and shifted along
    /// some axes.
    fn rotated(&self, axes: usize) -> Vec<DAffine3> {
        let (middle, dimension) = (self.samples.middle, Dimension::of(self.samples.grid));
        let around = |turn| self.to * DAffine3::from_mat3_translation(turn, middle - turn * middle);
        let shifts = DVec3::AXES.into_iter().take(axes).flat_map(|axis| [axis, -axis]).map(|axis| SHIFTS[0] * axis);
        let shifts: Vec<_> = iter::once(DVec3::ZERO).chain(shifts).collect();
        let turned = rotations(dimension).into_iter().map(around);
        turned.flat_map(|map| shifts.iter().map(move |shift| self.by(*shift, map))).collect()
    }

    /// Shifts a map by a fraction of the side.
    fn by(&self, part: DVec3, to: DAffine3) -> DAffine3 {
        DAffine3::from_translation(self.side * part) * to
    }

    /// Returns the poses at which the images agree best.
    fn best(&self, poses: Vec<DAffine3>, number: usize) -> Vec<DAffine3> {
        let samples = Samples::of(&self.pair.0, &self.to, SCAN).by_overlap();
        let mut ranked: Vec<_> = poses.into_par_iter().map(|map| (map, samples.information(&map))).collect();
        ranked.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        ranked.into_iter().take(number).map(|(map, _)| map).collect()
    }

    /// Returns the information of the optimum next to the pose as a multiple of that of the best other one of `optima`.
    /// If the other has more than the pose itself, the information of the pose is compared instead.
    pub fn lead(&self, optima: &[Pose]) -> Result<f64> {
        let (own, most) = self.samples.optimised(self.to, STEPS)?;
        let is_other = |(map, _): &&Pose| self.samples.distance(map, &own) > SAME * self.side;
        let others =
            optima.iter().filter(is_other).map(|(_, information)| *information).fold(LITTLE_ELSEWHERE, f64::max);
        let here = self.information();
        Ok(if here > others { most } else { here } / others)
    }
}
