//! Checks before a template starts whether it fits into memory.

use crate::deform;
use crate::registration::memory::{self, MemoryOf};
use crate::{Geometry, Result, Volume};

/// The program itself, and tables that do not grow with the images.
const PROGRAM: u64 = 16 << 20;

/// Refuses a template on `grid` for which the host's memory is too small.
///
/// # Errors
/// [`Error::Device`](crate::Error::Device) names the memory that is needed and that is free.
pub fn check(images: &[Volume], grid: &Geometry, options: &deform::Options, on_device: bool) -> Result<()> {
    let images = images.iter().map(|image| &image.geometry);
    memory::require_free(need(images, grid, options, on_device), memory::free(), MemoryOf::Host)
}

/// Estimates the bytes that are needed beside the images themselves.
fn need<'a>(
    images: impl Iterator<Item = &'a Geometry>,
    grid: &Geometry,
    options: &deform::Options,
    on_device: bool,
) -> u64 {
    // Most is needed while an image is deformed. Beside that, there are the affine mean, the mean of the round before,
    // and the sum of the displacements so far, three f64 per voxel. Of freed memory, about a field of three f32 per
    // voxel is not returned at once.
    let beside = (4 + 4 + 24 + 12) * grid.voxels() as u64 + PROGRAM;
    let each = images.map(|image| deform::memory::expected([grid, image], options, on_device));
    beside + each.max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::BackendKind;
    use crate::template::Options;
    use crate::{Engine, PixelType, Silent};
    use glam::DVec3;

    fn grid(size: [usize; 3]) -> Geometry {
        Geometry::axis_aligned(size, DVec3::ONE, DVec3::ZERO)
    }

    /// The measured numbers are the maximum resident set size of `mireg template` with 2 threads, as `/usr/bin/time`
    /// prints it.
    #[test]
    fn the_estimate_is_between_what_was_measured_and_twice_that() {
        let [fine, coarse] = [grid([181, 217, 180]), grid([91, 109, 90])];
        let measured = [
            (fine, fine, 2, "mi", 1165.0),
            (fine, fine, 4, "lcc", 1149.0),
            (fine, coarse, 2, "mi", 882.0),
            (fine, coarse, 2, "mi,lcc", 940.0),
            (coarse, coarse, 4, "mi", 167.0),
            (coarse, coarse, 8, "mi", 181.0),
        ];
        for (on, image, count, force, measured) in measured {
            let options = deform::Options { force: force.parse().unwrap(), ..deform::Options::default() };
            let need = need([image].iter().cycle().take(count), &on, &options, false);
            let found = (need + 4 * (count * image.voxels()) as u64) as f64 / 1e6;
            assert!(found > measured && found < 2.0 * measured, "{found} MB are said for {measured} MB");
        }
    }

    #[test]
    fn a_template_that_does_not_fit_is_refused_before_anything_is_kept() {
        let geometry = grid([8; 3]);
        let image =
            Volume { geometry, voxels: (0..geometry.voxels()).map(|n| n as f32).collect(), pixel: PixelType::F32 };
        let options = Options { grid: Some(grid([1 << 15; 3])), ..Options::default() };
        let folder = tempfile::tempdir().unwrap();
        let kept = folder.path().join("kept");
        let engine = Engine::open(BackendKind::Cpu, 1, &Silent).unwrap();
        let made = engine.template(&[image.clone(), image], &options, &kept, &mut |_, _| Ok(()), &Silent);
        let message = made.unwrap_err().to_string();
        assert!(message.contains("GB of memory, and") && message.contains("GB are free"), "{message}");
        assert!(!kept.exists());
    }
}
