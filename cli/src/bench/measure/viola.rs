//! Measures Viola's mutual information: pairs of samples per second.

use mireg::backend::{Affine, Backend, Exponentials, FULL, Group, Sample, Sigmas, ViolaEvaluator, ViolaPair, cpu::Cpu};
use mireg::{Error, Result, threads};

use super::clock::{median, repeat};
use super::subject::Subject;
use crate::bench::arguments::Bench;
use crate::bench::cases;
use crate::bench::choices::Data;
use crate::bench::rows::{ViolaRow, mode_name};
use crate::progress::Progress;

/// Voxels per side of the images. Their middle half has enough voxels for the two largest sets of samples.
const SIDE: usize = 128;
/// Standard deviation of all windows, in stored values.
const SIGMA: f64 = 0.05 * FULL as f64;
/// The most samples of each set that are measured on one core. More would take too long.
const MOST_ON_A_CORE: u32 = 10_000;
const MODES: [Exponentials; 3] = [Exponentials::Exact, Exponentials::Fast, Exponentials::Quantised];

/// Measures a backend, and one core of the CPU for comparison.
///
/// # Errors
/// Those of the device. What it cannot do has no rows.
pub fn measure(backend: &dyn Backend, arguments: &Bench, progress: &Progress) -> Result<Vec<ViolaRow>> {
    let images = Images::new(arguments)?;
    let sizes = if arguments.samples.is_empty() { sizes(backend.name()) } else { &arguments.samples };
    let mut rows = Vec::new();
    for (number, &samples) in sizes.iter().enumerate() {
        for mode in MODES {
            let step = format!("Viola's mutual information of {samples} samples, {}", mode_name(mode));
            progress.row(number, sizes.len(), &step);
            // The CPU has no fast mode of its own.
            if samples <= MOST_ON_A_CORE && mode != Exponentials::Fast {
                let on_a_core = || images.measure(&Cpu, "one core", samples, mode, arguments.seconds);
                rows.extend(threads::with(1, on_a_core)?);
            }
            if backend.name() != "cpu" || mode != Exponentials::Fast {
                rows.extend(images.measure(backend, backend.name(), samples, mode, arguments.seconds)?);
            }
        }
    }
    Ok(rows)
}

/// Returns the samples of each set by default: up to what takes about a second.
fn sizes(backend: &str) -> &'static [u32] {
    match backend {
        "cuda" => &[1_000, 10_000, 100_000],
        "cpu" => &[1_000, 10_000],
        _ => &[64],
    }
}

/// Random images. The rotation takes no voxel of the middle half of the fixed image outside the moving image.
struct Images {
    subject: Subject,
    map: Affine,
}

impl Images {
    fn new(arguments: &Bench) -> Result<Self> {
        let subject = Subject::new(&cases::Group { data: Data::Random, side: SIDE, bins: Vec::new() }, arguments)?;
        let map = subject.transforms(arguments.axis)[0];
        Ok(Self { subject, map })
    }

    /// Returns the samples of both sets, spread over the middle half.
    fn samples(&self, count: u32) -> Vec<Sample> {
        let half = SIDE as u32 / 2;
        let sample = |i: u32| {
            // The factor is odd and the number of voxels a power of two, so no voxel comes twice.
            let number = i.wrapping_mul(0x9E37_79B9) % (half * half * half);
            let voxel = [number % half, number / half % half, number / half / half].map(|n| half / 2 + n);
            let [x, y, z] = voxel.map(|n| n as usize);
            Sample { voxel, value: f32::from(self.subject.fixed.voxels()[x + SIDE * (y + SIDE * z)]) }
        };
        (0..2 * count).map(sample).collect()
    }

    /// Measures the value, and the value with its derivative. Returns no rows if the backend does not have the mode.
    fn measure(
        &self,
        backend: &dyn Backend,
        place: &'static str,
        samples: u32,
        exponentials: Exponentials,
        budget: f64,
    ) -> Result<Vec<ViolaRow>> {
        let mut sets = self.samples(samples);
        let groups = [Group { a: 0..samples, b: samples..2 * samples }];
        groups[0].sort(&mut sets);
        let sigmas = Sigmas { fixed: SIGMA, moving: SIGMA, joint: None };
        let moving = &self.subject.moving;
        let loaded = backend.load_viola(ViolaPair { samples: &sets, groups: &groups, moving, sigmas, exponentials });
        let mut evaluator = match loaded {
            Err(Error::Option { .. }) => return Ok(Vec::new()),
            loaded => loaded?,
        };
        let row = |derivative| {
            let seconds = median(&repeat(0.5 * budget, 3, || self.evaluate(&mut *evaluator, derivative))?);
            let times = (0.5 * budget / seconds).clamp(1.0, 1000.0) as u32;
            let device_seconds = evaluator.seconds(&[self.map], derivative, times)?;
            Ok(ViolaRow { place, exponentials, derivative, samples, seconds, device_seconds })
        };
        [false, true].into_iter().map(row).collect()
    }

    fn evaluate(&self, evaluator: &mut dyn ViolaEvaluator, derivative: bool) -> Result<()> {
        match derivative {
            false => evaluator.values(&[self.map]).map(drop),
            true => evaluator.slopes(&[self.map]).map(drop),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_samples_are_different_voxels_that_the_rotation_leaves_inside() {
        let arguments = crate::bench::arguments::tests::parse("");
        let images = Images::new(&arguments).unwrap();
        let samples = images.samples(100_000);
        let mut voxels: Vec<[u32; 3]> = samples.iter().map(|sample| sample.voxel).collect();
        voxels.sort_unstable();
        voxels.dedup();
        assert_eq!(voxels.len(), 200_000);
        let inside = |voxel: &[u32; 3]| {
            images.map.rows.iter().all(|row| {
                let at = (0..3).map(|n| row[n] * voxel[n] as f32).sum::<f32>() + row[3];
                (0.0..=(SIDE - 1) as f32).contains(&at)
            })
        };
        assert!(voxels.iter().all(inside));
    }
}
