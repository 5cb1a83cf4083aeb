//! Mutual information with Mattes windows, and its derivative. The kernels of [`histogram`] run first, then those of
//! [`value`], which also make a table for those of [`slope`].

pub mod histogram;
pub mod slope;
pub mod value;

use crate::kernels::sample::{FineLinear, Sampler};
use crate::math::{bin, interpolate};
use crate::params::Images;

/// What is read at a voxel of the fixed image: its bin or stored value and, of the moving image, the words from which
/// its value is interpolated.
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
        // SAFETY: by this function's contract; a place is safe to read whether or not the position lies inside.
        let (at_voxel, words) = unsafe { (images.fixed.get_cached(voxel as usize), FineLinear::load(images, place)) };
        Self { position, inside, at_voxel, words, fraction: place.fraction }
    }

    /// Returns the voxel's bin or stored value, or [`bin::MASKED`] if the position is outside the moving image. The
    /// loads are first used here, so that the compiler can place them early.
    #[inline(always)]
    fn fixed(&self) -> u32 {
        u32::from(if self.inside { self.at_voxel } else { bin::MASKED })
    }

    /// Returns whether the sample counts: a bin number must be below `fixed_bins`, and a stored value must not be
    /// [`bin::MASKED`].
    #[inline(always)]
    fn counts<const BOTH: bool>(&self, fixed_bins: u32) -> bool {
        self.fixed() < if BOTH { u32::from(bin::MASKED) } else { fixed_bins }
    }
}
