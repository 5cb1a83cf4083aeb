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

/// Writes the moving image resampled at every voxel (`resampled`), and whether the voxel lies inside the moving image
/// and its mask (`kept`). The fixed image and its mask play no part.
pub fn resample(task: &FlowTask, resampled: &mut [u16], kept: &mut [u8]) {
    let task = FlowTask { masks: [&[], task.masks[1]], ..*task };
    let (width, voxels) = (task.grid.size[0] as usize, task.grid.voxels());
    let rows = resampled[..voxels].par_chunks_mut(ROWS * width).zip(kept.par_chunks_mut(ROWS * width)).enumerate();
    rows.take_any_while(|_| should_continue())
        .for_each(|(piece, (resampled, kept))| resample_rows(&task, piece * ROWS, resampled, kept));
}

widest! {
    fn resample_rows(task: &FlowTask, first: usize, resampled: &mut [u16], kept: &mut [u8]) {
        let width = task.grid.size[0] as usize;
        let rows = resampled.chunks_exact_mut(width).zip(kept.chunks_exact_mut(width));
        for (row, (resampled, kept)) in rows.enumerate() {
            for x in (0..width).step_by(CHUNK) {
                let (_, inside) = task.positions(first + row, x);
                let (positions, counts) = task.counted(first + row, x);
                let moving = fine_linear(task.moving, task.moving_size, &positions);
                for l in 0..CHUNK.min(width - x) {
                    // SAFETY: interpolated values lie between stored ones.
                    resampled[x + l] = if inside[l] { unsafe { flow::rounded_to_stored(moving[l]) } } else { 0 };
                    kept[x + l] = u8::from(counts[l]);
                }
            }
        }
    }
}
