//! Where a registration starts.

use crate::Volume;
use glam::DVec3;

/// A translation to start from, and what it is called.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Start {
    pub name: &'static str,
    /// LPS mm.
    pub translation: DVec3,
}

/// The headers as they are, the grids' middles on each other, and the centres of mass on each other. Coarse volumes will do.
pub fn candidates(fixed: &Volume, moving: &Volume) -> [Start; 3] {
    [
        Start { name: "header", translation: DVec3::ZERO },
        Start { name: "geometry", translation: moving.geometry.centre() - fixed.geometry.centre() },
        Start { name: "mass", translation: centre_of_mass(moving) - centre_of_mass(fixed) },
    ]
}

/// The centre of the intensities above the lowest, LPS mm; the grid's middle for a constant volume.
pub fn centre_of_mass(volume: &Volume) -> DVec3 {
    let (low, _) = volume.range();
    let [width, height, _] = volume.geometry.size;
    let (mut mass, mut moment) = (0.0, DVec3::ZERO);
    for (row, voxels) in volume.voxels.chunks_exact(width).enumerate() {
        let (mut row_mass, mut row_moment) = (0.0, 0.0);
        for (x, voxel) in voxels.iter().enumerate() {
            let above = f64::from(voxel - low);
            row_mass += above;
            row_moment += above * x as f64;
        }
        mass += row_mass;
        moment += DVec3::new(row_moment, row_mass * (row % height) as f64, row_mass * (row / height) as f64);
    }
    if mass > 0.0 { volume.geometry.index_to_world().transform_point3(moment / mass) } else { volume.geometry.centre() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Geometry, PixelType};

    #[test]
    fn the_centre_of_mass_is_where_the_mass_is() {
        let geometry = Geometry::axis_aligned([4, 5, 6], DVec3::new(1.0, 2.0, 3.0), DVec3::new(-1.0, 0.0, 10.0));
        let mut voxels = vec![-100.0; geometry.voxels()];
        voxels[1 + 4 * (2 + 5 * 3)] = 0.0;
        voxels[3 + 4 * (2 + 5 * 3)] = 0.0;
        let volume = Volume { geometry, voxels, pixel: PixelType::F32 };
        assert_eq!(centre_of_mass(&volume), DVec3::new(1.0, 4.0, 19.0));
    }
}
