//! An image on another grid, through a transform.

use glam::DAffine3;
use gpu::math::affine;
use gpu::math::interpolate::{Interpolator, inside, last};
use rayon::prelude::*;

use crate::backend::{self, BackendKind};
use crate::registration::voxel_map;
use crate::{Error, Geometry, Result, Volume};

/// What [`resample`] is to do.
#[derive(Debug, Clone, Copy)]
pub struct Resampling {
    /// What lies between voxels; partial volumes count as linear.
    pub interpolator: Interpolator,
    /// The intensity where the image does not reach.
    pub outside: f32,
    /// Where it runs.
    pub backend: BackendKind,
}

/// What [`resample`] makes.
#[derive(Debug, Clone)]
pub struct Resampled {
    pub volume: Volume,
    /// Voxels that lie on or between the outermost voxel centres of the image.
    pub inside: usize,
}

/// An image's intensities at the voxels of `grid`, each taken through `transform` (grid point to image point, LPS mm); stored as the image
/// is. Cubic interpolators may overshoot the image's range: what is stored as integers is clamped to what these can hold.
///
/// # Errors
/// [`Error::Input`] for an image or a grid too large, [`Error::Device`] where the backend is not there or too small.
pub fn resample(image: &Volume, grid: &Geometry, transform: &DAffine3, how: &Resampling) -> Result<Resampled> {
    check("the image", &image.geometry)?;
    check("the grid to resample on", grid)?;
    if image.voxels.len() != image.geometry.voxels() {
        return Err(Error::Input(format!("the image's {} voxels do not fill its grid", image.voxels.len())));
    }
    let map = voxel_map(grid, &image.geometry, transform);
    let mut voxels = backend::open(how.backend, &())?.resample(image, grid.size, &map, how.interpolator)?;
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

/// Refuses what cannot be addressed.
fn check(what: &str, grid: &Geometry) -> Result<()> {
    let [i, j, k] = grid.size;
    if grid.size.contains(&0) || !grid.is_addressable() {
        return Err(Error::Input(format!(
            "{what} has {i} x {j} x {k} voxels: 2^31 in all and 32768 along an axis are the most; make it coarser"
        )));
    }
    Ok(())
}
