//! Maps that turn displacements on the fixed image's grid, in voxels, into vectors in LPS mm.

use crate::backend::VectorMaps;
use crate::image::Geometry;
use glam::DAffine3;

/// Returns the maps for the field, from the fixed image through the displacements and then the start, and for its
/// inverse, from the moving image back.
pub fn maps([fixed, moving]: [&Geometry; 2], start: &DAffine3) -> [VectorMaps; 2] {
    let [of_fixed, of_moving] = [fixed, moving].map(|grid| grid.index_to_world());
    let back = fixed.world_to_index() * start.inverse() * of_moving;
    [
        VectorMaps { from: rows(&DAffine3::IDENTITY), to: rows(&(*start * of_fixed)), own: rows(&of_fixed) },
        VectorMaps { from: rows(&back), to: rows(&of_fixed), own: rows(&of_moving) },
    ]
}

fn rows(map: &DAffine3) -> [[f64; 4]; 3] {
    [0, 1, 2].map(|row: usize| [map.x_axis[row], map.y_axis[row], map.z_axis[row], map.translation[row]])
}
