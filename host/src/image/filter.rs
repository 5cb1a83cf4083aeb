//! Smooths and subsamples volumes with Gaussian filters.

use super::{Geometry, Volume};
use crate::threads::{made_by_piece, should_continue};
use glam::DVec3;
use rayon::prelude::*;
use std::borrow::Cow;

/// The filter that smooths and subsamples each axis; `None` for an axis that stays as it is.
pub type Filters = [Option<Filter>; 3];

/// A Gaussian filter that smooths and subsamples one axis.
pub struct Filter {
    /// The number of voxels along the axis before and after subsampling.
    sizes: [usize; 2],
    step: usize,
    kernel: Vec<f32>,
    /// Twice the old index of the centre of new voxel 0. Doubled, because the index can be half a voxel.
    doubled_start: usize,
}

impl Filter {
    /// The filter that smooths as [`levels`](super::pyramid::levels) says and keeps every `step`-th voxel.
    pub(super) fn thinning(size: usize, step: usize) -> Self {
        Self::new(size, step, 0.5 * ((step * step - 1) as f64).sqrt())
    }

    /// The filter for `size` voxels that smooths by `sigma` voxels and keeps every `step`-th voxel.
    pub(super) fn new(size: usize, step: usize, sigma: f64) -> Self {
        let filtered = size / step;
        let doubled_start = (size - 1) - (filtered - 1) * step;
        Self { sizes: [size, filtered], step, kernel: kernel(sigma, doubled_start % 2 == 1), doubled_start }
    }

    /// The grid after subsampling this axis.
    pub(super) fn grid(&self, axis: usize, old: Geometry) -> Geometry {
        let mut middle = DVec3::ZERO;
        middle[axis] = self.doubled_start as f64 / 2.0;
        let mut grid = Geometry { origin: old.index_to_world().transform_point3(middle), ..old };
        grid.size[axis] = self.sizes[1];
        grid.spacing[axis] *= self.step as f64;
        grid
    }

    /// The number of voxels along the axis after subsampling.
    pub(crate) fn filtered_len(&self) -> usize {
        self.sizes[1]
    }

    /// The subsampling step, in old voxels.
    pub(crate) fn step(&self) -> usize {
        self.step
    }

    /// The weights of the filter's taps.
    pub(crate) fn weights(&self) -> &[f32] {
        &self.kernel
    }

    /// The old index of the first tap of new voxel 0. It is negative if the tap is outside the border.
    pub(crate) fn first(&self) -> isize {
        (self.doubled_start / 2) as isize - ((self.kernel.len() - 1) / 2) as isize
    }

    /// The old index of a tap of new voxel 0, clamped to the border.
    fn index(&self, tap: usize) -> usize {
        (self.first() + tap as isize).clamp(0, self.sizes[0] as isize - 1) as usize
    }

    /// Filters across rows or slices, and returns number `new` of those that remain.
    fn across<'a>(&self, new: usize, old: impl Fn(usize) -> &'a [f32]) -> Vec<f32> {
        let mut sum = vec![0.0; old(0).len()];
        for (tap, &weight) in self.kernel.iter().enumerate() {
            let voxels = old(self.index(new * self.step + tap));
            sum.iter_mut().zip(voxels).for_each(|(sum, &voxel)| *sum += weight * voxel);
        }
        sum
    }

    /// Filters along a row, and adds the result to `out`.
    pub(super) fn along(&self, row: &[f32], out: &mut [f32]) {
        let taps = (self.sizes[1] - 1) * self.step + self.kernel.len();
        let before = usize::try_from(-self.first()).unwrap_or(0);
        let inside = &row[self.index(0)..=self.index(taps - 1)];
        let mut bordered = vec![row[0]; before];
        bordered.extend_from_slice(inside);
        bordered.resize(taps, row[row.len() - 1]);
        for (tap, &weight) in self.kernel.iter().enumerate() {
            let voxels = bordered[tap..].iter().step_by(self.step);
            out.iter_mut().zip(voxels).for_each(|(out, &voxel)| *out += weight * voxel);
        }
    }
}

/// The grid after filtering.
pub(crate) fn filtered_grid(grid: Geometry, filters: &Filters) -> Geometry {
    let all = filters.iter().enumerate().rev().filter_map(|(axis, filter)| Some((axis, filter.as_ref()?)));
    all.fold(grid, |grid, (axis, filter)| filter.grid(axis, grid))
}

/// Filters the volume along each axis. The last axis comes first, because whole slices can be added up, and it leaves
/// less work for the other axes. Each new slice is filtered along all three axes at once, so that no intermediate
/// volume is needed.
pub(crate) fn filtered(volume: &Volume, filters: &Filters) -> Volume {
    let (old, geometry) = (volume.geometry, filtered_grid(volume.geometry, filters));
    let [width, area] = [old.size[0], old.size[0] * old.size[1]];
    let [along, across, through] = filters;
    let slice = |k: usize| &volume.voxels[k * area..][..area];
    let voxels = made_by_piece(geometry.voxels(), geometry.size[0] * geometry.size[1], |k, out| {
        let slice = through.as_ref().map_or(Cow::Borrowed(slice(k)), |filter| filter.across(k, slice).into());
        let row = |j: usize| &slice[j * width..][..width];
        let rows =
            out.par_chunks_mut(geometry.size[0]).with_min_len(64).enumerate().take_any_while(|_| should_continue());
        rows.for_each(|(j, out)| {
            let row = across.as_ref().map_or(Cow::Borrowed(row(j)), |filter| filter.across(j, row).into());
            match along {
                Some(filter) => filter.along(&row, out),
                None => out.copy_from_slice(&row),
            }
        });
    });
    Volume { geometry, voxels, pixel: volume.pixel }
}

/// A Gaussian cut off at three standard deviations, with the sum 1. It is centred between two voxels if `between`.
fn kernel(sigma: f64, between: bool) -> Vec<f32> {
    let offset = if between { 0.5 } else { 0.0 };
    let radius = (3.0 * sigma - offset).ceil() as i64;
    let taps = if between { -radius..=radius + 1 } else { -radius..=radius };
    let weight = |tap: i64| libm::exp(-0.5 * ((tap as f64 - offset) / sigma).powi(2));
    let weights: Vec<f64> = taps.map(weight).collect();
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|weight| (weight / sum) as f32).collect()
}
