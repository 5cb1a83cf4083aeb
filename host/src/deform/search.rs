//! Where a flow begins where motion is large: displacements that are searched for, where climbing would be caught on the way.

use super::course::Course;
use super::searched::Searched;
use super::smallest;
use crate::Result;
use crate::backend::Search;
use crate::image::{Geometry, StoredImage, voxel, voxel_map};
use glam::DVec3;
use gpu::math::{flow, interpolate};
use gpu::params::Affine;
use rayon::prelude::*;

/// Displacements reach so many voxels of the level.
const REACH: f64 = 10.0;

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
        let number = self.coarse() - 1;
        let (grid, [fixed, moving]) = (self.grid(number), &self.stored[number][0]);
        let [fixed_grid, moving_grid] = self.levels[number].grids();
        let Some(middle) = self.middle else {
            let moved = moved(moving, grid, &voxel_map(grid, moving_grid, &self.start));
            let (planes, grid) = self.displacements(grid, [fixed.voxels(), &moved])?;
            return Ok(Searched { planes, grid });
        };
        let fixed = moved(fixed, grid, &voxel_map(grid, fixed_grid, &middle.to[0]));
        let moving = moved(moving, grid, &voxel_map(grid, moving_grid, &middle.to[1]));
        let (there, cells) = self.displacements(grid, [&fixed, &moving])?;
        let (back, _) = self.displacements(grid, [&moving, &fixed])?;
        let half = |(there, back): (f32, f32)| 0.25 * (there - back);
        Ok(Searched { planes: there.into_iter().zip(back).map(half).collect(), grid: cells })
    }

    /// Displacements that take one image to the other one on the same grid, of cells.
    fn displacements(&self, grid: &Geometry, images: [&[u16]; 2]) -> Result<(Vec<f32>, Geometry)> {
        let mm = smallest(grid);
        let reach = [0, 1, 2].map(|axis: usize| {
            let voxels = (REACH * mm / grid.spacing[axis]).round();
            voxels.min((PART * grid.size[axis] as f64).floor()) as usize
        });
        let spacing = grid.spacing.to_array().map(|spacing| (spacing / mm) as f32);
        let mut search = Search { images, size: grid.size, spacing, reach, side: SIDE };
        while search.costs() > COSTS && search.side < 8 {
            search.side += 1;
        }
        Ok((self.backend.search(&search)?, cells(grid, &search)))
    }
}

/// The stored values of the moving image where the map takes the voxels of a grid; beyond its border those of the border.
fn moved(moving: &StoredImage, grid: &Geometry, map: &Affine) -> Vec<u16> {
    let [size, moving_size] = [grid.size, moving.size].map(|size| size.map(|n| n as u32));
    let last = interpolate::last(moving_size);
    let value = |number: usize| {
        let at = interpolate::clamp(flow::position(map, voxel(size, number), [0.0; 3]), last);
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
