//! Mutual information by Gaussian windows over two sets of scattered samples (Viola & Wells 1997; Lin & Medioni 2008).

use super::family::{LoadedMetric, MetricFamily, MetricImages, MetricValue};
use super::joint::Histogram;
use super::pair::{GridPair, ImagePair, Sampled};
use super::sampling;
use crate::backend::{Backend, Exponentials, Group, Sample, Sigmas, ViolaEvaluator, ViolaPair, ViolaValue, Windows};
use crate::error::{Setting, message};
use crate::image::{self, BinImage, StoredImage, ToBins, pyramid};
use crate::random::mix;
use crate::{Error, Result};
use glam::DAffine3;
use gpu::math::bin::{FULL, MASKED};
use rayon::prelude::*;

/// The narrowest windows that are chosen from the samples. By likelihood alone, a background and sharp tissues would
/// make them 0.002 to 0.006 of the range wide. With these, rigid registrations of heads ended 3 to 4 mm off; with 0.01
/// to 0.04, 0.1 to 0.2 mm.
const NARROWEST: f64 = 0.02 * FULL as f64;
/// The fewest samples of a coarse level.
const FEWEST: usize = 1000;

/// Viola's mutual information, with its gradient. It interpolates linearly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Viola {
    /// The most voxels that are compared at the finest level, scattered among those that [`Sampling`](super::Sampling)
    /// leaves; coarser levels have fewer. Half of them make up the densities, and at the other half these are
    /// evaluated.
    pub samples: usize,
    /// The seed by which voxels are chosen.
    pub seed: u64,
    /// Standard deviations of the windows; `None` to find them from each level's samples.
    pub sigmas: Option<Sigmas>,
    pub exponentials: Exponentials,
    /// Bins per side of the joint histograms that compare both images before and after, 2 to 1024; the metric itself has none.
    pub bins: u32,
}

impl Viola {
    /// A number of samples that is enough to register a head.
    pub const SAMPLES: usize = 8000;
    /// The fewest samples that are accepted.
    pub const LEAST: usize = 100;
}

impl Default for Viola {
    /// 8000 samples.
    fn default() -> Self {
        let (exponentials, bins) = (Exponentials::Exact, Histogram::BINS);
        Self { samples: Self::SAMPLES, seed: 1, sigmas: None, exponentials, bins }
    }
}

impl MetricFamily for Viola {
    fn name(&self) -> &'static str {
        "Viola MI"
    }

    fn key(&self) -> &'static str {
        "viola"
    }

    fn summary(&self) -> &'static str {
        "Mutual information by Gaussian windows over two sets of samples, with its gradient (Viola & Wells 1997; Lin & Medioni 2008)"
    }

    fn histogram(&self) -> Histogram {
        Histogram { bins: self.bins, ..Histogram::default() }
    }

    fn check(&self) -> Result<()> {
        if self.samples < Self::LEAST {
            let (samples, least) = (self.samples, Self::LEAST);
            return Err(Error::option(
                Setting::Samples,
                format!("{samples} samples: Viola's metric takes {least} or more"),
            ));
        }
        self.sigmas.map_or(Ok(()), |sigmas| sigmas.check())
    }

    fn prepare<'v>(&self, pair: ImagePair<'v>) -> Result<Box<dyn MetricImages + 'v>> {
        let count = (self.samples >> pair.level).max(self.samples.min(FEWEST));
        Ok(Box::new(ScatteredImages::new(pair, count, self)?))
    }
}

/// The two sets of samples of one level, their windows, and the image that they are compared with.
struct ScatteredImages {
    grids: GridPair,
    samples: Vec<Sample>,
    sets: [Group; 1],
    interpolated: StoredImage,
    /// Those of the sampled image as `fixed`, and of the interpolated one as `moving`.
    sigmas: Sigmas,
    exponentials: Exponentials,
}

impl ScatteredImages {
    /// Chooses about `count` of the sampled image's unmasked voxels, half of them for either set, and windows that suit
    /// them.
    ///
    /// # Errors
    /// [`Error::Option`] if there are too few, or if all have the same intensity.
    fn new(pair: ImagePair, count: usize, viola: &Viola) -> Result<Self> {
        let left = pair.samples();
        if left < Viola::LEAST {
            let least = Viola::LEAST;
            return Err(Error::option(
                Setting::FixedMask,
                message!(
                    "{left} voxels are too few for Viola's metric, which compares {least} or more";
                    "make the masks larger, or leave them out"
                ),
            ));
        }
        let (which, grids) = (pair.which, pair.grids());
        let sampled = ToBins::new(pair.sampled, Windows::Both.binning(pair.ranges[0], 0), pair.keep);
        let interpolated = StoredImage::fine(&pyramid::smoothed(&pair.interpolated, pair.sigmas), pair.ranges[1]);
        let [a, b] = sets(sampled.bins(), count as f64 / left as f64, viola.seed);
        let group = Group { a: 0..a.len() as u32, b: a.len() as u32..(a.len() + b.len()) as u32 };
        let mut samples: Vec<Sample> = [a, b].concat();
        group.sort(&mut samples);
        let sigmas = match viola.sigmas {
            Some(sigmas) => ordered(sigmas, which),
            None => suitable(&samples, &interpolated, which)?,
        };
        let exponentials = viola.exponentials;
        Ok(Self { grids, samples, sets: [group], interpolated, sigmas, exponentials })
    }
}

impl MetricImages for ScatteredImages {
    fn grids(&self) -> &GridPair {
        &self.grids
    }

    fn samples(&self) -> u64 {
        self.samples.len() as u64
    }

    fn sigmas(&self) -> Option<Vec<f64>> {
        let Sigmas { fixed, moving, joint } = ordered(self.sigmas, self.grids.which);
        let all = [fixed, moving].into_iter().chain(joint.into_iter().flatten());
        Some(all.map(|sigma| sigma / f64::from(FULL)).collect())
    }

    fn load<'a>(&'a self, backend: &'a dyn Backend) -> Result<Box<dyn LoadedMetric + 'a>> {
        let evaluator = backend.load_viola(ViolaPair {
            samples: &self.samples,
            groups: &self.sets,
            moving: &self.interpolated,
            sigmas: self.sigmas,
            exponentials: self.exponentials,
        })?;
        Ok(Box::new(LoadedSamples { grids: &self.grids, evaluator }))
    }
}

struct LoadedSamples<'a> {
    grids: &'a GridPair,
    evaluator: Box<dyn ViolaEvaluator + 'a>,
}

impl LoadedMetric for LoadedSamples<'_> {
    /// Evaluates the maps one after the other: a group of samples has one map at a time.
    fn values(&mut self, transforms: &[DAffine3]) -> Result<Vec<MetricValue>> {
        let maps = self.grids.maps(transforms);
        maps.chunks(1).map(|map| Ok(MetricValue::from(&self.evaluator.values(map)?[0]))).collect()
    }

    fn slope(&mut self, transform: &DAffine3) -> Result<(MetricValue, [[f64; 4]; 3])> {
        let (viola, by_map) = self.evaluator.slopes(&[self.grids.map(transform)])?[0];
        Ok((MetricValue::from(&viola), by_map))
    }
}

impl From<&ViolaValue> for MetricValue {
    fn from(viola: &ViolaValue) -> Self {
        Self { value: viola.mi, overlap: viola.overlap.map(u64::from).iter().sum() }
    }
}

/// Finds the windows by which the samples of each image are likeliest, but none narrower than [`NARROWEST`].
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

/// Converts windows of the fixed and the moving image to those of the sampled and the interpolated one, or back.
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

/// Chooses the voxels of the sets A and B: disjoint, and each about half of the fraction `part` of all unmasked voxels.
/// If `part` is 1 or more, all are chosen.
fn sets(sampled: &BinImage, part: f64, seed: u64) -> [Vec<Sample>; 2] {
    let size = sampled.size.map(|n| n as u32);
    // The cast clamps a fraction of 1 or more to all of 64 bits.
    let part = (part * 2_f64.powi(64)) as u64;
    let of = |from: u64, to: u64| -> Vec<Sample> {
        let voxels = sampled.bins.par_iter().enumerate().filter(|(voxel, value)| {
            **value != MASKED && sampling::picked(*voxel, seed, to) && !sampling::picked(*voxel, seed, from)
        });
        let sample =
            |(number, &value): (usize, &u16)| Sample { voxel: image::voxel(size, number), value: f32::from(value) };
        voxels.map(sample).collect()
    };
    [of(0, part / 2), of(part / 2, part)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::uniform;
    use crate::{Geometry, PixelType, Volume};
    use glam::DVec3;
    use std::borrow::Cow;

    /// Every tenth voxel is masked; the value is the voxel's index.
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

    /// Two volumes.
    fn pair(which: Sampled, size: [usize; 3]) -> ImagePair<'static> {
        let volume = |values: fn(usize) -> f32| {
            let geometry = Geometry::axis_aligned(size, DVec3::ONE, DVec3::ZERO);
            let voxels = (0..geometry.voxels()).map(values).collect();
            Cow::Owned(Volume { geometry, voxels, pixel: PixelType::F32 })
        };
        let sampled = volume(|n| uniform(1, n as u64) as f32);
        let interpolated = volume(|n| uniform(2, n as u64).powi(3) as f32);
        ImagePair { which, sampled, interpolated, sigmas: [0.0; 3], ranges: [(0.0, 1.0); 2], keep: None, level: 0 }
    }

    #[test]
    fn windows_are_those_of_the_fixed_and_the_moving_image_whichever_is_sampled() {
        let sigmas = Sigmas { fixed: 655.35, moving: 1310.7, joint: Some([65.535, 131.07]) };
        let viola = Viola { sigmas: Some(sigmas), ..Viola::default() };
        for which in [Sampled::Fixed, Sampled::Moving] {
            let images = ScatteredImages::new(pair(which, [20, 20, 20]), 4000, &viola).unwrap();
            let expected = if which == Sampled::Fixed { (655.35, 65.535) } else { (1310.7, 131.07) };
            assert_eq!((images.sigmas.fixed, images.sigmas.joint.unwrap()[0]), expected);
            let parts = images.sigmas().unwrap();
            assert!(parts.iter().zip([0.01, 0.02, 0.001, 0.002]).all(|(a, b)| (a - b).abs() < 1e-12), "{parts:?}");
        }
    }

    #[test]
    fn windows_suit_the_samples() {
        let images = ScatteredImages::new(pair(Sampled::Fixed, [20, 20, 20]), 4000, &Viola::default()).unwrap();
        let Sigmas { fixed, moving, joint } = images.sigmas;
        assert!([fixed, moving].iter().all(|sigma| (NARROWEST..10.0 * NARROWEST).contains(sigma)) && joint.is_none());
        assert!(fixed > NARROWEST, "{fixed}");
    }

    #[test]
    fn too_few_voxels_are_refused() {
        let error = Viola::default().prepare(pair(Sampled::Fixed, [9, 11, 1])).err().unwrap();
        assert!(
            error.to_string().contains("99 voxels are too few") && matches!(error, Error::Option { .. }),
            "{error}"
        );
    }
}
