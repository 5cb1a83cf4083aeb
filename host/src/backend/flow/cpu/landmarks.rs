//! The forces of landmarks.

use super::task::FieldView;
use crate::backend::flow::FlowLandmark;
use gpu::math::flow::{self, VoxelForce};

/// Adds the forces and precisions of landmarks to three planes of force and one of precision. `squares`, weight and
/// limit are those of [`flow::with_landmark`].
pub fn add_forces(
    landmarks: &[FlowLandmark],
    grid: &FieldView,
    squares: [f32; 3],
    how: (f32, f32),
    planes: &mut [f32],
) {
    let at = |voxel: u32, plane: usize| voxel as usize + plane * grid.voxels();
    for &FlowLandmark { voxel, known } in landmarks {
        let displacement = [0, 1, 2].map(|plane| grid.field[at(voxel, plane)]);
        let force =
            VoxelForce { force: [0, 1, 2].map(|plane| planes[at(voxel, plane)]), precision: planes[at(voxel, 3)] };
        let VoxelForce { force: [x, y, z], precision } = flow::with_landmark(force, displacement, known, squares, how);
        for (plane, number) in [x, y, z, precision].into_iter().enumerate() {
            planes[at(voxel, plane)] = number;
        }
    }
}
