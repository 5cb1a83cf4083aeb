//! Crops the fixed images to what a flow has to cover: in the background around a skull-stripped brain, or beyond the
//! mask of an organ, there is no force.

use crate::image::{Geometry, Prepared};
use rayon::prelude::*;

/// How far a flow extends beyond the content of the fixed images, voxels of the coarsest level. This margin is covered
/// because the background there still exerts a force against the content of the moving images.
const MARGIN: f64 = 2.0;

/// A box of voxels: the first and the last one along each axis.
type Extent = [[usize; 3]; 2];

/// Returns the images of each channel with the fixed ones cropped to their content and a margin, or `None` if there is
/// nothing to crop.
pub fn without_background<'a>(channels: &'a [[Prepared<'a>; 2]], coarsest_mm: f64) -> Option<Vec<[Prepared<'a>; 2]>> {
    let grid = channels.first()?[0].image.geometry;
    let extent = channels.iter().filter_map(|[fixed, _]| content_extent(fixed)).reduce(both)?;
    let extent = widened(extent, &grid, MARGIN * coarsest_mm);
    if extent == [[0; 3], grid.size.map(|n| n - 1)] {
        return None;
    }
    let [first, last] = extent;
    let part = [0, 1, 2].map(|axis: usize| first[axis]..last[axis] + 1);
    Some(channels.iter().map(|[fixed, moving]| [fixed.cropped(&part), moving.borrowed()]).collect())
}

/// Returns the box around an image's content: voxels within its mask whose value differs from that of the background,
/// the first voxel.
fn content_extent(Prepared { image, mask, .. }: &Prepared) -> Option<Extent> {
    let [width, height, _] = image.geometry.size;
    let row = |row: usize| {
        let first = row * width;
        let shows = |&x: &usize| {
            image.voxels[first + x] != image.voxels[0] && mask.as_ref().is_none_or(|mask| mask.voxels[first + x] >= 0.5)
        };
        let at = |x| [x, row % height, row / height];
        Some([at((0..width).find(shows)?), at((0..width).rev().find(shows)?)])
    };
    (0..image.voxels.len() / width).into_par_iter().filter_map(row).reduce_with(both)
}

fn both([a_first, a_last]: Extent, [b_first, b_last]: Extent) -> Extent {
    [
        [0, 1, 2].map(|axis: usize| a_first[axis].min(b_first[axis])),
        [0, 1, 2].map(|axis: usize| a_last[axis].max(b_last[axis])),
    ]
}

fn widened([first, last]: Extent, grid: &Geometry, mm: f64) -> Extent {
    let margin = (mm / grid.spacing).ceil().to_array().map(|voxels| voxels as usize);
    [
        [0, 1, 2].map(|axis: usize| first[axis].saturating_sub(margin[axis])),
        [0, 1, 2].map(|axis: usize| last[axis].saturating_add(margin[axis]).min(grid.size[axis] - 1)),
    ]
}
