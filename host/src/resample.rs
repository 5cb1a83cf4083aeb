//! Resamples an image on another grid through a transform.

use crate::error::{Setting, message};
use glam::{DAffine3, DVec3, Vec3};
use gpu::math::interpolate::{self, Interpolator, inside, last};
use gpu::math::{affine, cubic};
use gpu::params::Affine;
use rayon::prelude::*;
use std::path::Path;

use crate::backend::{Backend, simd::widest};
use crate::image::{CubicImage, filled, voxel_map};
use crate::io::{ReadOptions, Samples, Whole};
use crate::transform::TransformMap;
use crate::{Error, Geometry, Result, Volume};

/// Options of [`resample`].
#[derive(Debug, Clone, Copy)]
pub struct Resampling {
    /// The interpolator. Partial volume is replaced by linear.
    pub interpolator: Interpolator,
    /// The intensity outside the image.
    pub outside: f32,
}

impl Default for Resampling {
    /// Linear, 0 outside.
    fn default() -> Self {
        Self { interpolator: Interpolator::Linear, outside: 0.0 }
    }
}

/// The result of [`resample`].
#[derive(Debug, Clone)]
pub struct Resampled {
    /// The image on the new grid, with the same pixel type.
    pub volume: Volume,
    /// The number of voxels that are on or between the outermost voxel centres of the image.
    pub inside: usize,
}

/// Resamples an image on `grid`. `map` maps points of the grid to points of the image, in LPS mm: [`Transform::map`],
/// [`Transform::inverse_map`] or a matrix, `&matrix.into()`. The pixel type stays the same. A linear map is applied on
/// the backend, any other on the CPU. Cubic interpolators may exceed the intensity range of the image; if pixels are
/// integers, they are clamped to their type when they are written.
///
/// # Errors
/// [`Error::Option`] for an image or a grid that is too large, [`Error::Device`] if the backend has too little memory.
///
/// [`Transform::map`]: crate::transform::Transform::map
/// [`Transform::inverse_map`]: crate::transform::Transform::inverse_map
pub fn resample(
    image: &Volume,
    grid: &Geometry,
    map: &TransformMap,
    how: &Resampling,
    backend: &dyn Backend,
) -> Result<Resampled> {
    match map.affine() {
        Some(affine) => resample_linear(image, grid, affine, how, backend),
        None => resample_rows(image, grid, |points| take_points(map, points), how),
    }
}

fn resample_linear(
    image: &Volume,
    grid: &Geometry,
    map: &DAffine3,
    how: &Resampling,
    backend: &dyn Backend,
) -> Result<Resampled> {
    check(&image.geometry, grid)?;
    fills_its_grid(image)?;
    let map = voxel_map(grid, &image.geometry, map);
    let onto = |image: &Volume, how: &Resampling| backend.resample(image, grid.size, &map, how.interpolator);
    let mut voxels = with_gaps(image, how, onto)?;
    let last = last(image.geometry.size.map(|n| n as u32));
    let height = grid.size[1];
    let rows = voxels.par_chunks_mut(grid.size[0]).enumerate().map(|(row, voxels)| {
        let place = |x: usize| [x, row % height, row / height].map(|n| n as u32);
        let beyond = voxels.iter_mut().enumerate().filter(|(x, _)| !inside(affine::position(&map, place(*x)), last));
        grid.size[0] - beyond.map(|(_, voxel)| *voxel = how.outside).count()
    });
    let inside = rows.sum();
    Ok(Resampled { volume: Volume { geometry: *grid, voxels, pixel: image.pixel }, inside })
}

/// Resamples an image through any `map` of points (grid to image, LPS mm), on the CPU.
///
/// # Errors
/// [`Error::Option`] for an image or a grid that is too large.
pub fn resample_through(
    image: &Volume,
    grid: &Geometry,
    map: impl Fn(DVec3) -> DVec3 + Sync,
    how: &Resampling,
) -> Result<Resampled> {
    resample_rows(image, grid, |points| points.iter_mut().for_each(|point| *point = map(*point)), how)
}

/// Resamples an image through a map that takes a row of points at a time.
fn resample_rows(
    image: &Volume,
    grid: &Geometry,
    map: impl Fn(&mut [DVec3]) + Sync,
    how: &Resampling,
) -> Result<Resampled> {
    check(&image.geometry, grid)?;
    fills_its_grid(image)?;
    let mut inside = 0;
    let voxels = with_gaps(image, how, |image, how| {
        let (voxels, count) = through(image, grid, &map, how)?;
        inside = count;
        Ok(voxels)
    })?;
    Ok(Resampled { volume: Volume { geometry: *grid, voxels, pixel: image.pixel }, inside })
}

/// The voxels of [`resample_rows`], and the number of them inside the image.
fn through(
    image: &Volume,
    grid: &Geometry,
    map: &(impl Fn(&mut [DVec3]) + Sync),
    how: &Resampling,
) -> Result<(Vec<f32>, usize)> {
    let samples = &*CubicImage::samples(image, how.interpolator)?;
    let (to_mm, to_voxel) = (grid.index_to_world(), image.geometry.world_to_index());
    let [width, height, _] = grid.size;
    let mut voxels = vec![how.outside; grid.voxels()];
    let row = |points: &mut Vec<DVec3>, (row, voxels): (usize, &mut [f32])| {
        let (y, z) = ((row % height) as f64, (row / height) as f64);
        points.clear();
        points.extend((0..width).map(|x| to_mm.transform_point3(DVec3::new(x as f64, y, z))));
        map(points);
        take_samples(samples, image.geometry.size, how.interpolator, &to_voxel, points, voxels)
    };
    let rows = voxels.par_chunks_mut(width).enumerate();
    let inside = rows.map_init(|| Vec::with_capacity(width), row).sum();
    Ok((voxels, inside))
}

widest! {
    /// Maps points by a transform.
    fn take_points(map: &TransformMap, points: &mut [DVec3]) {
        for point in points {
            *point = map.transform_point3(*point);
        }
    }
}

widest! {
    /// Interpolates an image, whose samples must fill its grid, at points in LPS mm. Writes the voxels of those points
    /// that are inside, and returns their number.
    fn take_samples(samples: &[f32], size: [usize; 3], how: Interpolator, to_voxel: &DAffine3, points: &[DVec3], voxels: &mut [f32]) -> usize {
        let size = size.map(|n| n as u32);
        let mut inside = 0;
        for (point, voxel) in points.iter().zip(voxels) {
            // Adding 0 turns -0 into 0.
            let position = (to_voxel.transform_point3(*point).as_vec3() + Vec3::ZERO).to_array();
            if interpolate::inside(position, last(size)) {
                inside += 1;
                // SAFETY: the samples fill the grid, with padding for cubic interpolators.
                *voxel = unsafe {
                    match how.is_cubic() {
                        true => cubic::at(samples, size, position, how),
                        false => interpolate::at(|i| samples[i], size, position, how),
                    }
                };
            }
        }
        inside
    }
}

/// Resamples the PNG, JPEG or TIFF at `path` on `grid`, and writes the result to `out`. `map` maps points of the grid
/// to points of the image, in LPS mm. Interpolation is linear, with 0 outside. All pixels of the image are used, even
/// if `options` limit their number, and kept as 8 or 16 bits, so that large images fit in memory. The result is that of
/// [`resample`], rounded.
///
/// # Errors
/// Those of [`io::read_with`](crate::io::read_with) and [`io::write`](crate::io::write), and [`Error::Option`] for an
/// image or a grid that is too large.
pub fn move_picture(path: &Path, options: &ReadOptions, grid: &Geometry, map: &DAffine3, out: &Path) -> Result<()> {
    let whole = Whole::read(path, options)?;
    check(&whole.geometry, grid)?;
    let map = voxel_map(grid, &whole.geometry, map);
    let samples = match &whole.samples {
        Samples::Bytes(_) => Samples::Bytes(stored_samples(&whole, grid, &map, |v| v as u8)),
        Samples::Words(_) => Samples::Words(stored_samples(&whole, grid, &map, |v| v as u16)),
    };
    drop(whole);
    Whole { geometry: *grid, samples }.write(out)
}

/// The intensities of a 2-D image at each pixel of `grid`, rounded and converted by `as_stored`.
fn stored_samples<T: Copy + Default + Send>(
    whole: &Whole,
    grid: &Geometry,
    map: &Affine,
    as_stored: impl Fn(f32) -> T + Sync,
) -> Vec<T> {
    let width = grid.size[0];
    let mut samples = vec![T::default(); grid.voxels()];
    samples.par_chunks_mut(width).enumerate().for_each(|(y, samples)| {
        let mut row = vec![0.0_f32; width];
        resample_row(whole, map, y as u32, &mut row);
        samples.iter_mut().zip(row).for_each(|(sample, v)| *sample = as_stored(v.round_ties_even()));
    });
    samples
}

widest! {
    /// Interpolates a 2-D image at the pixels of row `y` of a grid.
    fn resample_row(whole: &Whole, map: &Affine, y: u32, row: &mut [f32]) {
        let size = whole.geometry.size.map(|n| n as u32);
        for (x, pixel) in row.iter_mut().enumerate() {
            let position = affine::position(map, [x as u32, y, 0]);
            // SAFETY: the samples fill the grid.
            *pixel = unsafe {
                match &whole.samples {
                    Samples::Bytes(bytes) => interpolate::at(|i| bytes[i].into(), size, position, Interpolator::Linear),
                    Samples::Words(words) => interpolate::at(|i| words[i].into(), size, position, Interpolator::Linear),
                }
            };
        }
    }
}

/// Resamples an image that may have voxels without data. Voxels of the result that would depend on them are NaN.
/// `resample` never gets NaN: it is called with the gaps filled, and then with an image that is 1 in voxels without
/// data and 0 elsewhere.
///
/// # Errors
/// Those of `resample`.
pub(crate) fn with_gaps(
    image: &Volume,
    how: &Resampling,
    mut resample: impl FnMut(&Volume, &Resampling) -> Result<Vec<f32>>,
) -> Result<Vec<f32>> {
    if !image.has_gaps() {
        return resample(image, how);
    }
    let mut voxels = resample(&filled(image.clone()), how)?;
    let missing = image.with(|n| f32::from(u8::from(image.voxels[n].is_nan())));
    let nearest = how.interpolator == Interpolator::Nearest;
    // With a cubic interpolator, gaps would affect voxels further away.
    let interpolator = if nearest { Interpolator::Nearest } else { Interpolator::Linear };
    let gaps = resample(&missing, &Resampling { interpolator, outside: 0.0 })?;
    voxels.par_iter_mut().zip(gaps).filter(|(_, gap)| *gap > 0.0).for_each(|(voxel, _)| *voxel = f32::NAN);
    Ok(voxels)
}

/// Refuses an image whose number of voxels is not that of its grid.
fn fills_its_grid(image: &Volume) -> Result<()> {
    match image.voxels.len() == image.geometry.voxels() {
        true => Ok(()),
        false => Err(Error::option(
            Setting::Moving,
            format!("the image's {} voxels do not fill its grid", image.voxels.len()),
        )),
    }
}

/// Checks early whether [`resample`] and [`move_picture`] can take this image and grid.
///
/// # Errors
/// [`Error::Option`] for one that is too large.
pub fn check(image: &Geometry, grid: &Geometry) -> Result<()> {
    addressable(Setting::Moving, image)?;
    addressable(Setting::Fixed, grid)
}

fn addressable(which: Setting, grid: &Geometry) -> Result<()> {
    let [i, j, k] = grid.size;
    if grid.size.contains(&0) || !grid.is_addressable() {
        let what = if which == Setting::Moving { "the image" } else { "the grid to resample on" };
        return Err(Error::option(
            which,
            message!(
                "{what} has {i} x {j} x {k} voxels: 2^31 in all and 32768 along an axis are the most";
                "make it coarser"
            ),
        ));
    }
    Ok(())
}
