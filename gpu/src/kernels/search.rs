//! Discrete search for displacements, with the formulas of [`crate::math::search`]. [`search_descriptors`] computes the
//! descriptors of both images, and [`search_costs`] the costs of all displacements of every cell. Then
//! [`search_couple`] chooses displacements, in turn with smoothing. [`search_consistent`] combines the results of both
//! directions.
//!
//! Thread blocks are ([`WARP`], rows), and the grid has any number of them along x.

use super::WARP;
use super::flow::{each_voxel, read, write};
use crate::math::{field, search};
use crate::params::{SearchConsistent, SearchCosts, SearchCouple, SearchDescriptors, SearchGrid};
use cuda_std::thread::{block_dim_y, block_idx_x, grid_dim_x, thread_idx_x, thread_idx_y};
use cuda_std::{kernel, warp};

/// Returns the number of displacements along each axis.
#[inline(always)]
fn displacement_counts(grid: &SearchGrid) -> [u32; 3] {
    grid.reach.map(|reach| 2 * reach + 1)
}

/// Returns the size of the grid of descriptors, padded by the reach on all sides.
#[inline(always)]
fn padded(grid: &SearchGrid) -> [u32; 3] {
    [0, 1, 2].map(|axis: usize| grid.size[axis] + 2 * grid.reach[axis])
}

/// Clamps a coordinate to an axis of `size` voxels.
#[inline(always)]
fn clamped(place: i32, size: u32) -> u32 {
    let place = if place > 0 { place as u32 } else { 0 };
    if place < size { place } else { size - 1 }
}

/// Writes the descriptor of every voxel. Beyond the border of the image, the descriptors of the border are repeated.
///
/// # Safety
/// The slices are as long as their documentation and the sizes say, each at least 1; so for all kernels here.
#[kernel]
pub unsafe fn search_descriptors(p: SearchDescriptors) {
    let size = p.grid.size;
    each_voxel(padded(&p.grid), |place, number| {
        let voxel = |axis: usize| clamped(place[axis] as i32 - p.grid.reach[axis] as i32, size[axis]) as i32;
        let voxel = [voxel(0), voxel(1), voxel(2)];
        let value = |offset: [i32; 3]| {
            let at = |axis: usize| clamped(voxel[axis] + offset[axis], size[axis]);
            let at = at(0) + size[0] * (at(1) + size[1] * at(2));
            // SAFETY: clamped to the image.
            i32::from(unsafe { p.values.get_cached(at as usize) } >> (16 - search::BITS))
        };
        let descriptor = search::descriptor(value);
        // SAFETY: the voxel is in the padded grid, and no other thread writes it.
        unsafe { p.descriptors.set(number as usize, descriptor) };
    });
}

/// Calls `each` with every cell of this warp's share, and with the cell's number.
#[inline(always)]
fn each_cell([width, height, depth]: [u32; 3], mut each: impl FnMut([u32; 3], u32)) {
    let mut cell = block_idx_x() * block_dim_y() + thread_idx_y();
    while cell < width * height * depth {
        // SAFETY: else there is no cell.
        unsafe { core::hint::assert_unchecked(width > 0 && height > 0) };
        each([cell % width, cell / width % height, cell / width / height], cell);
        cell += grid_dim_x() * block_dim_y();
    }
}

/// Returns, for each axis, the first voxel of a cell and the one after its last.
#[inline(always)]
fn voxels(grid: &SearchGrid, cell: [u32; 3]) -> [[u32; 2]; 3] {
    [0, 1, 2].map(|axis: usize| {
        let first = cell[axis] * grid.side;
        let end = first + grid.side;
        [first, if end < grid.size[axis] { end } else { grid.size[axis] }]
    })
}

/// Writes the costs of all displacements of every cell. A warp takes a cell, and its lanes the displacements.
///
/// # Safety
/// As [`search_descriptors`].
#[kernel]
pub unsafe fn search_costs(p: SearchCosts) {
    let ([width, height, depth], [row, rows, _]) = (displacement_counts(&p.grid), padded(&p.grid));
    let reach = p.grid.reach;
    let all = width * height * depth;
    each_cell(p.grid.cells, |cell, number| {
        let [xs, ys, zs] = voxels(&p.grid, cell);
        let mut at = thread_idx_x();
        while at < all {
            // SAFETY: the counts are at least 1.
            unsafe { core::hint::assert_unchecked(width > 0 && height > 0) };
            let (dx, dy, dz) = (at % width, at / width % height, at / width / height);
            let mut cost = 0;
            for z in zs[0]..zs[1] {
                for y in ys[0]..ys[1] {
                    let from = xs[0] + reach[0] + row * (y + reach[1] + rows * (z + reach[2]));
                    let to = xs[0] + dx + row * (y + dy + rows * (z + dz));
                    for x in 0..xs[1] - xs[0] {
                        // SAFETY: voxels, also displaced, are on the padded grid.
                        let [a, b] =
                            unsafe { [p.from.get_cached((from + x) as usize), p.to.get_cached((to + x) as usize)] };
                        cost += (a ^ b).count_ones();
                    }
                }
            }
            // SAFETY: a displacement of a cell, which no other thread writes.
            unsafe { p.costs.set(number as usize * all as usize + at as usize, cost as u16) };
            at += WARP;
        }
    });
}

/// Writes the best displacement of every cell: the one with the least sum of its cost and of the cost of its difference
/// from the smoothed displacements around. A warp takes a cell, and its lanes rows of displacements. Of equally good
/// displacements, the first is taken.
///
/// # Safety
/// As [`search_descriptors`].
#[kernel]
pub unsafe fn search_couple(p: SearchCouple) {
    let [width, height, depth] = displacement_counts(&p.grid);
    // SAFETY: by this function's contract; whole warps take a cell.
    each_cell(p.grid.cells, |cell, number| unsafe {
        let [xs, ys, zs] = voxels(&p.grid, cell);
        let samples = ((xs[1] - xs[0]) * (ys[1] - ys[0]) * (zs[1] - zs[0])) as f32;
        let near = read(p.near, p.grid.cells, number).map(|cells| cells * p.grid.side as f32);
        let coupling = |axis: usize, at: u32| {
            search::coupling_cost(p.weights[axis] * samples, at as i32 - p.grid.reach[axis] as i32, near[axis])
        };
        let first = number as usize * (width * height * depth) as usize;
        let cost =
            |row: u32, dx: u32| f32::from(p.costs.get_cached(first + (row * width + dx) as usize)) + coupling(0, dx);
        let least = |row: u32| {
            let (mut least, mut best, mut dx) = (f32::INFINITY, 0, 0);
            while dx < width {
                let cost = cost(row, dx);
                if cost < least {
                    (least, best) = (cost, dx);
                }
                dx += 1;
            }
            (least, best)
        };
        // SAFETY: the counts are at least 1.
        core::hint::assert_unchecked(height > 0);
        let (mut energy, mut best, mut row) = (u32::MAX, u32::MAX, thread_idx_x());
        while row < height * depth {
            let along = least(row).0 + (coupling(1, row % height) + coupling(2, row / height));
            // Floats that are not negative compare like their bits as integers.
            if along.to_bits() < energy {
                (energy, best) = (along.to_bits(), row);
            }
            row += WARP;
        }
        let lowest = warp::reduce_min(warp::ALL, energy);
        let row = warp::reduce_min(warp::ALL, if energy == lowest { best } else { u32::MAX });
        if warp::lane_id() == 0 {
            let (_, dx) = least(row);
            let to = |axis: usize, at: u32| (at as i32 - p.grid.reach[axis] as i32) as f32 / p.grid.side as f32;
            write(p.found, p.grid.cells, number, [to(0, dx), to(1, row % height), to(2, row / height)]);
        }
    });
}

/// Writes the field on which the searches in both directions agree.
///
/// # Safety
/// As [`search_descriptors`].
#[kernel]
pub unsafe fn search_consistent(p: SearchConsistent) {
    // SAFETY: by this function's contract.
    each_voxel(p.cells, |cell, number| unsafe {
        let there = read(p.there, p.cells, number);
        let to = [0, 1, 2].map(|axis: usize| cell[axis] as f32 + there[axis]);
        let back = field::at(|i| p.back.get_cached(i), p.cells, to);
        write(p.found, p.cells, number, search::consistent(there, back));
    });
}
