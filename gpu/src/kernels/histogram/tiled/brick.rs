//! Bricks of the fixed image, and cells of the moving image.
//!
//! A brick is 8 x 4 x 4 voxels. A lane of a warp has one voxel in each of the four planes, so that its four bins are
//! one word, and the words of a brick are one cache line of 128 bytes. A group is 32 bricks with consecutive numbers: 4
//! along x, 4 along y and 2 along z. A cell is 4 x 4 x 4 voxels of the moving image.

use crate::kernels::WARP;
use crate::kernels::sample::Sampler;
use crate::math::{bin, interpolate};
use crate::params::{Affine, Tiled};
use cuda_std::thread::{block_dim_x, block_idx_x, index_1d, thread_idx_x};
use cuda_std::{GpuFloat, kernel, warp};

/// Voxels of a brick along x, y and z.
pub const SIZE: [u32; 3] = [8, 4, 4];
/// Voxels of a brick.
pub const VOXELS: u32 = SIZE[0] * SIZE[1] * SIZE[2];
/// Bricks of a group along x, y and z.
pub const GROUP: [u32; 3] = [4, 4, 2];
/// Bricks of a group: one for each lane of the warp that takes the group.
pub const BRICKS: u32 = GROUP[0] * GROUP[1] * GROUP[2];
/// Voxels of a cell along each axis.
pub const CELL: u32 = 4;

const _: () = assert!(BRICKS == WARP && SIZE[0] * SIZE[1] == WARP);

/// Flag in a brick's fourth word, above the bin of the brick's first voxel: every voxel counts.
const WHOLE: u32 = 1 << 16;
/// Flag: every voxel counts, and all have the same fixed bin.
const ALIKE: u32 = 1 << 17;
/// Flag: no voxel counts.
const EMPTY: u32 = 1 << 18;

/// A bound, in voxels, on the rounding error of a position in f32.
const SLACK: f32 = 1.0 / 32.0;

/// Arranges the fixed image in bricks. One warp per brick, in thread blocks of whole warps.
///
/// # Safety
/// The slices are as long as the numbers of groups and the sizes say.
#[kernel]
pub unsafe fn lay_bricks(p: Tiled) {
    let brick = index_1d() / WARP;
    let [groups_x, groups_y, groups_z] = p.groups;
    if brick / BRICKS >= groups_x * groups_y * groups_z {
        return;
    }
    let (group, within, lane) = (brick / BRICKS, brick % BRICKS, warp::lane_id());
    // SAFETY: there are groups.
    unsafe { core::hint::assert_unchecked(groups_x > 0 && groups_y > 0) };
    let first = [
        SIZE[0] * (group % groups_x * GROUP[0] + within % GROUP[0]),
        SIZE[1] * (group / groups_x % groups_y * GROUP[1] + within / GROUP[0] % GROUP[1]),
        SIZE[2] * (group / groups_x / groups_y * GROUP[2] + within / (GROUP[0] * GROUP[1])),
    ];
    let [width, height, depth] = p.images.fixed_size;
    let (x, y) = (first[0] + lane % SIZE[0], first[1] + lane / SIZE[0]);
    let bin = |plane: u32| {
        let z = first[2] + plane;
        let at = x + width * (y + height * z);
        if x < width && y < height && z < depth {
            // SAFETY: the voxel is in the fixed image.
            u32::from(unsafe { p.images.fixed.get_cached(at as usize) })
        } else {
            u32::MAX
        }
    };
    let bins = [bin(0), bin(1), bin(2), bin(3)];
    let counted = |bin: u32| bin < p.images.bins[0];
    // SAFETY: whole warps come here.
    unsafe {
        let mask = |plane: usize| warp::ballot(warp::ALL, counted(bins[plane]));
        let masks = [mask(0), mask(1), mask(2), mask(3)];
        let start = warp::shuffle_idx(warp::ALL, bins[0], 0);
        let alike = bins[0] == start && bins[1] == start && bins[2] == start && bins[3] == start;
        let alike = warp::all(warp::ALL, alike);
        let whole = masks[0] & masks[1] & masks[2] & masks[3] == u32::MAX;
        let empty = masks[0] | masks[1] | masks[2] | masks[3] == 0;
        let flags = if empty {
            EMPTY
        } else if whole && alike {
            WHOLE | ALIKE
        } else if whole {
            WHOLE
        } else {
            0
        };
        let byte = |plane: usize| (bins[plane] & 0xFF) << (8 * plane);
        p.bins.set((WARP * brick + lane) as usize, byte(0) | byte(1) | byte(2) | byte(3));
        if lane == 0 {
            p.masks.set(brick as usize, masks);
            p.bricks.set(brick as usize, [first[0], first[1], first[2], flags | start & 0xFF]);
            if flags & (ALIKE | EMPTY) == 0 {
                p.loads.add(group as usize, 1);
            }
        }
    }
}

/// Finds the lowest and the highest level in each cell. One thread per cell.
///
/// # Safety
/// The slices are as long as the sizes say.
#[kernel]
pub unsafe fn find_cells(p: Tiled) {
    let Some(cell) = own_cell(&p) else { return };
    let size = p.images.moving_size;
    let range = |axis: usize| {
        let end = CELL * (cell[axis] + 1);
        CELL * cell[axis]..if end < size[axis] { end } else { size[axis] }
    };
    let (mut low, mut high) = (0xFF, 0);
    for z in range(2) {
        for y in range(1) {
            for x in range(0) {
                // SAFETY: in the image.
                let word = unsafe { p.images.moving.get_cached((x + size[0] * (y + size[1] * z)) as usize) };
                (low, high) = widen(low, high, word & 0xFF, word & 0xFF);
            }
        }
    }
    // SAFETY: this thread's.
    unsafe { p.cells.set(number(&p, cell) as usize, (low | high << 8) as u16) };
}

/// Extends the range of levels of each cell by those of its neighbours. One thread per cell.
///
/// # Safety
/// As [`find_cells`], which has run.
#[kernel]
pub unsafe fn widen_cells(p: Tiled) {
    let Some(cell) = own_cell(&p) else { return };
    let range = |axis: usize| {
        let end = if cell[axis] + 1 < p.cells_size[axis] { cell[axis] + 2 } else { cell[axis] + 1 };
        (if cell[axis] > 0 { cell[axis] - 1 } else { 0 })..end
    };
    let (mut low, mut high) = (0xFF, 0);
    for z in range(2) {
        for y in range(1) {
            for x in range(0) {
                // SAFETY: there is this cell.
                let levels = u32::from(unsafe { p.cells.get(number(&p, [x, y, z]) as usize) });
                (low, high) = widen(low, high, levels & 0xFF, levels >> 8);
            }
        }
    }
    // SAFETY: this thread's.
    unsafe { p.wide_cells.set(number(&p, cell) as usize, (low | high << 8) as u16) };
}

/// The cell of this thread, if there is one.
#[inline(always)]
fn own_cell(p: &Tiled) -> Option<[u32; 3]> {
    let cell = thread_idx_x() + block_idx_x() * block_dim_x();
    let [width, height, depth] = p.cells_size;
    if cell >= width * height * depth {
        return None;
    }
    // SAFETY: there are cells.
    unsafe { core::hint::assert_unchecked(width > 0 && height > 0) };
    Some([cell % width, cell / width % height, cell / width / height])
}

#[inline(always)]
fn number(p: &Tiled, [x, y, z]: [u32; 3]) -> u32 {
    x + p.cells_size[0] * (y + p.cells_size[1] * z)
}

/// Returns the smallest range that contains both.
#[inline(always)]
fn widen(low: u32, high: u32, other_low: u32, other_high: u32) -> (u32, u32) {
    (if other_low < low { other_low } else { low }, if other_high > high { other_high } else { high })
}

/// How a brick is to be counted for a given transform.
#[derive(Clone, Copy, PartialEq)]
pub enum Work {
    /// Nothing: no sample of it can be counted.
    None,
    /// All its voxels have this pair of bins.
    Alike {
        /// The fixed bin.
        fixed: u32,
        /// The moving bin.
        moving: u32,
    },
    /// All its voxels count and are inside the moving image.
    Inside,
    /// Each voxel must be checked for the mask and for being inside.
    Mixed,
}

/// Decides how a brick is to be counted, from where the transform takes it. Also returns its first voxel.
///
/// # Safety
/// `brick` is the number of a brick.
#[inline(always)]
pub unsafe fn work<S: Sampler>(p: &Tiled, affine: &Affine, brick: u32) -> (Work, [u32; 3]) {
    // SAFETY: by this function's contract.
    let [x, y, z, what] = unsafe { p.bricks.as_slice().get_cached(brick as usize) };
    // SAFETY: by this function's contract.
    (unsafe { work_at::<S>(p, affine, [x, y, z], what) }, [x, y, z])
}

/// [`work`] of a brick that has been read.
///
/// # Safety
/// `what` is the fourth word of the brick whose first voxel this is.
#[inline(always)]
unsafe fn work_at<S: Sampler>(p: &Tiled, affine: &Affine, [x, y, z]: [u32; 3], what: u32) -> Work {
    let middle = |first: u32, size: u32| first as f32 + 0.5 * (size - 1) as f32;
    let middle = [middle(x, SIZE[0]), middle(y, SIZE[1]), middle(z, SIZE[2])];
    let last = interpolate::last(p.images.moving_size);
    let (low_x, high_x) = reach(affine.rows[0], middle);
    let (low_y, high_y) = reach(affine.rows[1], middle);
    let (low_z, high_z) = reach(affine.rows[2], middle);
    let apart = (high_x < 0.0) | (high_y < 0.0) | (high_z < 0.0);
    let apart = apart | (low_x > last[0]) | (low_y > last[1]) | (low_z > last[2]);
    if apart || what & EMPTY > 0 {
        return Work::None;
    }
    let inside = (low_x >= 0.0) & (low_y >= 0.0) & (low_z >= 0.0);
    let inside = inside & (high_x <= last[0]) & (high_y <= last[1]) & (high_z <= last[2]);
    if !inside || what & WHOLE == 0 {
        return Work::Mixed;
    }
    if what & ALIKE == 0 || !S::WITHIN {
        return Work::Inside;
    }
    // SAFETY: inside.
    match unsafe { moving_bin::<S>(p, [low_x, low_y, low_z], [high_x, high_y, high_z]) } {
        Some(moving) => Work::Alike { fixed: what & 0xFF, moving },
        None => Work::Inside,
    }
}

/// Returns bounds of a coordinate, in the moving image, of a brick's voxels. `row` is that coordinate's row of the
/// transform.
#[inline(always)]
fn reach(row: [f32; 4], middle: [f32; 3]) -> (f32, f32) {
    let half = |axis: usize| 0.5 * (SIZE[axis] - 1) as f32 * GpuFloat::abs(row[axis]);
    let half = half(0) + half(1) + half(2) + SLACK;
    let middle = middle[2].mul_add(row[2], middle[1].mul_add(row[1], middle[0].mul_add(row[0], row[3])));
    (middle - half, middle + half)
}

/// Returns the bin of the moving image's values at all positions in the box from `low` to `high`, if the cells show
/// that they are all in one bin.
///
/// # Safety
/// The positions are inside.
#[inline(always)]
unsafe fn moving_bin<S: Sampler>(p: &Tiled, low: [f32; 3], high: [f32; 3]) -> Option<u32> {
    // A sample reads the voxel after its position, too.
    let cell = |at: f32, axis: usize| {
        // SAFETY: inside.
        let cell = unsafe { at.to_int_unchecked::<i32>() } as u32 / CELL;
        if cell < p.cells_size[axis] { cell } else { p.cells_size[axis] - 1 }
    };
    let (x, far_x) = (cell(low[0], 0), cell(high[0] + 1.0, 0));
    let (y, far_y) = (cell(low[1], 1), cell(high[1] + 1.0, 1));
    let (z, far_z) = (cell(low[2], 2), cell(high[2] + 1.0, 2));
    // Two wide cells cover at most six cells along an axis.
    if far_x - x > 5 || far_y - y > 5 || far_z - z > 5 {
        return None;
    }
    let (x, far_x) = inner(x, far_x);
    let (y, far_y) = inner(y, far_y);
    let (z, far_z) = inner(z, far_z);
    // SAFETY: there are these cells.
    let levels = |x, y, z| u32::from(unsafe { p.wide_cells.as_slice().get_cached(number(p, [x, y, z]) as usize) });
    let (mut low, mut high) = (0xFF, 0);
    let mut add = |levels: u32| (low, high) = widen(low, high, levels & 0xFF, levels >> 8);
    add(levels(x, y, z));
    add(levels(far_x, y, z));
    add(levels(x, far_y, z));
    add(levels(far_x, far_y, z));
    add(levels(x, y, far_z));
    add(levels(far_x, y, far_z));
    add(levels(x, far_y, far_z));
    add(levels(far_x, far_y, far_z));
    // SAFETY: levels end at 255.
    let bin = |level: u32| unsafe { bin::of(level as f32 * (S::FULL / 255.0), p.scale) };
    // Interpolated values lie between the lowest and the highest level, and bins are monotonic in the values.
    if bin(low) == bin(high) { Some(bin(low)) } else { None }
}

/// Returns the two wide cells (cells with their neighbours) that together cover the cells `first` to `last`.
#[inline(always)]
fn inner(first: u32, last: u32) -> (u32, u32) {
    if last > first { (first + 1, last - 1) } else { (first, last) }
}
