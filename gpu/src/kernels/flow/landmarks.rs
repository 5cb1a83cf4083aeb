//! Adds the forces by which landmarks pull the field towards their known displacements.

use super::{read, read_force, write_force};
use crate::math::flow::{self, KnownDisplacement};
use crate::params::FlowLandmarks;
use cuda_std::kernel;
use cuda_std::thread::index_1d;

/// Adds the force of each landmark, and its precision, to those at its voxel. One thread per landmark, in blocks of any
/// size that cover them.
///
/// # Safety
/// The slices are as long as their documentation, `len` and the size say; the voxels are those of the grid, and each is there once.
#[kernel]
pub unsafe fn flow_landmarks(p: FlowLandmarks) {
    let at = index_1d();
    if at >= p.len {
        return;
    }
    let at = at as usize;
    // SAFETY: below `len`; else by this function's contract.
    unsafe {
        let voxel = p.voxels.get_cached(at);
        let [x, y, z, precision] = [0, 1, 2, 3].map(|number: usize| p.targets.get_cached(4 * at + number));
        let known = KnownDisplacement { displacement: [x, y, z], precision };
        let planes = [p.force, p.precision];
        let force = flow::with_landmark(
            read_force(planes, p.size, voxel),
            read(p.field, p.size, voxel),
            known,
            p.squares,
            (p.weight, p.limit),
        );
        write_force(planes, p.size, voxel, force);
    }
}
