//! Cubic interpolation: four taps along each axis, 64 in all, summed along y, then z, then x.
//!
//! For a fraction t between the second tap and the third, the weights are, with u = 1 - t:
//! - Catmull-Rom (Keys's cubic convolution with a = -1/2):
//!   -t u^2 / 2, u (1 + 4 u - 3 u^2) / 2, t (1 + 4 t - 3 t^2) / 2, -t^2 u / 2;
//! - cubic B-spline: u^3 / 6, 2/3 - t^2 + t^3 / 2, 2/3 - u^2 + u^3 / 2, t^3 / 6.
//!
//! The second weight is 1 minus the others. It is never computed: the other weights are applied to differences from the
//! second tap. Equal taps therefore give exactly their own value, and a constant image stays in one bin. Catmull-Rom
//! also gives a voxel's own value at its centre.
//!
//! The sampled volume holds f32 voxels (Catmull-Rom) or coefficients (B-spline), padded by one voxel before and two
//! voxels after the volume along every axis ([`padded`]), so that no tap needs a bounds check. The padding mirrors the
//! volume about its outermost voxel centres. The coefficients of the B-spline are computed for this boundary condition.
//! For Catmull-Rom, several are possible; this one adds no intensity that is not in the image.

use super::bin;
use super::interpolate::{self, Interpolator, Place};
#[cfg(target_arch = "nvptx64")]
use cuda_std::GpuFloat;

/// The size of the padded volume of an image of this size.
#[inline(always)]
pub fn padded(size: [u32; 3]) -> [u32; 3] {
    [size[0] + 3, size[1] + 3, size[2] + 3]
}

/// A padded volume.
///
/// This is a trait and not a closure because a closure would not be compiled with the caller's target features on the
/// CPU.
pub trait Taps: Copy {
    /// Reads four neighbours along x, from `index` in memory on.
    ///
    /// # Safety
    /// They are in the volume.
    unsafe fn four(self, index: usize) -> [f32; 4];
}

impl Taps for &[f32] {
    #[inline(always)]
    unsafe fn four(self, index: usize) -> [f32; 4] {
        debug_assert!(index + 4 <= self.len());
        // SAFETY: by this function's contract.
        unsafe { self.as_ptr().add(index).cast::<[f32; 4]>().read_unaligned() }
    }
}

/// The weights of the first, the third and the fourth tap along an axis.
pub type Weights = [f32; 3];

/// Returns the weights along x, y and z for fractions in 0..1: those of Catmull-Rom if `how` is that, else those of the
/// B-spline.
#[inline(always)]
pub fn weights(how: Interpolator, [x, y, z]: [f32; 3]) -> [Weights; 3] {
    match how {
        Interpolator::CatmullRom => [catmull_rom(x), catmull_rom(y), catmull_rom(z)],
        _ => [b_spline(x), b_spline(y), b_spline(z)],
    }
}

#[inline(always)]
fn catmull_rom(t: f32) -> Weights {
    let (u, half) = (1.0 - t, 0.5 * t);
    [-half * (u * u), half * (t.mul_add(-3.0, 4.0).mul_add(t, 1.0)), -half * (t * u)]
}

#[inline(always)]
fn b_spline(t: f32) -> Weights {
    let (u, sixth) = (1.0 - t, 1.0 / 6.0);
    [u * u * u * sixth, u.mul_add(0.5, -1.0).mul_add(u * u, 2.0 / 3.0), t * t * t * sixth]
}

/// Returns the weighted sum of four taps along one axis.
#[inline(always)]
pub fn mix([a, b, c, d]: [f32; 4], weights: Weights) -> f32 {
    let sum = (a - b).mul_add(weights[0], b);
    let sum = (c - b).mul_add(weights[1], sum);
    (d - b).mul_add(weights[2], sum)
}

/// [`mix`] of each of four neighbours along x.
#[inline(always)]
fn mix_four([a, b, c, d]: [[f32; 4]; 4], weights: Weights) -> [f32; 4] {
    [
        mix([a[0], b[0], c[0], d[0]], weights),
        mix([a[1], b[1], c[1], d[1]], weights),
        mix([a[2], b[2], c[2], d[2]], weights),
        mix([a[3], b[3], c[3], d[3]], weights),
    ]
}

/// Returns the weighted sums along y and z, for four neighbours along x. `index` is that of the first tap in a volume
/// of `padded` size; `y` and `z` are the weights.
///
/// # Safety
/// 4 x 4 x 4 voxels from `index` on are in the volume.
#[inline(always)]
pub unsafe fn columns(taps: impl Taps, index: u32, padded: [u32; 3], y: Weights, z: Weights) -> [f32; 4] {
    let (index, row, plane) = (index as usize, padded[0] as usize, (padded[0] * padded[1]) as usize);
    // SAFETY: by this function's contract.
    let planes = unsafe {
        [
            along_y(taps, index, row, y),
            along_y(taps, index + plane, row, y),
            along_y(taps, index + 2 * plane, row, y),
            along_y(taps, index + 3 * plane, row, y),
        ]
    };
    mix_four(planes, z)
}

#[inline(always)]
unsafe fn along_y(taps: impl Taps, index: usize, row: usize, y: Weights) -> [f32; 4] {
    // SAFETY: as `columns`.
    let rows =
        unsafe { [taps.four(index), taps.four(index + row), taps.four(index + 2 * row), taps.four(index + 3 * row)] };
    mix_four(rows, y)
}

/// Returns the value at a place in a volume of `padded` size. It may be outside the range of the voxels. The place is
/// that of [`interpolate::place`] with the `padded` size: since the padding begins one voxel before the image, its
/// index is that of the first tap.
///
/// # Safety
/// The place comes from a position inside the volume without its padding.
#[inline(always)]
pub unsafe fn value(taps: impl Taps, place: Place, padded: [u32; 3], how: Interpolator) -> f32 {
    let [x, y, z] = weights(how, place.fraction);
    // SAFETY: three more voxels along every axis are in the padding.
    mix(unsafe { columns(taps, place.index, padded, y, z) }, x)
}

/// Clamps a value to the range 0 to [`bin::FULL`], so that it has a bin.
#[inline(always)]
pub fn clamp(value: f32) -> f32 {
    // These comparisons compile to one instruction each on x86, unlike `max` and `min`, and a NaN becomes 0.
    let value = if value > 0.0 { value } else { 0.0 };
    if value < bin::FULL { value } else { bin::FULL }
}

/// Returns the value of an image of `size` at a position in voxels; 0 outside. `taps` is its padded volume.
///
/// # Safety
/// `taps` is as large as [`padded`] says.
#[inline(always)]
pub unsafe fn at(taps: impl Taps, size: [u32; 3], position: [f32; 3], how: Interpolator) -> f32 {
    if !interpolate::inside(position, interpolate::last(size)) {
        return 0.0;
    }
    // SAFETY: inside.
    unsafe { value(taps, interpolate::place(position, padded(size)), padded(size), how) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Interpolator::{BSpline, CatmullRom};

    const FRACTIONS: [f32; 8] = [0.0, 1e-7, 0.1, 0.25, 0.5, 0.7, 0.9, 0.999_999_9];

    /// The kernel as a function of the distance from a tap, as it is usually printed, in f64.
    fn kernel(how: Interpolator, distance: f64) -> f64 {
        let d = distance.abs();
        match (how, d < 1.0) {
            (CatmullRom, true) => (1.5 * d - 2.5) * d * d + 1.0,
            (CatmullRom, false) => ((-0.5 * d + 2.5) * d - 4.0) * d + 2.0,
            (_, true) => 2.0 / 3.0 - d * d + d * d * d / 2.0,
            (_, false) => (2.0 - d).powi(3) / 6.0,
        }
    }

    #[test]
    fn the_weights_are_those_of_the_kernels() {
        for (how, t) in [CatmullRom, BSpline].into_iter().flat_map(|how| FRACTIONS.map(|t| (how, t))) {
            let [first, third, fourth] = weights(how, [t; 3])[0].map(f64::from);
            let found = [first, 1.0 - first - third - fourth, third, fourth];
            for (tap, weight) in found.into_iter().enumerate() {
                let expected = kernel(how, f64::from(t) - (tap as f64 - 1.0));
                assert!((weight - expected).abs() < 1.5e-7, "{how:?}, {t}, tap {tap}: {weight}, not {expected}");
            }
        }
    }

    #[test]
    fn a_constant_stays_to_the_last_bit() {
        for (how, constant) in [CatmullRom, BSpline].into_iter().zip([0.1_f32, 65535.0]) {
            let volume = vec![constant; 7 * 6 * 5];
            for x in FRACTIONS {
                // SAFETY: the volume has the padded size of 4 x 3 x 2 voxels.
                let value = unsafe { at(&volume[..], [4, 3, 2], [x + 1.0, 2.0 - x, x], how) };
                assert_eq!(value, constant, "{how:?} at {x}");
            }
        }
    }

    #[test]
    fn catmull_rom_gives_voxels_at_their_centres_and_0_outside() {
        let volume: Vec<f32> = (0..7 * 6 * 5).map(|i| (i * 7919 % 1013) as f32).collect();
        // SAFETY: the volume has the padded size of 4 x 3 x 2 voxels.
        let at = |position| unsafe { at(&volume[..], [4, 3, 2], position, CatmullRom) };
        for (x, y, z) in [(0, 0, 0), (3, 2, 1), (1, 0, 1), (2, 1, 0)] {
            let position = [x as f32, y as f32, z as f32];
            let voxel = volume[x + 1 + 7 * (y + 1 + 6 * (z + 1))];
            assert_eq!(at(position), voxel);
        }
        assert_eq!(at([1.0, 2.001, 1.0]), 0.0);
    }

    #[test]
    fn what_overshoots_goes_to_the_ends_of_the_range() {
        let values = [-1e9, -0.0, 17.5, 65535.0, 65536.0, f32::INFINITY, f32::NAN];
        assert_eq!(values.map(clamp), [0.0, 0.0, 17.5, 65535.0, 65535.0, 65535.0, 0.0]);
    }
}
