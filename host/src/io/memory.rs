//! Converts images that a caller has in memory to volumes, and back.

use std::path::Path;

use glam::{DMat3, DVec3};

use super::{check, coding, voxels};
use crate::{Error, Geometry, PixelType, Result, Volume};

/// The spacing of a grid, in mm, and the directions of its axes in LPS.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Axes {
    pub spacing: DVec3,
    /// As columns, the unit vectors of the i, j and k axes.
    pub direction: DMat3,
}

impl Axes {
    /// Splits a matrix, whose columns are the steps from voxel to voxel along i, j and k in LPS mm, in the same way as
    /// the readers of files.
    pub fn of(matrix: DMat3) -> Self {
        let [i, j, k] = [matrix.x_axis, matrix.y_axis, matrix.z_axis];
        let spacing = DVec3::new(i.length(), j.length(), k.length());
        Self { spacing, direction: DMat3::from_cols(i / spacing.x, j / spacing.y, k / spacing.z) }
    }
}

/// Makes a grid that a caller describes, with the checks that apply to files. `origin` is the centre of the first voxel
/// in LPS mm. `name` is used as the file name in errors.
///
/// # Errors
/// [`Error::File`] for fewer than 2 voxels along i or j, and for axes that are not at right angles or whose matrix has
/// no inverse.
pub fn grid(name: &Path, size: [usize; 3], axes: &Axes, origin: DVec3) -> Result<Geometry> {
    let size = check::size(size.map(|n| i64::try_from(n).unwrap_or(i64::MAX))).map_err(Error::at(name))?;
    check::geometry(size, axes.spacing, origin, axes.direction).map_err(Error::at(name))
}

/// Makes a volume of a caller's intensities on a [`grid`], i fastest, then j, then k. `pixel` is their original type.
///
/// # Errors
/// [`Error::File`] if their number is not that of the voxels of the grid, and for infinite intensities.
pub fn volume(name: &Path, geometry: Geometry, voxels: Vec<f32>, pixel: PixelType) -> Result<Volume> {
    if voxels.len() != geometry.voxels() {
        let message = format!("has {} intensities for {} voxels; give one each", voxels.len(), geometry.voxels());
        return Err(Error::file(name, message));
    }
    voxels::finite(&voxels, &voxels::Shape::scalar(geometry.size)).map_err(Error::at(name))?;
    Ok(Volume { geometry, voxels, pixel })
}

/// The intensities of a volume as a file stores them: little-endian, with integers rounded to the nearest (ties to
/// even) and clamped.
pub fn stored(volume: &Volume) -> Vec<u8> {
    coding::encode_at_once(&volume.voxels, volume.pixel)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_callers_image_is_checked_as_a_files() {
        let name = Path::new("fixed");
        let axes = Axes::of(DMat3::from_cols(DVec3::Y * 2.0, DVec3::X * -3.0, DVec3::Z));
        assert_eq!(axes.spacing, DVec3::new(2.0, 3.0, 1.0));
        assert_eq!(axes.direction, DMat3::from_cols(DVec3::Y, DVec3::NEG_X, DVec3::Z));
        let geometry = grid(name, [2, 2, 2], &axes, DVec3::ONE).unwrap();
        let made = |voxels| volume(name, geometry, voxels, PixelType::U8);
        assert_eq!(stored(&made(vec![300.0, 0.5, 1.5, 0.0, 0.0, 0.0, 0.0, 7.0]).unwrap()), [255, 0, 2, 0, 0, 0, 0, 7]);
        let few = made(vec![0.0; 7]).unwrap_err().to_string();
        assert_eq!(few, "fixed: has 7 intensities for 8 voxels; give one each");
        assert!(made(vec![f32::INFINITY; 8]).unwrap_err().to_string().contains("infinite"));
        let flat = Axes::of(DMat3::from_cols(DVec3::X, DVec3::X, DVec3::Z));
        assert!(grid(name, [2, 2, 2], &flat, DVec3::ZERO).unwrap_err().to_string().contains("right angles"));
        assert!(grid(name, [2, 1, 2], &axes, DVec3::ZERO).is_err());
    }
}
