//! The search for displacements, on the CPU.

// Loops over lanes index several arrays at once.
#![allow(clippy::needless_range_loop)]

use super::{ROUNDS, Search, WEIGHTS};
use crate::backend::lanes::simd::widest;
use crate::image::voxel;
use crate::threads::should_continue;
use gpu::math::{field, interpolate, search};
use rayon::prelude::*;
use std::ops::Range;

/// Displacements along x whose costs are summed up together. Few, so that rows of displacements divide into chunks with
/// little left over.
const CHUNK: usize = 8;

/// See [`crate::backend::Backend::search`].
pub fn displacements(search: &Search) -> Vec<f32> {
    let [fixed, moving] = search.images.map(|values| descriptors(values, search.size));
    let mut both = [[&fixed, &moving], [&moving, &fixed]].map(|[from, to]| one_way(search, from, to));
    let cells = Cells::of(search);
    for _ in 0..ROUNDS {
        both = [0, 1].map(|way: usize| cells.consistent(&both[way], &both[1 - way]));
    }
    let [mut planes, _] = both;
    planes.truncate(3 * cells.len());
    planes
}

fn descriptors(values: &[u16], size: [usize; 3]) -> Vec<u64> {
    let mut descriptors = vec![0; values.len()];
    let rows = descriptors.par_chunks_mut(size[0]).enumerate().take_any_while(|_| should_continue());
    rows.for_each(|(row, out)| descriptors_of(values, size, row, out));
    descriptors
}

widest! {
    fn descriptors_of(values: &[u16], size: [usize; 3], row: usize, out: &mut [u64]) {
        let [width, height, depth] = size.map(|n| n as i32);
        let (y, z) = (row as i32 % height, row as i32 / height);
        for (x, out) in out.iter_mut().enumerate() {
            *out = search::descriptor(|[dx, dy, dz]| {
                let (y, z) = ((y + dy).clamp(0, height - 1), (z + dz).clamp(0, depth - 1));
                let x = (x as i32 + dx).clamp(0, width - 1);
                i32::from(values[(x + width * (y + height * z)) as usize] >> (16 - search::BITS))
            });
        }
    }
}

/// The displacements from the cells of one image to where the other image is most similar: three planes and their
/// padding, in cells.
fn one_way(search: &Search, from: &[u64], to: &[u64]) -> Vec<f32> {
    let (cells, padded) = (Cells::of(search), Padded::new(search, to));
    let (all, rows) = (search.displacements(), search.displacements() / (2 * search.reach[0] + 1));
    let (mut costs, mut least) = (vec![0_u16; cells.len() * all], vec![0_u16; cells.len() * rows]);
    let pieces =
        costs.par_chunks_mut(all).zip(least.par_chunks_mut(rows)).enumerate().take_any_while(|_| should_continue());
    pieces.for_each(|(cell, (costs, least))| {
        costs_of(search, from, &padded, cells.cell(cell), costs);
        for (least, row) in least.iter_mut().zip(costs.chunks_exact(all / rows)) {
            *least = row.iter().copied().min().unwrap_or(0);
        }
    });
    let mut found = cells.planes(|_| [0.0; 3]);
    for weight in WEIGHTS {
        let weights = search.weights(weight);
        let coupled = cells.planes(|number| {
            let near = cells.read(&found, number).map(|near| near * search.side as f32);
            let costs = Costs { all: &costs[number * all..][..all], least: &least[number * rows..][..rows] };
            let weights = weights.map(|weight| weight * cells.samples(search, number));
            costs.best(search, near, weights).map(|voxels| voxels as f32 / search.side as f32)
        });
        found = cells.relaxed(&coupled);
    }
    found
}

/// Descriptors, continued beyond the borders as far as displacements reach, and followed by a chunk.
struct Padded {
    size: [usize; 3],
    descriptors: Vec<u64>,
}

impl Padded {
    fn new(search: &Search, descriptors: &[u64]) -> Self {
        let size = [0, 1, 2].map(|axis: usize| search.size[axis] + 2 * search.reach[axis]);
        let own = |place: usize, axis: usize| place.saturating_sub(search.reach[axis]).min(search.size[axis] - 1);
        let voxels = size.iter().product();
        let mut padded = vec![0; voxels + CHUNK];
        padded[..voxels].par_chunks_mut(size[0]).enumerate().for_each(|(row, out)| {
            let row = search.size[0] * (own(row % size[1], 1) + search.size[1] * own(row / size[1], 2));
            out.iter_mut().enumerate().for_each(|(x, out)| *out = descriptors[row + own(x, 0)]);
        });
        Self { size, descriptors: padded }
    }
}

widest! {
    fn costs_of(search: &Search, from: &[u64], to: &Padded, cell: [u32; 3], costs: &mut [u16]) {
        let first = cell.map(|n| n as usize * search.side);
        let cell = [0, 1, 2].map(|axis: usize| first[axis]..(first[axis] + search.side).min(search.size[axis]));
        let [width, height, _] = search.reach.map(|reach| 2 * reach + 1);
        for (row, costs) in costs.chunks_exact_mut(width).enumerate() {
            for (part, costs) in costs.chunks_mut(CHUNK).enumerate() {
                let displaced = [part * CHUNK, row % height, row / height];
                costs.copy_from_slice(&chunk_costs(search, from, to, &cell, displaced)[..costs.len()]);
            }
        }
    }
}

/// The costs of a chunk of a cell's displacements, the first of which is given as an offset in the padded image.
#[inline(always)]
fn chunk_costs(
    search: &Search,
    from: &[u64],
    to: &Padded,
    [xs, ys, zs]: &[Range<usize>; 3],
    [dx, dy, dz]: [usize; 3],
) -> [u16; CHUNK] {
    let mut costs = [0; CHUNK];
    for z in zs.clone() {
        for y in ys.clone() {
            let from = &from[search.size[0] * (y + search.size[1] * z)..][..search.size[0]];
            let to = &to.descriptors[dx + to.size[0] * (y + dy + to.size[1] * (z + dz))..];
            for x in xs.clone() {
                let there: &[u64; CHUNK] = to[x..].first_chunk().expect("a chunk follows");
                for l in 0..CHUNK {
                    costs[l] += u64::from((from[x] ^ there[l]).count_ones());
                }
            }
        }
    }
    costs.map(|cost| cost as u16)
}

/// The costs of all displacements of a cell.
struct Costs<'a> {
    all: &'a [u16],
    /// The smallest cost of each row.
    least: &'a [u16],
}

impl Costs<'_> {
    /// The displacement, in voxels, whose own cost and penalty for its distance from `near` sum up to the least; of
    /// several, the first.
    fn best(&self, search: &Search, near: [f32; 3], weights: [f32; 3]) -> [i32; 3] {
        let [width, height, _] = search.reach.map(|reach| 2 * reach + 1);
        let coupling = |axis: usize, at: usize| {
            search::coupling_cost(weights[axis], at as i32 - search.reach[axis] as i32, near[axis])
        };
        let along_x: Vec<_> = (0..width).map(|dx| coupling(0, dx)).collect();
        let mut best = (f32::INFINITY, 0, 0);
        for (row, &least) in self.least.iter().enumerate() {
            let across = coupling(1, row % height) + coupling(2, row / height);
            // No displacement of this row costs less than its least own cost plus the penalty across, also in rounded
            // arithmetic.
            if f32::from(least) + across >= best.0 {
                continue;
            }
            let costs = &self.all[row * width..][..width];
            let (mut cost, mut at) = (f32::INFINITY, 0);
            for (dx, (&bits, coupling)) in costs.iter().zip(&along_x).enumerate() {
                let own = f32::from(bits) + coupling;
                if own < cost {
                    (cost, at) = (own, dx);
                }
            }
            if cost + across < best.0 {
                best = (cost + across, row, at);
            }
        }
        let (_, row, dx) = best;
        let at = [dx, row % height, row / height];
        [0, 1, 2].map(|axis: usize| at[axis] as i32 - search.reach[axis] as i32)
    }
}

/// The grid of the cells.
struct Cells([u32; 3]);

impl Cells {
    fn of(search: &Search) -> Self {
        Self(search.cells().map(|n| n as u32))
    }

    fn len(&self) -> usize {
        self.0.iter().map(|&n| n as usize).product()
    }

    fn cell(&self, number: usize) -> [u32; 3] {
        voxel(self.0, number)
    }

    /// The number of voxels in a cell.
    fn samples(&self, search: &Search, number: usize) -> f32 {
        let cell = self.cell(number).map(|n| n as usize * search.side);
        (0..3).map(|axis| search.side.min(search.size[axis] - cell[axis])).product::<usize>() as f32
    }

    fn read(&self, planes: &[f32], number: usize) -> [f32; 3] {
        [0, 1, 2].map(|plane: usize| planes[number + plane * self.len()])
    }

    /// Makes a field on the cells: three planes and their padding.
    fn planes(&self, displacement: impl Fn(usize) -> [f32; 3] + Sync + Send) -> Vec<f32> {
        // The result of a stopped search is never used.
        let unless_stopped = |number| if should_continue() { displacement(number) } else { [0.0; 3] };
        let found: Vec<_> = (0..self.len()).into_par_iter().map(unless_stopped).collect();
        let mut planes: Vec<_> = (0..3).flat_map(|axis| found.iter().map(move |found| found[axis])).collect();
        planes.resize(planes.len() + interpolate::padding(self.0), 0.0);
        planes
    }

    fn relaxed(&self, planes: &[f32]) -> Vec<f32> {
        // SAFETY: the closure checks its index, and the cell is in the grid.
        self.planes(|number| unsafe { field::relaxed(|i| planes[i], self.0, self.cell(number)) })
    }

    fn consistent(&self, there: &[f32], back: &[f32]) -> Vec<f32> {
        self.planes(|number| {
            let (cell, there) = (self.cell(number), self.read(there, number));
            let to = [0, 1, 2].map(|axis: usize| cell[axis] as f32 + there[axis]);
            // SAFETY: the closure checks its index.
            search::consistent(there, unsafe { field::at(|i| back[i], self.0, to) })
        })
    }
}
