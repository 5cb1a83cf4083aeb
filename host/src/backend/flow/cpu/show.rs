//! The moving image resampled through a field, for comparison with what another field gives.

// Loops over lanes index several arrays at once.
#![allow(clippy::needless_range_loop)]

use super::task::FlowTask;
use crate::backend::lanes::CHUNK;
use crate::backend::lanes::simd::widest;
use crate::backend::lanes::values::fine_linear;
use crate::threads::should_continue;
use gpu::math::flow;
use rayon::prelude::*;

/// Rows of a piece of work.
const ROWS: usize = 64;

/// Writes the moving image resampled at every voxel (`shown`), and whether the voxel lies inside the moving image and
/// its mask (`seen`). The fixed image and its mask play no part.
pub fn show(task: &FlowTask, shown: &mut [u16], seen: &mut [u8]) {
    let task = FlowTask { masks: [&[], task.masks[1]], ..*task };
    let (width, voxels) = (task.grid.size[0] as usize, task.grid.voxels());
    let rows = shown[..voxels].par_chunks_mut(ROWS * width).zip(seen.par_chunks_mut(ROWS * width)).enumerate();
    rows.take_any_while(|_| should_continue())
        .for_each(|(piece, (shown, seen))| show_rows(&task, piece * ROWS, shown, seen));
}

widest! {
    fn show_rows(task: &FlowTask, first: usize, shown: &mut [u16], seen: &mut [u8]) {
        let width = task.grid.size[0] as usize;
        for (row, (shown, seen)) in shown.chunks_exact_mut(width).zip(seen.chunks_exact_mut(width)).enumerate() {
            for x in (0..width).step_by(CHUNK) {
                let (_, inside) = task.positions(first + row, x);
                let (positions, counts) = task.counted(first + row, x);
                let moving = fine_linear(task.moving, task.moving_size, &positions);
                for l in 0..CHUNK.min(width - x) {
                    // SAFETY: interpolated values lie between stored ones.
                    shown[x + l] = if inside[l] { unsafe { flow::rounded_to_stored(moving[l]) } } else { 0 };
                    seen[x + l] = u8::from(counts[l]);
                }
            }
        }
    }
}
