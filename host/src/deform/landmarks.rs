//! Pairs of landmarks that guide the flow.

use super::middle::Middle;
use crate::backend::{FlowLandmark, KnownDisplacement};
use crate::doubt::{Check, Doubt};
use crate::error::{Message, Setting, message};
use crate::image::Geometry;
use crate::transform::Field;
use crate::tre::Tre;
use crate::{Error, Result};
use glam::{DAffine3, DVec3};
use serde::Serialize;
use std::collections::BTreeMap;

/// The median error of the landmarks, in their standard deviations, above which a doubt is raised.
const FAR: f64 = 3.0;

/// Points of the fixed image and the points of the moving image that show the same anatomy, in the same order, LPS mm.
#[derive(Debug, Clone, PartialEq)]
pub struct Landmarks {
    pub fixed: Vec<DVec3>,
    pub moving: Vec<DVec3>,
    /// How precisely they were set: the standard deviation along each axis, mm; `None` for the spacing of the finest
    /// level. Landmarks that were set more precisely pull more strongly.
    pub error_mm: Option<f64>,
}

/// The distances between landmarks and where they should be.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LandmarkErrors {
    pub points: usize,
    /// The standard deviation with which they were set, mm.
    pub error_mm: f64,
    /// As the linear start maps them.
    pub before: Tre,
    /// As the field maps them.
    pub after: Tre,
}

impl Landmarks {
    /// Refuses landmarks that are not in pairs, or that lie outside the images.
    ///
    /// # Errors
    /// [`Error::Option`]
    pub(super) fn check(&self, grids: [&Geometry; 2]) -> Result<()> {
        let sides = [(Setting::FixedPoints, &self.fixed, "fixed"), (Setting::MovingPoints, &self.moving, "moving")];
        let [fixed, moving] = sides.map(|(_, points, _)| points.len());
        if fixed != moving || fixed == 0 {
            let text = message!("there are {fixed} fixed and {moving} moving landmarks"; "give as many of each");
            return Err(Error::option(Setting::MovingPoints, text));
        }
        if self.error_mm.is_some_and(|mm| !(mm.is_finite() && mm > 0.0)) {
            return Err(Error::option(Setting::PointsError, "the error of landmarks is a number of mm, more than 0"));
        }
        for ((setting, points, which), grid) in sides.into_iter().zip(grids) {
            if let Some(number) = points.iter().position(|&point| voxel(grid, point).is_none()) {
                return Err(Error::option(setting, outside(number, points[number], which)));
            }
        }
        Ok(())
    }

    /// Returns the landmarks as displacements of voxels for flows on a grid: for a single flow from the fixed image,
    /// where `start` takes points of the fixed to points of the moving image, LPS mm, or in symmetric mode for two
    /// flows from the middle. Landmarks outside the grid are left out. `finest_mm` is the spacing of the finest level.
    pub(super) fn on(
        &self,
        grid: &Geometry,
        finest_mm: f64,
        start: &DAffine3,
        middle: Option<&Middle>,
    ) -> [Vec<FlowLandmark>; 2] {
        let precision = self.error_mm.unwrap_or(finest_mm).powi(-2);
        let pairs = || self.fixed.iter().zip(&self.moving);
        let Some(middle) = middle else {
            let back = start.inverse();
            let pairs = pairs().map(|(&fixed, moving)| (fixed, back.transform_point3(*moving)));
            return [flow_landmarks(grid, precision, pairs), Vec::new()];
        };
        let back = middle.to.map(|to| to.inverse());
        // The halves of the start take both points to the middle, and each flow makes half of the way between them.
        [0, 1].map(|side| {
            let pairs = pairs().map(|(&fixed, &moving)| {
                let points = [back[0].transform_point3(fixed), back[1].transform_point3(moving)];
                (points[0].midpoint(points[1]), points[side])
            });
            flow_landmarks(grid, precision, pairs)
        })
    }

    /// Returns the distances between the landmarks and where they should be, before and after a deformation.
    pub(super) fn errors(&self, start: &DAffine3, field: &Field, finest_mm: f64) -> Option<LandmarkErrors> {
        let map = field.map();
        Some(LandmarkErrors {
            points: self.fixed.len(),
            error_mm: self.error_mm.unwrap_or(finest_mm),
            before: Tre::of(|point| start.transform_point3(point), &self.fixed, &self.moving)?,
            after: Tre::of(|point| map.transform_point3(point), &self.fixed, &self.moving)?,
        })
    }
}

impl LandmarkErrors {
    /// Returns a doubt if the field misses its landmarks.
    pub(super) fn doubt(&self) -> Option<Doubt> {
        let Self { error_mm, after: Tre { median_mm, .. }, .. } = self;
        let text = || {
            message!(
                "half of the landmarks end {median_mm:.1} mm or more from their targets: check that they are pairs, or use a smaller ",
                SmoothMm
            )
        };
        (*median_mm > FAR * error_mm).then(|| Doubt::slight(Check::Landmarks, text()))
    }
}

/// Converts pairs of points, LPS mm, to displacements of the voxels nearest to the first point of each. Landmarks that
/// share a voxel are averaged, and their precisions are added.
fn flow_landmarks(grid: &Geometry, precision: f64, pairs: impl Iterator<Item = (DVec3, DVec3)>) -> Vec<FlowLandmark> {
    let to_index = grid.world_to_index();
    let mut voxels = BTreeMap::<u32, (DVec3, f64)>::new();
    for (from, to) in pairs {
        let Some(number) = voxel(grid, from) else { continue };
        let (sum, count) = voxels.entry(number).or_default();
        *sum += to_index.transform_vector3(to - from);
        *count += 1.0;
    }
    let landmark = |(voxel, (sum, count)): (u32, (DVec3, f64))| FlowLandmark {
        voxel,
        known: KnownDisplacement {
            displacement: (sum / count).as_vec3().to_array(),
            precision: (count * precision) as f32,
        },
    };
    voxels.into_iter().map(landmark).collect()
}

/// Returns the index of the voxel nearest to a point, LPS mm, or `None` outside the grid.
fn voxel(grid: &Geometry, point: DVec3) -> Option<u32> {
    let index = grid.world_to_index().transform_point3(point).round().to_array();
    let [width, height, _] = grid.size;
    let inside = index.iter().zip(grid.size).all(|(&index, size)| index >= 0.0 && index < size as f64);
    let [x, y, z] = index.map(|index| index as usize);
    inside.then(|| (x + width * (y + height * z)) as u32)
}

fn outside(number: usize, point: DVec3, which: &str) -> Message {
    let (number, [x, y, z]) = (number + 1, point.to_array());
    message!("landmark {number} at {x:.1}, {y:.1}, {z:.1} mm (LPS) lies outside the {which} image"; "check ", Frame)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn landmarks_of_one_voxel_are_one_and_those_beyond_the_grid_are_none() {
        let grid = Geometry::axis_aligned([4, 3, 2], DVec3::new(2.0, 1.0, 5.0), DVec3::splat(10.0));
        let at = |x: f64, to: f64| (DVec3::new(10.0 + x, 11.0, 15.0), DVec3::new(10.0 + to, 11.0, 10.0));
        let pairs = [at(4.0, 6.0), at(4.9, 8.9), at(-1.1, 0.0), at(0.0, 0.0)];
        let found = flow_landmarks(&grid, 0.25, pairs.into_iter());
        let landmark = |voxel, displacement, precision| FlowLandmark {
            voxel,
            known: KnownDisplacement { displacement, precision },
        };
        assert_eq!(found, [landmark(16, [0.0, 0.0, -1.0], 0.25), landmark(18, [1.5, 0.0, -1.0], 0.5)]);
    }

    #[test]
    fn what_is_no_pair_or_lies_outside_is_refused() {
        let grid = Geometry::axis_aligned([4, 3, 2], DVec3::ONE, DVec3::ZERO);
        let refusal = |fixed: &[DVec3], moving: &[DVec3], error_mm| {
            let landmarks = Landmarks { fixed: fixed.to_vec(), moving: moving.to_vec(), error_mm };
            landmarks.check([&grid; 2]).map_err(|error| error.to_string()).err().unwrap_or_default()
        };
        let (inside, outside) = (DVec3::ONE, DVec3::new(-1.0, 1.0, 1.0));
        assert_eq!(refusal(&[inside], &[inside], Some(0.5)), "");
        assert!(refusal(&[inside], &[], None).contains("1 fixed and 0 moving"));
        assert!(refusal(&[], &[], None).contains("0 fixed and 0 moving"));
        assert!(refusal(&[inside], &[inside], Some(0.0)).contains("more than 0"));
        let refusal = refusal(&[inside, inside], &[inside, outside], None);
        assert!(refusal.contains("landmark 2 at -1.0, 1.0, 1.0 mm") && refusal.contains("moving"), "{refusal}");
    }
}
