//! The padded volumes that cubic interpolators read.

use super::{StoredImage, Volume, prefilter};
use crate::error::{Setting, message};
use crate::{Error, Result};
use gpu::math::interpolate::Interpolator;
use rayon::prelude::*;
use std::borrow::Cow;

/// An f32 volume of voxels (Catmull-Rom) or B-spline coefficients. It is [`padded`](gpu::math::cubic::padded) along
/// every axis by one voxel before and two after, which mirror it about its outermost voxel centres.
#[derive(Debug, Clone, PartialEq)]
pub struct CubicImage {
    /// Voxels along x, y and z, without the padding.
    pub size: [usize; 3],
    /// The numbers including the padding, x fastest.
    pub values: Vec<f32>,
}

impl CubicImage {
    /// Makes the padded volume of an image with 16-bit values.
    ///
    /// # Errors
    /// [`Error::Option`] if the padded volume has 2^31 voxels or more.
    pub fn new(stored: &StoredImage, how: Interpolator) -> Result<Self> {
        Self::of(stored.size, stored.voxels().par_iter().map(|&v| f32::from(v)).collect(), how)
    }

    /// The numbers that resampling a volume reads: its own voxels or, for a cubic interpolator, the padded ones.
    ///
    /// # Errors
    /// As [`CubicImage::new`].
    pub fn samples(volume: &Volume, how: Interpolator) -> Result<Cow<'_, [f32]>> {
        Ok(match how.is_cubic() {
            true => Cow::Owned(Self::of(volume.geometry.size, volume.voxels.clone(), how)?.values),
            false => Cow::Borrowed(&volume.voxels),
        })
    }

    fn of(size: [usize; 3], mut voxels: Vec<f32>, how: Interpolator) -> Result<Self> {
        let [width, height, depth] = size;
        let [padded_width, padded_height, padded_depth] = size.map(|n| n + 3);
        let padded = padded_width * padded_height * padded_depth;
        // Voxels are numbered by 31 bits.
        if padded >= 1 << 31 {
            return Err(Error::option(
                Setting::Interpolator,
                message!(
                    "an image of {width} x {height} x {depth} voxels is too large for cubic interpolation";
                    "make it coarser, or interpolate linearly"
                ),
            ));
        }
        if how == Interpolator::BSpline {
            prefilter::filter(&mut voxels, size);
        }
        let columns: Vec<usize> = (0..padded_width).map(|x| mirrored(x, width)).collect();
        let mut values = vec![0.0; padded];
        values.par_chunks_exact_mut(padded_width).enumerate().for_each(|(row, out)| {
            let (y, z) = (mirrored(row % padded_height, height), mirrored(row / padded_height, depth));
            let row = &voxels[(y + height * z) * width..][..width];
            out.iter_mut().zip(&columns).for_each(|(out, &x)| *out = row[x]);
        });
        Ok(Self { size, values })
    }
}

/// The voxel along an axis of `size` that is at index `padded` of the padded axis.
fn mirrored(padded: usize, size: usize) -> usize {
    let period = 2 * (size - 1).max(1);
    // Voxel -1, the first of the padding, is `period - 1`.
    let voxel = (padded + period - 1) % period;
    voxel.min(period - voxel).min(size - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Interpolator::{BSpline, CatmullRom};
    use gpu::math::cubic;

    /// An image of 16-bit fractions made from a function of voxel indices.
    fn image(size: [usize; 3], value: impl Fn([f32; 3]) -> f32) -> StoredImage {
        let [nx, ny, nz] = size;
        let voxel = |i: usize| value([i % nx, i / nx % ny, i / (nx * ny)].map(|n| n as f32)) as u16;
        StoredImage { size, values: (0..nx * ny * nz).map(voxel).collect() }
    }

    fn at(image: &CubicImage, position: [f32; 3], how: Interpolator) -> f32 {
        // SAFETY: the image is padded.
        unsafe { cubic::at(&image.values[..], image.size.map(|n| n as u32), position, how) }
    }

    #[test]
    fn the_padding_mirrors_about_the_outermost_centres() {
        let axis = |size| (0..size + 3).map(|x| mirrored(x, size)).collect::<Vec<_>>();
        assert_eq!(axis(5), [1, 0, 1, 2, 3, 4, 3, 2]);
        assert_eq!(axis(3), [1, 0, 1, 2, 1, 0]);
        assert_eq!(axis(2), [1, 0, 1, 0, 1]);
        assert_eq!(axis(1), [0, 0, 0, 0]);
    }

    #[test]
    fn an_image_whose_voxels_cannot_be_numbered_is_refused() {
        // 1.8e9 voxels, but 4.5e9 with their padding.
        let error = CubicImage::of([2, 30_000, 30_000], Vec::new(), CatmullRom).unwrap_err();
        assert!(error.to_string().contains("too large for cubic interpolation"), "{error}");
    }

    #[test]
    fn voxels_keep_their_values() {
        for size in [[9, 7, 5], [2, 3, 4], [1, 2, 1]] {
            let stored = image(size, |[x, y, z]| (x * 7919.0 + y * 1013.0 + z * 31_337.0) % 65536.0);
            for (how, tolerance) in [(CatmullRom, 0.0), (BSpline, 0.05)] {
                let cubic = CubicImage::new(&stored, how).unwrap();
                for (i, &voxel) in stored.voxels().iter().enumerate() {
                    let [nx, ny, _] = size;
                    let value = at(&cubic, [i % nx, i / nx % ny, i / (nx * ny)].map(|n| n as f32), how);
                    assert!((value - f32::from(voxel)).abs() <= tolerance, "{how:?}, {size:?}: {value}, not {voxel}");
                }
            }
        }
    }

    #[test]
    fn ramps_stay_ramps_inside() {
        let ramp = |[x, y, z]: [f32; 3]| 40.0 * x + 300.0 * y + 1000.0 * z + 5000.0;
        let stored = image([30, 31, 32], ramp);
        for how in [CatmullRom, BSpline] {
            let cubic = CubicImage::new(&stored, how).unwrap();
            for position in [[15.5, 15.25, 15.125], [14.0, 16.9, 17.3], [16.01, 15.99, 14.5]] {
                let (value, expected) = (at(&cubic, position, how), ramp(position));
                assert!((value - expected).abs() < 0.03, "{how:?} at {position:?}: {value}, not {expected}");
            }
        }
    }

    #[test]
    fn cubic_polynomials_stay_so_far_inside() {
        let cube = |[x, y, z]: [f32; 3]| x * x * x + 2.0 * y * y * y + z * y * x + 100.0;
        let cubic = CubicImage::new(&image([25, 25, 25], cube), BSpline).unwrap();
        for position in [[12.5, 11.25, 12.125], [11.0, 11.7, 12.75]] {
            let (value, expected) = (at(&cubic, position, BSpline), cube(position));
            assert!((value - expected).abs() < 0.03, "at {position:?}: {value}, not {expected}");
        }
    }

    #[test]
    fn a_constant_stays_to_the_last_bit() {
        let volume = image([11, 9, 8], |_| 40_961.0);
        for how in [CatmullRom, BSpline] {
            let cubic = CubicImage::new(&volume, how).unwrap();
            for position in [[0.0, 0.0, 0.0], [10.0, 8.0, 7.0], [3.3, 7.9, 0.2], [9.99, 4.5, 6.1]] {
                assert_eq!(at(&cubic, position, how), 40_961.0, "{how:?} at {position:?}");
            }
        }
    }
}
