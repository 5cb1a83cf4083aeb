//! Estimates the duration of runs, by which `auto` chooses a backend.
//!
//! The constants were measured with default options on an H200 and 16 threads beside it, and on 2 threads of another
//! machine. Estimates are within a factor of two of the measurements. They need not be better, since the choice of a
//! backend matters little if both take about the same time.

use crate::backend::Work;
use crate::metric::Metric;
use crate::registration::Options;
use crate::{Geometry, Volume};

/// Seconds of one CPU thread per voxel of both images, to smooth, count and resample them.
const VOXEL: f64 = 75e-9;
/// Seconds of one CPU thread for the search of a registration: with a smooth metric, with a counted metric, and of 2-D
/// images, for which all places are tried.
const BY_WINDOWS: f64 = 0.5;
const BY_COUNTS: f64 = 2.5;
const AMONG_PLACES: f64 = 2.0;
/// Seconds of one CPU thread per voxel for a deformation, in general and of small volumes, whose fields are also tried
/// on a finer level.
const DEFORMED: f64 = 3e-6;
const DEFORMED_IF_FEW: f64 = 11e-6;
/// The most voxels of such small volumes.
const FEW: f64 = 1e6;
/// The most threads that a deformation makes use of, since most of its levels are small.
const DEFORMING: usize = 4;
/// Seconds of one CPU thread per pixel of both images for a mesh.
const MESHED: f64 = 4e-6;
/// Seconds that a GPU takes: per registration, per voxel of both images of a registration, per voxel of a deformation,
/// and per pixel of both images of a mesh.
const GPU: f64 = 0.05;
const GPU_VOXEL: f64 = 1.5e-9;
const GPU_DEFORMED: f64 = 30e-9;
const GPU_MESHED: f64 = 0.5e-6;

/// Distributes CPU seconds over this many threads.
fn work(thread_seconds: f64, threads: usize, on_gpu: f64) -> Work {
    Work { on_cpu: thread_seconds / threads as f64, on_gpu }
}

fn sum(one: Work, other: Work) -> Work {
    Work { on_cpu: one.on_cpu + other.on_cpu, on_gpu: one.on_gpu + other.on_gpu }
}

fn voxels(grids: [&Geometry; 2]) -> f64 {
    grids.iter().map(|grid| grid.voxels() as f64).sum()
}

/// The duration of a registration.
pub fn registration(images: [&Volume; 2], options: &Options, threads: usize) -> Work {
    let grids = images.map(|image| &image.geometry);
    let search = match options.metric {
        _ if grids[0].is_flat() => AMONG_PLACES,
        Metric::Counted(_) => BY_COUNTS,
        Metric::Mattes(_) | Metric::Viola(_) => BY_WINDOWS,
    };
    work(search + VOXEL * voxels(grids), threads, GPU + GPU_VOXEL * voxels(grids))
}

/// The duration of a deformation, initial registration included.
pub fn deformation(grids: [&Geometry; 2], threads: usize) -> Work {
    let (deformed, all) = (grids[0].voxels() as f64, voxels(grids));
    let each = if deformed <= FEW && !grids[0].is_flat() { DEFORMED_IF_FEW } else { DEFORMED };
    let registered = work(BY_WINDOWS + VOXEL * all, threads, 2.0 * GPU + GPU_VOXEL * all);
    let flow = work(each * deformed, threads.min(DEFORMING), GPU_DEFORMED * deformed);
    sum(registered, flow)
}

/// The duration of a mesh registration, initial registration included.
pub fn mesh(grids: [&Geometry; 2], threads: usize) -> Work {
    let all = voxels(grids);
    work(AMONG_PLACES + MESHED * all, threads, 2.0 * GPU + GPU_MESHED * all)
}

/// The duration of a template, which deforms every image in every round.
pub fn template(images: &[Volume], rounds: usize, threads: usize) -> Work {
    let each = images.iter().map(|image| deformation([&image.geometry; 2], threads));
    let round = each.fold(work(0.0, 1, 0.0), sum);
    Work { on_cpu: rounds as f64 * round.on_cpu, on_gpu: rounds as f64 * round.on_gpu }
}

/// The duration of one pass over both images, such as a comparison at full resolution.
pub fn single_pass(grids: [&Geometry; 2], threads: usize) -> Work {
    let all = voxels(grids);
    work(VOXEL / 2.0 * all, threads, GPU_VOXEL * all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec3;

    /// Checks against the machine with an H200, where opening the GPU takes 0.35 s.
    #[test]
    fn small_volumes_are_worth_a_gpu_and_tiny_ones_are_not() {
        let gains = |side: usize| {
            let grid = Geometry::axis_aligned([side; 3], DVec3::ONE, DVec3::ZERO);
            let Work { on_cpu, on_gpu } = deformation([&grid; 2], 16);
            on_cpu - on_gpu
        };
        assert!(gains(64) > 0.35 && gains(90) > 0.35 && gains(200) > 0.35 && gains(40) < 0.35);
    }
}
