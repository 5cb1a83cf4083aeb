//! The search for large displacements, which a level can begin with. Over large motion, climbing alone would stop on
//! the way, at structures that look alike.

use super::course::Course;
use super::middle::Middle;
use super::searched::{Displacements, Searched};
use super::smallest;
use crate::Result;
use crate::backend::Search;
use crate::image::{Geometry, StoredImage, voxel, voxel_map};
use glam::{DAffine3, DVec3};
use gpu::math::{flow, interpolate};
use gpu::params::Affine;
use rayon::prelude::*;
use std::sync::Arc;

/// The largest displacement that is searched for, in voxels of the level.
const REACH: f64 = 10.0;

/// The largest displacement that is searched for on the finer level, beyond those that were found, in its voxels: half
/// of the cell for which they were found, and one more.
const FINER_REACH: f64 = 3.0;

/// The largest displacement along any axis, as a fraction of the grid.
const PART: f64 = 0.2;

/// Voxels along each side of a cell, unless that makes more than [`COSTS`] costs.
const SIDE: usize = 2;

/// The most costs that are kept, one for each cell and displacement. If there are more, cells are made larger, up to 8
/// voxels a side.
const COSTS: usize = 1 << 28;

impl Course<'_> {
    /// Searches on the last of the coarse levels, from the start. In symmetric mode, the search runs both ways on the
    /// grid in the middle, and the result is the half of the displacement that the second flow makes; exchanged images
    /// find its opposite.
    pub fn searched(&self) -> Result<Searched> {
        let level = self.last_coarse();
        let Some(middle) = self.middle else {
            return Ok(Searched::new(self.search_level(level, |_| [0.0; 3], REACH)?, level));
        };
        let (grid, images) = (self.grid(level), &self.stored[level][0]);
        let grids = self.levels[level].grids();
        let [fixed, moving] = [0, 1].map(|side: usize| {
            moved(&images[side], grid, &voxel_map(grid, grids[side], &middle.to[side]), |_| [0.0; 3])
        });
        let there = self.displacements(grid, [&fixed, &moving], REACH)?;
        let back = self.displacements(grid, [&moving, &fixed], REACH)?;
        let half = |(there, back): (f32, f32)| 0.25 * (there - back);
        let planes = there.planes.into_iter().zip(back.planes).map(half).collect();
        Ok(Searched::new(Displacements { planes, ..there }, level))
    }

    /// Returns whether the search reaches another start: whether its reach along every axis is at least the mean
    /// distance between where both starts take the corners of the grid.
    pub fn reaches(&self, other: &DAffine3) -> bool {
        let reach = self.reach(self.grid(self.last_coarse()), REACH).map(|n| n as f64);
        self.start_distance_voxels(other).cmple(DVec3::from_array(reach)).all()
    }

    /// Returns whether another start takes the corners of a volume's grid more than a voxel away along any axis, on
    /// average.
    pub fn start_differs_from(&self, other: &DAffine3) -> bool {
        !self.grid(0).is_flat() && self.start_distance_voxels(other).max_element() > 1.0
    }

    /// Returns how far apart the start and another one take the corners of the grid along each axis, on average, in
    /// voxels of the level that is searched. In symmetric mode, it is the mean of both ways, so that it is the same for
    /// exchanged images.
    fn start_distance_voxels(&self, other: &DAffine3) -> DVec3 {
        let grid = self.grid(self.last_coarse());
        let to_voxels = grid.world_to_index();
        let [there, back] = match self.middle {
            None => [(self.start, *other); 2],
            Some(Middle { to: [fixed, moving], .. }) => {
                [(*moving, *other * *fixed), (*fixed, other.inverse() * *moving)]
            }
        };
        let away = |(a, b): &(DAffine3, DAffine3), p: DVec3| {
            to_voxels.transform_vector3(b.transform_point3(p) - a.transform_point3(p)).abs()
        };
        let mean = |way| grid.corners().map(|p| away(way, p)).iter().sum::<DVec3>() / 8.0;
        0.5 * (mean(&there) + mean(&back))
    }

    /// Searches on the next finer level, around the displacements that were found for a single flow.
    pub fn searched_from(&self, found: &Searched) -> Result<Searched> {
        let level = found.level + 1;
        let way = found.displacements.on_positions(self.grid(level));
        let more = self.search_level(level, |voxel| way(voxel.map(|n| n as f32)), FINER_REACH)?;
        let cells = more.grid;
        let (way, number) = (found.displacements.on_positions(&cells), cells.voxels());
        let whole = |cell: usize| {
            let (at, more) =
                (voxel(cells.size.map(|n| n as u32), cell), [0, 1, 2].map(|axis| more.planes[axis * number + cell]));
            let before = way([0, 1, 2].map(|axis: usize| at[axis] as f32 + more[axis]));
            [0, 1, 2].map(|axis: usize| more[axis] + before[axis])
        };
        let whole: Vec<[f32; 3]> = (0..number).into_par_iter().map(whole).collect();
        let displacements = Arc::new(Displacements::new(&whole, cells));
        Ok(Searched { displacements, level, reference: found.reference.clone() })
    }

    /// Searches a level for displacements of up to `most` voxels that a single flow makes before those of `way` and
    /// before the start.
    fn search_level(
        &self,
        level: usize,
        way: impl Fn([u32; 3]) -> [f32; 3] + Sync,
        most: f64,
    ) -> Result<Displacements> {
        let (grid, [fixed, moving]) = (self.grid(level), &self.stored[level][0]);
        let map = voxel_map(grid, self.levels[level].grids()[1], &self.start);
        self.displacements(grid, [fixed.voxels(), &moved(moving, grid, &map, way)], most)
    }

    /// Returns the largest displacement that is searched for along each axis, in voxels: `most` times the smallest
    /// spacing, up to [`PART`] of the grid.
    fn reach(&self, grid: &Geometry, most: f64) -> [usize; 3] {
        [0, 1, 2].map(|axis: usize| {
            let voxels = (most * smallest(grid) / grid.spacing[axis]).round();
            voxels.min((PART * grid.size[axis] as f64).floor()) as usize
        })
    }

    /// Searches for displacements of up to `most` voxels that take the first image to the second, which is on the same
    /// grid.
    fn displacements(&self, grid: &Geometry, images: [&[u16]; 2], most: f64) -> Result<Displacements> {
        let spacing = grid.spacing.to_array().map(|spacing| (spacing / smallest(grid)) as f32);
        let mut search = Search { images, size: grid.size, spacing, reach: self.reach(grid, most), side: SIDE };
        while search.costs() > COSTS && search.side < 8 {
            search.side += 1;
        }
        Ok(Displacements { planes: self.backend.search(&search)?, grid: cells(grid, &search) })
    }
}

/// Returns the stored values of the moving image where the displacements `way` and then `map`, both in voxels, take the
/// voxels of a grid. Beyond its border, the image continues with the values of the border.
fn moved(moving: &StoredImage, grid: &Geometry, map: &Affine, way: impl Fn([u32; 3]) -> [f32; 3] + Sync) -> Vec<u16> {
    let [size, moving_size] = [grid.size, moving.size].map(|size| size.map(|n| n as u32));
    let last = interpolate::last(moving_size);
    let value = |number: usize| {
        let voxel = voxel(size, number);
        let at = interpolate::clamp(flow::position(map, voxel, way(voxel)), last);
        let value = |i: usize| f32::from(moving.values[i]);
        // SAFETY: the closure checks its index; a clamped position is inside.
        let value = unsafe { interpolate::at(value, moving_size, at, interpolate::Interpolator::Linear) };
        (value + 0.5) as u16
    };
    (0..grid.voxels()).into_par_iter().map(value).collect()
}

/// Returns the grid of the cells' centres.
fn cells(grid: &Geometry, search: &Search) -> Geometry {
    let side = search.side as f64;
    let first = grid.index_to_world().transform_point3(DVec3::splat(0.5 * (side - 1.0)));
    Geometry { size: search.cells(), spacing: grid.spacing * side, origin: first, direction: grid.direction }
}
