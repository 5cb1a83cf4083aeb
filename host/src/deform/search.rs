//! Where a flow begins where motion is large: displacements that are searched for, where climbing would be caught on the way.

use super::course::Course;
use super::middle::Middle;
use super::searched::Searched;
use super::smallest;
use crate::Result;
use crate::backend::Search;
use crate::image::{Geometry, StoredImage, voxel, voxel_map};
use glam::{DAffine3, DVec3};
use gpu::math::{flow, interpolate};
use gpu::params::Affine;
use rayon::prelude::*;

/// Displacements reach so many voxels of the level.
const REACH: f64 = 10.0;

/// Beyond those that were found, they reach so many voxels of the finer level: half of the cell they were found for, and one more.
const FINER_REACH: f64 = 3.0;

/// They reach no further than this part of the grid along any axis.
const PART: f64 = 0.2;

/// Voxels along each side of a cell, where there are not too many.
const SIDE: usize = 2;

/// Costs that are kept at most: there are more voxels to a cell instead.
const COSTS: usize = 1 << 28;

impl Course<'_> {
    /// Searches on the last of the coarse levels, from the start. Each of two flows that meet goes half of the way, which is searched for from
    /// both sides, so that exchanged images find its opposite.
    pub fn searched(&self) -> Result<Searched> {
        let level = self.coarse() - 1;
        let Some(middle) = self.middle else {
            let (planes, grid) = self.more(level, |_| [0.0; 3], REACH)?;
            return Ok(Searched { planes, grid, level });
        };
        let (grid, images) = (self.grid(level), &self.stored[level][0]);
        let grids = self.levels[level].grids();
        let [fixed, moving] = [0, 1].map(|side: usize| {
            moved(&images[side], grid, &voxel_map(grid, grids[side], &middle.to[side]), |_| [0.0; 3])
        });
        let (there, cells) = self.displacements(grid, [&fixed, &moving], REACH)?;
        let (back, _) = self.displacements(grid, [&moving, &fixed], REACH)?;
        let half = |(there, back): (f32, f32)| 0.25 * (there - back);
        Ok(Searched { planes: there.into_iter().zip(back).map(half).collect(), grid: cells, level })
    }

    /// Whether displacements that are searched for reach where another start takes the corners of the grid, on average.
    pub fn reaches(&self, other: &DAffine3) -> bool {
        let reach = self.reach(self.grid(self.coarse() - 1), REACH).map(|n| n as f64);
        self.apart(other).cmple(DVec3::from_array(reach)).all()
    }

    /// Whether another start takes the corners of a volume's grid more than a voxel away, on average.
    pub fn is_away(&self, other: &DAffine3) -> bool {
        !self.grid(0).is_flat() && self.apart(other).max_element() > 1.0
    }

    /// How far away another start takes the corners of the grid on average, in voxels of the level that is searched. Where two flows meet, it is
    /// the mean of both ways, so that it is the same for exchanged images.
    fn apart(&self, other: &DAffine3) -> DVec3 {
        let grid = self.grid(self.coarse() - 1);
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

    /// Searches on the next finer level, from where one flow's displacements that were found lead.
    pub fn searched_from(&self, found: &Searched) -> Result<Searched> {
        let level = found.level + 1;
        let way = found.on_positions(self.grid(level));
        let (more, cells) = self.more(level, |voxel| way(voxel.map(|n| n as f32)), FINER_REACH)?;
        let (way, number) = (found.on_positions(&cells), cells.voxels());
        let whole = |cell: usize| {
            let (at, more) =
                (voxel(cells.size.map(|n| n as u32), cell), [0, 1, 2].map(|axis| more[axis * number + cell]));
            let before = way([0, 1, 2].map(|axis: usize| at[axis] as f32 + more[axis]));
            [0, 1, 2].map(|axis: usize| more[axis] + before[axis])
        };
        let whole: Vec<[f32; 3]> = (0..number).into_par_iter().map(whole).collect();
        let planes = (0..3).flat_map(|axis: usize| whole.iter().map(move |way| way[axis])).collect();
        Ok(Searched { planes, grid: cells, level })
    }

    /// Displacements of one flow's cells on a level, up to so many voxels, that come before those of `way` and the start.
    fn more(&self, level: usize, way: impl Fn([u32; 3]) -> [f32; 3] + Sync, most: f64) -> Result<(Vec<f32>, Geometry)> {
        let (grid, [fixed, moving]) = (self.grid(level), &self.stored[level][0]);
        let map = voxel_map(grid, self.levels[level].grids()[1], &self.start);
        self.displacements(grid, [fixed.voxels(), &moved(moving, grid, &map, way)], most)
    }

    /// How far displacements up to so many voxels reach along each axis.
    fn reach(&self, grid: &Geometry, most: f64) -> [usize; 3] {
        [0, 1, 2].map(|axis: usize| {
            let voxels = (most * smallest(grid) / grid.spacing[axis]).round();
            voxels.min((PART * grid.size[axis] as f64).floor()) as usize
        })
    }

    /// Displacements up to so many voxels that take one image to the other one on the same grid, of cells.
    fn displacements(&self, grid: &Geometry, images: [&[u16]; 2], most: f64) -> Result<(Vec<f32>, Geometry)> {
        let spacing = grid.spacing.to_array().map(|spacing| (spacing / smallest(grid)) as f32);
        let mut search = Search { images, size: grid.size, spacing, reach: self.reach(grid, most), side: SIDE };
        while search.costs() > COSTS && search.side < 8 {
            search.side += 1;
        }
        Ok((self.backend.search(&search)?, cells(grid, &search)))
    }
}

/// The stored values of the moving image where displacements and then the map take the voxels of a grid; beyond its border those of the
/// border.
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

/// The grid of the cells.
fn cells(grid: &Geometry, search: &Search) -> Geometry {
    let side = search.side as f64;
    let first = grid.index_to_world().transform_point3(DVec3::splat(0.5 * (side - 1.0)));
    Geometry { size: search.cells(), spacing: grid.spacing * side, origin: first, direction: grid.direction }
}
