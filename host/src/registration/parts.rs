//! Finds parts of two volumes that share no information while the rest of them does.
//!
//! A measure over the whole volume hides what is wrong with a part of it. Where an organ slides along a wall, either
//! the organ or the wall may be matched, and the other one be off by one structure. So the mutual information of local
//! contrast is taken block by block, as the volumes lie and at shifts around that.

use super::place::Foregrounds;
use super::poses::Pair;
use crate::{Geometry, Volume, metric};
use glam::DVec3;
use rayon::prelude::*;
use serde::Serialize;

/// Voxels along each side of a block, of a volume with 64 voxels along its longest side.
const SIDE: usize = 8;
/// Bins of local contrast, with equally many voxels in each. They are few because a block has few voxels.
const BINS: usize = 6;
/// Cells of a joint histogram.
const CELLS: usize = BINS * BINS;
/// A block whose mutual information is below this fraction of the median block's shares no information.
const LITTLE: f64 = 0.1;

/// The part of the foreground whose local contrast shares no information with what lies on it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Unmatched {
    /// Its fraction of the voxels that are foreground in both images, 0 to 1.
    pub share: f64,
    /// Its centre, LPS mm; `None` if the fraction is 0.
    pub middle_mm: Option<[f64; 3]>,
}

impl Foregrounds {
    /// Finds the blocks of two volumes on one grid whose mutual information is much less than that of the median block,
    /// and no more than it is at the best shift away. Returns `None` for 2-D images, volumes on different grids, and if
    /// no block has enough voxels.
    pub fn unmatched(&self) -> Option<Unmatched> {
        let Pair([(fixed, _), (moving, _)]) = self.local_contrast();
        let grid = &fixed.geometry;
        if grid.is_flat() || grid.size != moving.geometry.size {
            return None;
        }
        let bins = bins([fixed, moving]);
        let around = self.around();
        let blocks: Vec<_> =
            blocks(grid).into_par_iter().filter_map(|block| block_information(&bins, grid, block, &around)).collect();
        let mut here: Vec<_> = blocks.iter().map(|block| block.here).collect();
        here.sort_by(f64::total_cmp);
        let typical = here.get(here.len() / 2)?;
        let is_informative = |block: &&BlockInformation| block.here > block.around || block.here >= LITTLE * typical;
        let uninformative: Vec<_> = blocks.iter().filter(|block| !is_informative(block)).collect();
        let all: f64 = blocks.iter().map(|block| block.voxels).sum();
        let voxels: f64 = uninformative.iter().map(|block| block.voxels).sum();
        let middle = uninformative.iter().map(|block| block.voxels * block.middle).sum::<DVec3>() / voxels;
        let middle_mm = grid.index_to_world().transform_point3(middle).to_array();
        Some(Unmatched { share: voxels / all, middle_mm: (!uninformative.is_empty()).then_some(middle_mm) })
    }
}

/// The mutual information of a block's local contrast, nats beyond chance.
struct BlockInformation {
    here: f64,
    /// The largest at the shifts away, at least 0.
    around: f64,
    /// Its voxels that are foreground in both images.
    voxels: f64,
    /// Its centre, voxels.
    middle: DVec3,
}

/// Returns the first voxel of each block.
fn blocks(grid: &Geometry) -> Vec<[usize; 3]> {
    let [width, height, depth] = grid.size;
    let steps = |n: usize| (0..n).step_by(SIDE);
    steps(depth).flat_map(|z| steps(height).flat_map(move |y| steps(width).map(move |x| [x, y, z]))).collect()
}

/// Evaluates a block; `None` if less than half of it is foreground in both images.
fn block_information(
    bins: &[Vec<u8>; 2],
    grid: &Geometry,
    first: [usize; 3],
    around: &[[isize; 3]],
) -> Option<BlockInformation> {
    let (here, voxels) = information(bins, grid, first, [0; 3])?;
    let places = around.iter().filter_map(|&shift| information(bins, grid, first, shift));
    let around = places.map(|(information, _)| information).fold(0.0, f64::max);
    let middle = DVec3::from_array(first.map(|n| n as f64)) + 0.5 * (SIDE as f64 - 1.0);
    Some(BlockInformation { here, around, voxels, middle })
}

/// Returns the mutual information, nats beyond chance, of a block of the fixed image and the voxels of the moving image
/// at `shift` from it, and how many voxels are foreground in both. `None` if these are less than half of a block.
fn information(
    [fixed, moving]: &[Vec<u8>; 2],
    grid: &Geometry,
    first: [usize; 3],
    shift: [isize; 3],
) -> Option<(f64, f64)> {
    let [width, height, _] = grid.size;
    // The voxels of the block that stay inside the image when shifted.
    let axis = |axis: usize| {
        let (from, to) = (first[axis] as isize, (first[axis] + SIDE).min(grid.size[axis]) as isize);
        from.max(-shift[axis])..to.min(grid.size[axis] as isize - shift[axis])
    };
    let away = shift[0] + width as isize * (shift[1] + height as isize * shift[2]);
    let mut counts = [0u32; CELLS];
    for z in axis(2) {
        for y in axis(1) {
            let row = width as isize * (y + height as isize * z);
            for n in axis(0).map(|x| row + x) {
                let (a, b) = (usize::from(fixed[n as usize]), usize::from(moving[(n + away) as usize]));
                if a < BINS && b < BINS {
                    counts[a * BINS + b] += 1;
                }
            }
        }
    }
    let number: u32 = counts.iter().sum();
    (2 * number as usize >= SIDE.pow(3)).then(|| (metric::information(&counts, BINS), f64::from(number)))
}

/// Returns the bins of local contrast of both images, [`BINS`] where either is background.
fn bins([fixed, moving]: [&Volume; 2]) -> [Vec<u8>; 2] {
    let both = |n: usize| !fixed.voxels[n].is_nan() && !moving.voxels[n].is_nan();
    let of = |image: &Volume| {
        let mut sorted: Vec<f32> = (0..image.voxels.len()).filter(|&n| both(n)).map(|n| image.voxels[n]).collect();
        sorted.par_sort_unstable_by(f32::total_cmp);
        let edges: Vec<f32> = (1..BINS).filter_map(|bin| sorted.get(bin * sorted.len() / BINS).copied()).collect();
        let bin = |n: usize| edges.iter().filter(|&&edge| image.voxels[n] >= edge).count() as u8;
        (0..image.voxels.len()).map(|n| if both(n) { bin(n) } else { BINS as u8 }).collect()
    };
    let (fixed, moving) = rayon::join(|| of(fixed), || of(moving));
    [fixed, moving]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PixelType;
    use crate::image::{Intensities, Prepared};
    use std::borrow::Cow;

    /// Texture whose last fifth along x is shifted by `by` voxels along y.
    fn volume(by: f64) -> Prepared<'static> {
        let geometry = Geometry::axis_aligned([64, 56, 48], DVec3::splat(2.0), DVec3::ZERO);
        let voxel = |n: usize| {
            let [x, y, z] = geometry.index_of(n).map(|n| n as f64);
            let y = if x < 51.0 { y } else { y + by };
            let wave = |a: f64, b: f64, c: f64| (a * x + b * y + c * z).sin();
            (50.0 + 10.0 * (wave(0.8, 0.5, 0.3) + wave(-0.4, 0.9, 0.5) + wave(0.3, -0.7, 0.8) + wave(0.6, 0.65, -0.7)))
                as f32
        };
        let voxels = (0..geometry.voxels()).map(voxel).collect();
        let image = Volume { geometry, voxels, pixel: PixelType::F32 };
        let intensities = Intensities { range: (0.0, 100.0), ..Intensities::default() };
        Prepared { image: Cow::Owned(image), mask: None, intensities }
    }

    #[test]
    fn a_part_that_lies_elsewhere_is_told_and_where_it_is() {
        let unmatched = |by| {
            let foregrounds = Foregrounds::of([&volume(0.0), &volume(by)], [&[], &[]]).unwrap().unwrap();
            foregrounds.unmatched().unwrap()
        };
        assert_eq!(unmatched(0.0).share, 0.0);
        let Unmatched { share, middle_mm } = unmatched(9.0);
        let [x, y, z] = middle_mm.unwrap();
        assert!((0.1..0.25).contains(&share), "{share}");
        assert!(x > 102.0 && (45.0..65.0).contains(&y) && (37.0..57.0).contains(&z), "{x} {y} {z}");
    }
}
