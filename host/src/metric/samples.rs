//! The scattered samples that Viola's metric compares.

use super::{Images, Sampled, sampling};
use crate::backend::{Exponentials, Group, Sample, Sigmas, ViolaPair};
use crate::error::{Setting, message};
use crate::image::{BinImage, StoredImage};
use crate::random::mix;
use crate::registration::ViolaOptions;
use crate::{Error, Result};
use gpu::math::bin::{FULL, MASKED};
use rayon::prelude::*;

/// The narrowest windows that are chosen. By the likelihood alone a background and sharp tissues would make them 0.002 to 0.006 of the
/// range wide, with which rigid heads ended 3 to 4 mm off; with 0.01 to 0.04 they ended 0.1 to 0.2 mm off.
const NARROWEST: f64 = 0.02 * FULL as f64;

/// The two sets of one level, and the windows that suit them.
#[derive(Debug, Clone, PartialEq)]
pub struct Samples {
    all: Vec<Sample>,
    sets: [Group; 1],
    /// Of the sampled and the interpolated image.
    sigmas: Sigmas,
}

impl Samples {
    /// About `count` of the sampled image's voxels that count, half of them in either set, and windows that suit them.
    ///
    /// # Errors
    /// [`Error::Option`] where there are too few, or where all are of one intensity.
    pub fn new(images: &Images, count: usize, viola: &ViolaOptions) -> Result<Self> {
        let (sampled, interpolated) = images.stored();
        let which = images.which();
        let left = sampled.bins.par_iter().filter(|&&value| value != MASKED).count();
        if left < ViolaOptions::LEAST {
            let least = ViolaOptions::LEAST;
            return Err(Error::option(
                Setting::FixedMask,
                message!(
                    "{left} voxels are too few for Viola's metric, which compares {least} or more";
                    "make the masks larger, or leave them out"
                ),
            ));
        }
        let [a, b] = sets(sampled, count as f64 / left as f64, viola.seed);
        let group = Group { a: 0..a.len() as u32, b: a.len() as u32..(a.len() + b.len()) as u32 };
        let mut all: Vec<Sample> = [a, b].concat();
        group.sort(&mut all);
        let sigmas = match viola.sigmas {
            Some(sigmas) => ordered(sigmas, which),
            None => suitable(&all, interpolated, which)?,
        };
        Ok(Self { all, sets: [group], sigmas })
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.all.len() as u64
    }

    /// Them and the image that they are compared with.
    pub fn pair<'a>(&'a self, moving: &'a StoredImage, exponentials: Exponentials) -> ViolaPair<'a> {
        ViolaPair { samples: &self.all, groups: &self.sets, moving, sigmas: self.sigmas, exponentials }
    }

    /// The windows of the fixed and of the moving image as parts of their ranges, then those of the joint density where it has its own.
    pub fn parts(&self, which: Sampled) -> Vec<f64> {
        let Sigmas { fixed, moving, joint } = ordered(self.sigmas, which);
        let all = [fixed, moving].into_iter().chain(joint.into_iter().flatten());
        all.map(|sigma| sigma / f64::from(FULL)).collect()
    }
}

/// Windows by which the samples of each image are likeliest, but no narrower than a registration climbs by.
fn suitable(samples: &[Sample], interpolated: &StoredImage, which: Sampled) -> Result<Sigmas> {
    let voxels = interpolated.voxels();
    let scattered = |n: usize| f32::from(voxels[(mix(n as u64) % voxels.len() as u64) as usize]);
    let (sampled, other): (Vec<f32>, Vec<f32>) =
        samples.iter().enumerate().map(|(n, sample)| (sample.value, scattered(n))).unzip();
    let sigmas = match which {
        Sampled::Fixed => Sigmas::likeliest(&sampled, &other)?,
        Sampled::Moving => Sigmas::likeliest(&other, &sampled)?,
    };
    let [fixed, moving] = [sigmas.fixed, sigmas.moving].map(|sigma| sigma.max(NARROWEST));
    Ok(ordered(Sigmas { fixed, moving, joint: None }, which))
}

/// Those of the fixed and the moving image as those of the sampled and the interpolated one, or back.
fn ordered(sigmas: Sigmas, which: Sampled) -> Sigmas {
    match which {
        Sampled::Fixed => sigmas,
        Sampled::Moving => Sigmas {
            fixed: sigmas.moving,
            moving: sigmas.fixed,
            joint: sigmas.joint.map(|[fixed, moving]| [moving, fixed]),
        },
    }
}

/// Voxels of A and of B, about half of this part of all in each: disjoint, and of 1 or more all.
fn sets(sampled: &BinImage, part: f64, seed: u64) -> [Vec<Sample>; 2] {
    let [width, height, _] = sampled.size;
    // A part of 1 or more is all that 64 bits have.
    let part = (part * 2_f64.powi(64)) as u64;
    let of = |from: u64, to: u64| -> Vec<Sample> {
        let voxels = sampled.bins.par_iter().enumerate().filter(|(voxel, value)| {
            **value != MASKED && sampling::picked(*voxel, seed, to) && !sampling::picked(*voxel, seed, from)
        });
        let sample = |(voxel, &value): (usize, &u16)| Sample {
            voxel: [voxel % width, voxel / width % height, voxel / width / height].map(|n| n as u32),
            value: f32::from(value),
        };
        voxels.map(sample).collect()
    };
    [of(0, part / 2), of(part / 2, part)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Windows;
    use crate::random::uniform;
    use crate::registration::Options;
    use crate::{Geometry, PixelType, Volume};
    use glam::DVec3;

    /// Every tenth voxel is masked; the value says the number.
    fn image() -> BinImage {
        let bins = (0..20_000).map(|n| if n % 10 == 0 { MASKED } else { n }).collect();
        BinImage { size: [50, 40, 10], bins }
    }

    #[test]
    fn sets_are_disjoint_scattered_and_of_voxels_that_count() {
        let numbers = |part, seed| {
            let number = |sample: &Sample| {
                let [x, y, z] = sample.voxel.map(|n| n as usize);
                assert_eq!(sample.value, (x + 50 * (y + 40 * z)) as f32);
                x + 50 * (y + 40 * z)
            };
            sets(&image(), part, seed).map(|set| set.iter().map(number).collect::<Vec<_>>())
        };
        let [a, b] = numbers(4000.0 / 18_000.0, 1);
        assert!(a.len().abs_diff(2000) < 150 && b.len().abs_diff(2000) < 150, "{} and {}", a.len(), b.len());
        assert!(a.iter().all(|voxel| !b.contains(voxel)));
        assert!(a.iter().chain(&b).all(|voxel| voxel % 10 != 0));
        let third = |set: &[usize]| set.iter().filter(|voxel| **voxel < 6667).count();
        assert!(third(&a).abs_diff(667) < 100 && third(&b).abs_diff(667) < 100);
        assert_ne!(numbers(4000.0 / 18_000.0, 2), [a, b]);
        let [a, b] = numbers(1.5, 1);
        assert_eq!(a.len() + b.len(), 18_000);
    }

    /// Two volumes for windows on both.
    fn images(which: Sampled, size: [usize; 3]) -> Images {
        let volume = |values: fn(usize) -> f32| {
            let geometry = Geometry::axis_aligned(size, DVec3::ONE, DVec3::ZERO);
            Volume { geometry, voxels: (0..geometry.voxels()).map(values).collect(), pixel: PixelType::F32 }
        };
        let (sampled, other) =
            (volume(|n| uniform(1, n as u64) as f32), volume(|n| uniform(2, n as u64).powi(3) as f32));
        let range = (0.0, 1.0);
        Images::for_windows(which, (&sampled, range), (&other, range), (64, Windows::Both), &Options::default())
    }

    #[test]
    fn windows_are_those_of_the_fixed_and_the_moving_image_whichever_is_sampled() {
        let sigmas = Sigmas { fixed: 655.35, moving: 1310.7, joint: Some([65.535, 131.07]) };
        let viola = ViolaOptions { sigmas: Some(sigmas), ..ViolaOptions::default() };
        for which in [Sampled::Fixed, Sampled::Moving] {
            let images = images(which, [20, 20, 20]);
            let samples = Samples::new(&images, 4000, &viola).unwrap();
            let expected = if which == Sampled::Fixed { (655.35, 65.535) } else { (1310.7, 131.07) };
            assert_eq!((samples.sigmas.fixed, samples.sigmas.joint.unwrap()[0]), expected);
            let parts = samples.parts(which);
            assert!(parts.iter().zip([0.01, 0.02, 0.001, 0.002]).all(|(a, b)| (a - b).abs() < 1e-12), "{parts:?}");
        }
    }

    #[test]
    fn windows_suit_the_samples() {
        let images = images(Sampled::Fixed, [20, 20, 20]);
        let Sigmas { fixed, moving, joint } = Samples::new(&images, 4000, &ViolaOptions::default()).unwrap().sigmas;
        assert!([fixed, moving].iter().all(|sigma| (NARROWEST..10.0 * NARROWEST).contains(sigma)) && joint.is_none());
        assert!(fixed > NARROWEST, "{fixed}");
    }

    #[test]
    fn too_few_voxels_are_refused() {
        let images = images(Sampled::Fixed, [9, 11, 1]);
        let error = Samples::new(&images, 4000, &ViolaOptions::default()).unwrap_err();
        assert!(
            error.to_string().contains("99 voxels are too few") && matches!(error, Error::Option { .. }),
            "{error}"
        );
    }
}
