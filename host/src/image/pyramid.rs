//! Resolution levels: smoothed and subsampled versions of a volume, with spacings in millimetres.

pub use super::filter::{Filter, Filters};
pub(crate) use super::filter::{filtered, filtered_grid};
use super::{Geometry, PixelType, Volume};
use rayon::prelude::*;
use std::borrow::Cow;
use std::convert::Infallible;

/// Resamples the volume on grids of about these spacings, in mm, ordered from fine to coarse.
///
/// An axis is smoothed with a Gaussian and subsampled only if its spacing is finer than that. The step along each axis
/// is a whole number of voxels, and every grid has the same centre. The variance of the Gaussian is the square of half
/// the new spacing minus that of half the old spacing, so that a level can be made from a finer level. Border voxels
/// are repeated outwards.
pub fn levels<'a>(volume: &'a Volume, spacings: &[f64]) -> Vec<Cow<'a, Volume>> {
    let Ok(levels) = levels_by::<Infallible>(volume, spacings, |volume, filters| Ok(filtered(volume, filters)));
    levels
}

/// As [`levels`], with another implementation of the filter, which must give the same numbers.
///
/// # Errors
/// Those of `filtered`.
pub(crate) fn levels_by<'a, E>(
    volume: &'a Volume,
    spacings: &[f64],
    filtered: impl Fn(&Volume, &Filters) -> Result<Volume, E>,
) -> Result<Vec<Cow<'a, Volume>>, E> {
    let mut levels: Vec<(Cow<Volume>, [usize; 3])> = Vec::new();
    for &mm in spacings {
        let steps = steps(&volume.geometry, mm);
        let finer = levels.last().filter(|(_, finer)| (0..3).all(|axis| steps[axis].is_multiple_of(finer[axis])));
        let coarser = |from: &Volume, steps| by_steps(&from.geometry, steps).map(|filters| filtered(from, &filters));
        let level = match finer {
            Some((finer, before)) => {
                let steps = [0, 1, 2].map(|axis| steps[axis] / before[axis]);
                coarser(finer, steps).transpose()?.map_or_else(|| finer.clone(), Cow::Owned)
            }
            None => coarser(volume, steps).transpose()?.map_or(Cow::Borrowed(volume), Cow::Owned),
        };
        levels.push((level, steps));
    }
    Ok(levels.into_iter().map(|(level, _)| level).collect())
}

/// A single one of [`levels`].
pub fn level(volume: &Volume, mm: f64) -> Cow<'_, Volume> {
    coarser(volume, steps(&volume.geometry, mm)).map_or(Cow::Borrowed(volume), Cow::Owned)
}

/// A single one of [`levels_by`].
///
/// # Errors
/// Those of `filtered`.
pub(crate) fn level_by<E>(
    volume: &Volume,
    mm: f64,
    filtered: impl Fn(&Volume, &Filters) -> Result<Volume, E>,
) -> Result<Cow<'_, Volume>, E> {
    Ok(match thinning(&volume.geometry, mm) {
        Some(filters) => Cow::Owned(filtered(volume, &filters)?),
        None => Cow::Borrowed(volume),
    })
}

/// As [`level`], made from the coarsest possible one of `levels`, which are levels of the same volume from fine to
/// coarse.
pub fn level_from<'a>(volume: &'a Volume, levels: &'a [Cow<Volume>], mm: f64) -> Cow<'a, Volume> {
    let (old, steps) = (&volume.geometry, steps(&volume.geometry, mm));
    let left = |level: &'a Cow<Volume>| {
        let before = [0, 1, 2].map(|axis| (level.geometry.spacing[axis] / old.spacing[axis]).round() as usize);
        let all = (0..3).all(|axis| before[axis] > 0 && steps[axis].is_multiple_of(before[axis]));
        all.then(|| (&**level, [0, 1, 2].map(|axis| steps[axis] / before[axis])))
    };
    let (from, steps) = levels.iter().rev().find_map(left).unwrap_or((volume, steps));
    coarser(from, steps).map_or(Cow::Borrowed(from), Cow::Owned)
}

/// Smooths the volume along each axis with a Gaussian of these standard deviations, in voxels, or not if it is 0.
/// Border voxels are repeated outwards.
pub fn smoothed(volume: &Volume, sigmas: [f64; 3]) -> Cow<'_, Volume> {
    let filters = smoothing(volume.geometry.size, sigmas);
    if filters.iter().any(Option::is_some) { Cow::Owned(filtered(volume, &filters)) } else { Cow::Borrowed(volume) }
}

/// The filters of [`smoothed`].
pub fn smoothing(size: [usize; 3], sigmas: [f64; 3]) -> Filters {
    [0, 1, 2].map(|axis| (sigmas[axis] > 0.0).then(|| Filter::new(size[axis], 1, sigmas[axis])))
}

/// The filters of a level with spacing `mm`; `None` if the level is the volume itself.
pub fn thinning(grid: &Geometry, mm: f64) -> Option<Filters> {
    by_steps(grid, steps(grid, mm))
}

/// The filters that subsample a grid by these steps; `None` if no step exceeds 1.
fn by_steps(grid: &Geometry, steps: [usize; 3]) -> Option<Filters> {
    let filters = [0, 1, 2].map(|n| (steps[n] > 1).then(|| Filter::thinning(grid.size[n], steps[n])));
    filters.iter().any(Option::is_some).then_some(filters)
}

/// Subsamples the volume along each axis; `None` if no step exceeds 1.
fn coarser(volume: &Volume, steps: [usize; 3]) -> Option<Volume> {
    by_steps(&volume.geometry, steps).map(|filters| filtered(volume, &filters))
}

/// Subsamples a 2-D image while its rows are read. Rows are subsampled as they arrive, so that the full image is never
/// in memory; the other axis follows at the end.
pub(crate) struct RowSubsampler {
    /// The filters along both axes; `None` if the image stays as it is.
    filters: Option<[Filter; 2]>,
    /// Pixels per row that is read.
    width: usize,
    geometry: Geometry,
    voxels: Vec<f32>,
}

impl RowSubsampler {
    /// `geometry` is the grid of the full image, of which every `step`-th pixel is kept along each axis.
    pub fn new(geometry: Geometry, step: usize) -> Self {
        let filters = (step > 1).then(|| [0, 1].map(|axis| Filter::thinning(geometry.size[axis], step)));
        let width = geometry.size[0];
        let geometry = filters.as_ref().map_or(geometry, |[along, _]| along.grid(0, geometry));
        Self { filters, width, geometry, voxels: Vec::with_capacity(geometry.voxels()) }
    }

    /// Adds the next rows.
    pub fn push(&mut self, rows: &[f32]) {
        let Some([along, _]) = &self.filters else { return self.voxels.extend(rows) };
        let (first, left) = (self.voxels.len(), self.geometry.size[0]);
        self.voxels.resize(first + rows.len() / self.width * left, 0.0);
        let rows = rows.par_chunks_exact(self.width);
        self.voxels[first..].par_chunks_exact_mut(left).zip(rows).for_each(|(out, row)| along.along(row, out));
    }

    /// The subsampled image, after all rows were added.
    pub fn finish(self, pixel: PixelType) -> Volume {
        let volume = Volume { geometry: self.geometry, voxels: self.voxels, pixel };
        match self.filters {
            Some([_, across]) => filtered(&volume, &[None, Some(across), None]),
            None => volume,
        }
    }
}

/// The subsampling step along each axis for a spacing of `mm`, such that at least two voxels remain.
fn steps(grid: &Geometry, mm: f64) -> [usize; 3] {
    [0, 1, 2].map(|axis| ((mm / grid.spacing[axis]).round() as usize).clamp(1, (grid.size[axis] / 2).max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec3;

    fn ramp(size: [usize; 3], spacing: DVec3) -> Volume {
        let geometry = Geometry::axis_aligned(size, spacing, DVec3::new(5.0, -3.0, 11.0));
        let voxels = (0..geometry.voxels()).map(|i| (i % size[0] + 10 * (i / size[0] % size[1])) as f32).collect();
        Volume { geometry, voxels, pixel: PixelType::F32 }
    }

    #[test]
    fn keeps_the_middle_and_what_a_ramp_says_there() {
        for size in [[24, 31, 9], [25, 30, 8]] {
            let fine = ramp(size, DVec3::new(1.0, 1.0, 3.5));
            let coarse = &levels(&fine, &[3.0])[0];
            assert_eq!(coarse.geometry.size, [size[0] / 3, size[1] / 3, size[2]]);
            assert!(coarse.geometry.centre().distance(fine.geometry.centre()) < 1e-12);
            let [x, y, z] = [4, 5, 2];
            let world = coarse.geometry.index_to_world().transform_point3(DVec3::new(x as f64, y as f64, z as f64));
            let index = fine.geometry.world_to_index().transform_point3(world);
            let voxel = coarse.voxels[x + coarse.geometry.size[0] * (y + coarse.geometry.size[1] * z)];
            assert!((f64::from(voxel) - (index.x + 10.0 * index.y)).abs() < 1e-3, "{voxel} at {index}");
        }
    }

    #[test]
    fn leaves_an_axis_alone_that_is_coarse_enough() {
        let fine = ramp([8, 8, 8], DVec3::new(1.0, 1.0, 4.0));
        let levels = levels(&fine, &[1.2, 4.0]);
        assert_eq!(*levels[0], fine);
        assert_eq!(levels[1].geometry.size, [2, 2, 8]);
    }

    #[test]
    fn a_level_made_from_a_finer_one_lies_where_one_made_at_once_does() {
        let fine = ramp([50, 41, 37], DVec3::new(1.0, 1.1, 1.25));
        let (steps, once) = (levels(&fine, &[1.0, 2.0, 4.0]), levels(&fine, &[4.0]));
        assert_eq!(steps[2].geometry.size, once[0].geometry.size);
        assert!(steps[2].geometry.origin.distance(once[0].geometry.origin) < 1e-12);
        let middle = once[0].voxels.len() / 2;
        assert!((steps[2].voxels[middle] - once[0].voxels[middle]).abs() < 1e-3);
    }

    #[test]
    fn a_level_is_made_from_the_coarsest_that_it_can_be_made_from() {
        let fine = ramp([50, 41, 37], DVec3::ONE);
        let finer = levels(&fine, &[1.0, 2.0, 3.0, 4.0, 12.0]);
        for (mm, same) in [(3.0, Some(2)), (4.0, Some(3)), (6.0, None), (5.0, None)] {
            let (found, once) = (level_from(&fine, &finer, mm), level(&fine, mm));
            assert_eq!(found.geometry.size, once.geometry.size);
            assert!(found.geometry.origin.distance(once.geometry.origin) < 1e-12);
            let [x, y, z] = once.geometry.size.map(|n| n / 2);
            let middle = x + once.geometry.size[0] * (y + once.geometry.size[1] * z);
            assert!((found.voxels[middle] - once.voxels[middle]).abs() < 1e-3);
            let taken = finer.iter().position(|level| std::ptr::eq(&**level, &*found));
            assert_eq!(taken, same, "{mm} mm");
        }
        assert_eq!(
            level_from(&fine, &finer, 5.0),
            level(&fine, 5.0),
            "no level but the volume itself can be thinned to it"
        );
        assert_ne!(level_from(&fine, &finer, 6.0), level(&fine, 6.0), "it is smoothed twice");
    }

    #[test]
    fn a_picture_thinned_by_rows_is_that_of_its_level() {
        for size in [[50, 41, 1], [48, 36, 1]] {
            let fine = ramp(size, DVec3::ONE);
            for step in [1, 2, 3] {
                let mut subsampler = RowSubsampler::new(fine.geometry, step);
                fine.voxels.chunks(7 * size[0]).for_each(|rows| subsampler.push(rows));
                let (found, level) = (subsampler.finish(fine.pixel), &levels(&fine, &[step as f64])[0]);
                assert_eq!(found.geometry, level.geometry);
                let apart = found.voxels.iter().zip(&level.voxels).map(|(a, b)| (a - b).abs());
                assert!(apart.fold(0.0, f32::max) < 1e-3 && found.voxels.len() == level.voxels.len());
            }
        }
    }

    #[test]
    fn a_constant_stays() {
        let mut fine = ramp([20, 21, 22], DVec3::ONE);
        fine.voxels.fill(7.0);
        assert!(levels(&fine, &[4.0])[0].voxels.iter().all(|v| (v - 7.0).abs() < 1e-5));
    }
}
