//! Mutual information with Mattes windows and its derivative: [`histogram`], then [`value`], which leaves a table for [`slope`].

pub mod histogram;
pub mod slope;
pub mod value;

use crate::kernels::sample::{FineLinear, Sampler};
use crate::math::{bin, interpolate};
use crate::params::Images;

/// The stored values at a voxel of the fixed image, before interpolation.
#[derive(Clone, Copy)]
struct Sample {
    position: [f32; 3],
    /// Whether the position lies inside the moving image.
    inside: bool,
    /// The voxel's bin or stored value.
    at_voxel: u16,
    words: <FineLinear as Sampler>::Words,
    fraction: [f32; 3],
}

impl Sample {
    /// Reads the voxel of this number at its position in the moving image.
    ///
    /// # Safety
    /// The voxel is in the fixed image, and the slices are as long as the sizes say.
    #[inline(always)]
    unsafe fn read(images: &Images, voxel: u32, position: [f32; 3]) -> Self {
        let inside = interpolate::inside(position, interpolate::last(images.moving_size));
        let place = FineLinear::place(inside, position, images.moving_size);
        // SAFETY: as this function's; a place is safe to read whether or not the position lies inside.
        let (at_voxel, words) = unsafe { (images.fixed.get_cached(voxel as usize), FineLinear::load(images, place)) };
        Self { position, inside, at_voxel, words, fraction: place.fraction }
    }

    /// The voxel's bin or stored value; [`bin::MASKED`] outside the moving image as well. Nothing of what was read is looked at before.
    #[inline(always)]
    fn fixed(&self) -> u32 {
        u32::from(if self.inside { self.at_voxel } else { bin::MASKED })
    }

    /// Whether it counts. Bin numbers are below `bins`, stored values are not [`bin::MASKED`].
    #[inline(always)]
    fn counts<const BOTH: bool>(&self, fixed_bins: u32) -> bool {
        self.fixed() < if BOTH { u32::from(bin::MASKED) } else { fixed_bins }
    }
}
