//! Determines the range of intensities that metrics use, such that a few outliers don't change it.
//!
//! Bins, windows and 16-bit values are fractions of the range. If it included hot pixels, metal or a full bladder, all
//! other intensities would share a small part of it.

use super::outliers::{fences, is_label_map, range_shared_by_neighbours};
use super::{Range, Volume};
use crate::backend::simd::widest;
use rayon::prelude::*;
use serde::Serialize;

/// Which range of intensities metrics use. Intensities outside are clamped to it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum IntensityRange {
    /// From the smallest to the largest intensity, without outliers.
    #[default]
    Auto,
    /// From the smallest to the largest intensity.
    Full,
    /// From the first to the second number.
    Between(f32, f32),
}

/// The range of intensities of an image that is used, and statistics of the others.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Intensities {
    /// The range that is used.
    pub range: Range,
    /// The smallest and the largest intensity.
    pub full: Range,
    /// The number of voxels below the range, which are clamped to its lower end.
    pub below: u64,
    /// The number of voxels above the range, which are clamped to its upper end.
    pub above: u64,
    /// The number of voxels without data, which are NaN.
    pub missing: u64,
    /// The number of pixels in the uniform frame around a 2-D image, which are left out.
    pub framed: u64,
    /// The number of all voxels.
    pub voxels: u64,
}

impl Intensities {
    /// Determines the range of a volume that is used, as chosen by `range`.
    pub fn of(volume: &Volume, range: IntensityRange) -> Self {
        let wide = (f64::NEG_INFINITY, f64::INFINITY);
        let within = match range {
            IntensityRange::Full => wide,
            IntensityRange::Between(low, high) => (f64::from(low), f64::from(high)),
            IntensityRange::Auto => fences(&volume.voxels).unwrap_or(wide),
        };
        let counts = Counts::of(&volume.voxels, within);
        let found = match range {
            IntensityRange::Between(low, high) => counts.used((low, high)),
            _ => counts.used(counts.inner),
        };
        let cut = found.below + found.above > 0;
        match range {
            IntensityRange::Auto if cut && is_label_map(volume) => {
                Counts::of(&volume.voxels, range_shared_by_neighbours(volume)).snapped()
            }
            IntensityRange::Auto if found.range.0 >= found.range.1 => Counts::of(&volume.voxels, wide).snapped(),
            _ => found,
        }
    }

    /// The fraction of the voxels with data that is outside the range, 0 to 1.
    pub fn clamped_fraction(&self) -> f64 {
        (self.below + self.above) as f64 / (self.voxels - self.missing - self.framed).max(1) as f64
    }
}

/// Statistics from one pass over all voxels.
#[derive(Clone, Copy)]
struct Counts {
    full: Range,
    /// The range of the intensities between the fences.
    inner: Range,
    below: u64,
    above: u64,
    missing: u64,
    voxels: u64,
}

/// The range of no intensities.
const NONE: Range = (f32::INFINITY, f32::NEG_INFINITY);

impl Counts {
    fn of(voxels: &[f32], (low, high): (f64, f64)) -> Self {
        let nothing = Self { full: NONE, inner: NONE, below: 0, above: 0, missing: 0, voxels: 0 };
        // Rounding a fence to the nearest f32 changes for no voxel on which side of it the voxel is. The fence itself
        // counts as inside.
        let (low, high) = (low as f32, high as f32);
        voxels.par_chunks(1 << 16).map(|chunk| counted(chunk, low, high)).reduce(|| nothing, Self::and)
    }

    fn and(self, other: Self) -> Self {
        let hull = |a: Range, b: Range| (a.0.min(b.0), a.1.max(b.1));
        Self {
            full: hull(self.full, other.full),
            inner: hull(self.inner, other.inner),
            below: self.below + other.below,
            above: self.above + other.above,
            missing: self.missing + other.missing,
            voxels: self.voxels + other.voxels,
        }
    }

    fn used(self, range: Range) -> Intensities {
        let Self { full, below, above, missing, voxels, .. } = self;
        Intensities { range, full, below, above, missing, framed: 0, voxels }
    }

    fn snapped(self) -> Intensities {
        self.used(self.inner)
    }
}

/// Voxels that are processed together, each in a lane of its own.
const LANES: usize = 16;

widest! {
    /// Statistics from one pass over these voxels.
    fn counted(voxels: &[f32], low: f32, high: f32) -> Counts {
        let [mut full, mut inner] = [[[f32::INFINITY; LANES], [f32::NEG_INFINITY; LANES]]; 2];
        let mut beyond = [[0_u32; LANES]; 3];
        let mut look = |lane: usize, voxel: f32| {
            // Comparisons instead of `min` and `max`, because each is one instruction on x86, and NaN is left out.
            let least = |least: f32, voxel: f32| if voxel < least { voxel } else { least };
            let most = |most: f32, voxel: f32| if voxel > most { voxel } else { most };
            full[0][lane] = least(full[0][lane], voxel);
            full[1][lane] = most(full[1][lane], voxel);
            inner[0][lane] = least(inner[0][lane], if voxel >= low { voxel } else { f32::INFINITY });
            inner[1][lane] = most(inner[1][lane], if voxel <= high { voxel } else { f32::NEG_INFINITY });
            beyond[0][lane] += u32::from(voxel < low);
            beyond[1][lane] += u32::from(voxel > high);
            beyond[2][lane] += u32::from(voxel.is_nan());
        };
        let (together, rest) = voxels.as_chunks::<LANES>();
        for voxels in together {
            voxels.iter().enumerate().for_each(|(lane, &voxel)| look(lane, voxel));
        }
        rest.iter().enumerate().for_each(|(lane, &voxel)| look(lane, voxel));
        let hull = |[low, high]: [[f32; LANES]; 2]| {
            (low.into_iter().fold(f32::INFINITY, f32::min), high.into_iter().fold(f32::NEG_INFINITY, f32::max))
        };
        let [below, above, missing] = beyond.map(|lanes| lanes.into_iter().map(u64::from).sum());
        Counts { full: hull(full), inner: hull(inner), below, above, missing, voxels: voxels.len() as u64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{normal, uniform};
    use crate::{Geometry, PixelType};
    use glam::DVec3;

    const SIZE: [usize; 3] = [60, 50, 40];

    fn volume(voxel: impl Fn(usize) -> f32) -> Volume {
        let geometry = Geometry::axis_aligned(SIZE, DVec3::ONE, DVec3::ZERO);
        Volume { geometry, voxels: (0..geometry.voxels()).map(voxel).collect(), pixel: PixelType::F32 }
    }

    fn auto(voxel: impl Fn(usize) -> f32) -> Intensities {
        Intensities::of(&volume(voxel), IntensityRange::Auto)
    }

    /// A tenth of the voxels have 100 to 300, the others `air`.
    fn organ(n: usize, air: f32) -> f32 {
        if n % 60 < 6 { 100.0 + 200.0 * uniform(1, n as u64) as f32 } else { air }
    }

    #[test]
    fn every_voxel_is_looked_at_whatever_their_number() {
        for len in [1, 15, 16, 17, 105] {
            let voxels: Vec<f32> =
                (0..len).map(|n| if n % 7 == 3 { f32::NAN } else { (n * 37 % 101) as f32 }).collect();
            let known = || voxels.iter().copied().filter(|voxel| !voxel.is_nan());
            let hull = |all: &mut dyn Iterator<Item = f32>| all.fold(NONE, |(low, high), v| (v.min(low), v.max(high)));
            let found = counted(&voxels, 20.0, 80.0);
            assert_eq!(found.full, hull(&mut known()));
            assert_eq!(found.below, known().filter(|&voxel| voxel < 20.0).count() as u64);
            assert_eq!(found.above, known().filter(|&voxel| voxel > 80.0).count() as u64);
            assert_eq!((found.missing, found.voxels), ((len - known().count()) as u64, len as u64));
            let low = hull(&mut known().filter(|&voxel| voxel >= 20.0)).0;
            let high = hull(&mut known().filter(|&voxel| voxel <= 80.0)).1;
            assert_eq!(found.inner, (low, high));
        }
    }

    #[test]
    fn images_without_outliers_keep_all_of_their_range() {
        let images: [&dyn Fn(usize) -> f32; 4] =
            [&|n| organ(n, 0.0), &|n| organ(n, 3.0 * normal(2, n as u64).abs()), &|n| normal(3, n as u64), &|n| {
                uniform(4, n as u64) as f32 * if n % 2 == 0 { 1.0 } else { 4.0 }
            }];
        for image in images {
            let found = auto(image);
            assert_eq!((found.range, found.below + found.above), (found.full, 0));
        }
    }

    #[test]
    fn hot_and_cold_voxels_move_nothing() {
        for outlier in [30_000.0, -32_768.0] {
            let clean = auto(|n| organ(n, 0.0));
            let found = auto(|n| if n == 7777 { outlier } else { organ(n, 0.0) });
            assert_eq!((found.range, found.below + found.above), (clean.range, 1));
            let noise = auto(|n| if n % 211 == 0 { outlier } else { organ(n, normal(2, n as u64)) });
            assert!(noise.range.0 > -6.0 && noise.range.1 < 301.0, "{noise:?}");
        }
    }

    #[test]
    fn a_small_object_in_noise_is_content_unless_it_is_scattered_or_in_tissue() {
        let noise = |n: usize| 10.0 + normal(2, n as u64);
        let bright = |n: usize| 100.0 + 100.0 * uniform(1, n as u64) as f32;
        let object = |n: usize| n % 60 < 20 && n / 60 % 50 < 15 && n / 3000 < 5;
        let image = |n: usize| if object(n) { bright(n) } else { noise(n) };
        let found = auto(image);
        assert_eq!((found.range, found.above), (found.full, 0));
        let cut = auto(|n| if n % 60 >= 50 { f32::NAN } else { image(n) });
        assert_eq!((cut.range, cut.above), (cut.full, 0));
        let dark = auto(|n| if object(n) { -bright(n) } else { noise(n) });
        assert_eq!((dark.range, dark.below), (dark.full, 0));
        let scattered = auto(|n| if n % 80 == 0 { bright(n) } else { noise(n) });
        assert!(scattered.range.1 < 20.0 && scattered.above == 1500, "{scattered:?}");
        let tissue = |n: usize| noise(n) + 3.0 * (n as f32 / 9.0).sin();
        let metal = auto(|n| if object(n) { 20.0 * bright(n) } else { tissue(n) });
        assert!(metal.range.1 < 40.0 && metal.above == 1500, "{metal:?}");
    }

    #[test]
    fn both_tails_of_a_ct_are_cut_and_a_small_bright_organ_stays_the_brightest() {
        let ct = |n: usize| if n % 60 < 30 { -1000.0 } else { 40.0 + 20.0 * normal(5, n as u64) };
        let found = auto(|n| {
            if n % 1000 == 0 {
                30_000.0
            } else if n % 1000 == 1 {
                -30_000.0
            } else {
                ct(n)
            }
        });
        assert_eq!((found.range.0, found.below, found.above), (-1000.0, 120, 120));
        assert!(found.range.1 < 200.0);
        // One voxel in a hundred at twenty times the rest.
        let bladder = auto(|n| if n % 100 == 3 { 6000.0 } else { organ(n, 0.0) });
        assert!(bladder.range.1 <= 300.0 && bladder.above == 1200, "{bladder:?}");
    }

    #[test]
    fn padding_below_air_moves_nothing() {
        let ct = |n: usize| {
            let noise = 20.0 * normal(5, n as u64);
            if n % 60 < 30 { noise - 1000.0 } else { noise + 40.0 }
        };
        for padding in [-32_768.0, -6000.0] {
            let found = auto(|n| if n % 60 < 12 { padding } else { ct(n) });
            assert!(found.range.0 > -1100.0 && found.range.1 > 100.0 && found.below == 24_000, "{found:?}");
        }
        // Without air beside it, it is the air.
        let alone = auto(|n| if n % 60 < 30 { -1000.0 } else { ct(n) });
        assert_eq!((alone.range.0, alone.below), (-1000.0, 0));
        // An image that is no darker than twice its contrast is not cut.
        assert_eq!(auto(|n| if n % 60 < 12 { -3024.0 } else { ct(n) }).below, 0);
    }

    #[test]
    fn labels_keep_their_range_but_for_a_lone_voxel() {
        // Slabs of 30 labels, the last of which is far from the others and rare.
        let label = |n: usize| {
            if n % 60 < 40 {
                0.0
            } else if n / 60 % 50 < 29 {
                (1 + n / 60 % 50) as f32
            } else {
                0.0
            }
        };
        let far = |n: usize| if n < 3000 && n % 60 >= 50 && n / 60 == 20 { 255.0 } else { label(n) };
        assert_eq!(auto(far).range, (0.0, 255.0));
        assert_eq!(auto(|n| if n == 100 { 30_000.0 } else { far(n) }).range, (0.0, 255.0));
    }

    #[test]
    fn voxels_without_data_are_counted_and_have_no_part() {
        let found = auto(|n| if n % 3 == 0 { f32::NAN } else { organ(n, 0.0) });
        assert_eq!((found.missing, found.range), (40_000, found.full));
        let given = Intensities::of(&volume(|n| organ(n, 0.0)), IntensityRange::Between(0.0, 150.0));
        assert_eq!((given.range, given.below), ((0.0, 150.0), 0));
        assert!((given.clamped_fraction() - 0.075).abs() < 0.01);
    }
}
