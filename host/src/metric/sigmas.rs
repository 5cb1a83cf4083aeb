//! Chooses the widths of Gaussian windows by leave-one-out likelihood: those by which each sample is likeliest under
//! the density of all others.

// Loops over lanes run along several arrays at once.
#![allow(clippy::needless_range_loop)]

use crate::backend::Sigmas;
use crate::backend::simd::widest;
use crate::error::{Setting, message};
use crate::threads::should_continue;
use crate::{Error, Result};
use gpu::math::viola::scale;
use gpu::math::{gauss, log};
use rayon::prelude::*;

/// The most samples that are used: the time grows with the number of their pairs.
const MOST: usize = 1024;

/// Half a grey level of an 8-bit image: the narrowest windows.
const NARROWEST: f64 = 257.0 / 2.0;

/// The widest windows, in standard deviations of the samples. For a thousand normal samples a quarter is best, and in
/// two dimensions a third (Silverman 1986, eq. 3.28 and 4.14). Images of two or three grey levels would take more.
const WIDEST: f64 = 0.5;

/// The largest factor by which the joint windows are wider than those of both images.
const WIDER: f64 = 2.0;

/// Samples that go through each step together, in the lanes of a vector.
const LANES: usize = 16;

impl Sigmas {
    /// Finds the sigmas by which samples are likeliest, each left out of its own density: those of the fixed and of the
    /// moving intensities, and for the joint density a common multiple of both. Intensities are stored values; those at
    /// the same index belong to the same sample. Of more than 1024 samples, 1024 are used, evenly spread.
    ///
    /// With a sample, those that equal it are left out, too. Otherwise an empty background, or an image of few grey
    /// levels, would be likeliest with windows of no width.
    ///
    /// # Errors
    /// [`Error::Option`] for fewer than two samples, and where all fixed or all moving intensities are the same.
    pub fn likeliest(fixed: &[f32], moving: &[f32]) -> Result<Self> {
        let n = fixed.len().min(moving.len());
        if n < 2 {
            return Err(Error::option(
                Setting::Samples,
                message!(
                    "{n} samples are too few to choose Gaussian windows from";
                    "check the masks and the overlap, or sample more"
                ),
            ));
        }
        let picked = n.min(MOST);
        let pairs: Vec<[f32; 2]> = (0..picked).map(|k| k * n / picked).map(|i| [fixed[i], moving[i]]).collect();
        let [fixed, moving] = [of_one(&pairs, 0, Setting::Fixed)?, of_one(&pairs, 1, Setting::Moving)?];
        let narrowest = NARROWEST / fixed.min(moving);
        let factor = best(narrowest, WIDER, |factor| likelihood(&pairs, [Some(factor * fixed), Some(factor * moving)]));
        Ok(Self { fixed, moving, joint: Some([factor * fixed, factor * moving]) })
    }
}

/// Finds the sigma of one image.
fn of_one(pairs: &[[f32; 2]], image: usize, which: Setting) -> Result<f64> {
    let values = pairs.iter().map(|pair| f64::from(pair[image]));
    let n = pairs.len() as f64;
    let mean = values.clone().sum::<f64>() / n;
    let deviation = libm::sqrt(values.clone().map(|value| (value - mean) * (value - mean)).sum::<f64>() / n);
    if values.clone().all(|value| value == f64::from(pairs[0][image])) {
        let name = which.name();
        return Err(Error::option(
            which,
            message!(
                "the {name} image has the same intensity at all samples";
                "check the image, its mask and its intensity range"
            ),
        ));
    }
    let alone: Vec<[f32; 2]> = pairs.iter().map(|pair| [pair[image], 0.0]).collect();
    Ok(best(NARROWEST, (WIDEST * deviation).max(NARROWEST), |sigma| likelihood(&alone, [Some(sigma), None])))
}

/// Returns where a function is highest from `low` to `high`, both positive, to about 1 %: the best of ten numbers at
/// equal ratios, refined by golden-section search between its neighbours.
fn best(low: f64, high: f64, value: impl Fn(f64) -> f64) -> f64 {
    const STEPS: usize = 9;
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    let step = log::of(high / low) / STEPS as f64;
    let at = |place: f64| low * libm::exp(place * step);
    let values: Vec<f64> = (0..=STEPS).map(|n| value(at(n as f64))).collect();
    let top = (0..=STEPS).fold(0, |top, n| if values[n] > values[top] { n } else { top });
    let (mut from, mut to) = (top.saturating_sub(1) as f64, (top + 1).min(STEPS) as f64);
    let inner = |from: f64, to: f64| [to - GOLDEN * (to - from), from + GOLDEN * (to - from)];
    let mut places = inner(from, to);
    let mut values = places.map(|place| value(at(place)));
    while (to - from) * step > 0.01 {
        // The better one stays inside the interval, where it is one of the next two points.
        if values[0] > values[1] {
            to = places[1];
            places = inner(from, to);
            values = [value(at(places[0])), values[0]];
        } else {
            from = places[0];
            places = inner(from, to);
            values = [values[1], value(at(places[1]))];
        }
    }
    at((from + to) / 2.0)
}

/// Returns the mean logarithm of the samples' densities, up to a constant. An axis without a sigma does not count.
fn likelihood(samples: &[[f32; 2]], sigmas: [Option<f64>; 2]) -> f64 {
    let scales = sigmas.map(|sigma| sigma.map_or(0.0, scale));
    let mut densities = vec![0.0; samples.len()];
    let tiles = densities.par_chunks_mut(LANES).zip(samples.par_chunks(LANES));
    tiles
        .take_any_while(|_| should_continue())
        .for_each(|(densities, tile)| sum_windows(samples, tile, scales, densities));
    // No density is 0: not all samples are the same, and no window is 0.
    let mean = densities.iter().map(|&density| log::of(f64::from(density))).sum::<f64>() / samples.len() as f64;
    mean - sigmas.iter().flatten().map(|&sigma| log::of(sigma)).sum::<f64>()
}

widest! {
    /// Sums, for each of up to 16 samples, the windows of all others.
    fn sum_windows(samples: &[[f32; 2]], tile: &[[f32; 2]], scales: [f32; 2], densities: &mut [f32]) {
        let (mut at, mut sums) = ([[0.0; LANES]; 2], [0.0; LANES]);
        for (l, sample) in tile.iter().enumerate() {
            (at[0][l], at[1][l]) = (sample[0], sample[1]);
        }
        for sample in samples {
            for l in 0..LANES {
                let d = [at[0][l] - sample[0], at[1][l] - sample[1]];
                let window = gauss::window(d[0] * scales[0]) * gauss::window(d[1] * scales[1]);
                sums[l] += if (d[0] == 0.0) & (d[1] == 0.0) { 0.0 } else { window };
            }
        }
        densities.copy_from_slice(&sums[..tile.len()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::uniform;

    /// Returns numbers that are close to normally distributed.
    fn normal(n: u64, seed: u64, middle: f32, deviation: f32) -> Vec<f32> {
        (0..n).map(|i| middle + deviation * crate::random::normal(seed, i)).collect()
    }

    #[test]
    fn normal_samples_get_about_the_best_window() {
        // The best window for the density of n normal samples is 1.06 n^(-1/5) of their deviation wide, in two dimensions n^(-1/6).
        let (fixed, moving) = (normal(1000, 1, 30_000.0, 6000.0), normal(1000, 2, 20_000.0, 2000.0));
        let found = Sigmas::likeliest(&fixed, &moving).unwrap();
        let n: f64 = 1000.0;
        let near = |found: f64, expected: f64| (0.6..1.6).contains(&(found / expected));
        assert!(near(found.fixed, 1.06 * n.powf(-0.2) * 6000.0), "{found:?}");
        assert!(near(found.moving, 1.06 * n.powf(-0.2) * 2000.0), "{found:?}");
        let joint = found.joint.unwrap();
        assert!(
            near(joint[0], n.powf(-1.0 / 6.0) * 6000.0) && near(joint[1], n.powf(-1.0 / 6.0) * 2000.0),
            "{found:?}"
        );
    }

    #[test]
    fn the_likelihood_is_highest_there() {
        let values: Vec<[f32; 2]> = normal(400, 3, 30_000.0, 5000.0).into_iter().map(|value| [value, 0.0]).collect();
        let likelihood = |sigma: f64| {
            let mean = |i: &[f32; 2]| {
                let others = values.iter().filter(|j| *j != i).map(|j| (f64::from(i[0]) - f64::from(j[0])) / sigma);
                others.map(|d| (-0.5 * d * d).exp() / sigma).sum::<f64>().ln()
            };
            values.iter().map(mean).sum::<f64>()
        };
        let found = of_one(&values, 0, Setting::Fixed).unwrap();
        assert!(
            likelihood(found) > likelihood(0.95 * found) && likelihood(found) > likelihood(1.05 * found),
            "{found}"
        );
    }

    #[test]
    fn backgrounds_and_grey_levels_do_not_take_all_width() {
        let smooth: Vec<f32> = (0..1000).map(|i| 65_535.0 * uniform(1, i) as f32).collect();
        let background: Vec<f32> = smooth.iter().map(|&v| if v < 30_000.0 { 0.0 } else { v }).collect();
        let levels: Vec<f32> = smooth.iter().map(|&v| 257.0 * (v / 257.0).round()).collect();
        let few: Vec<f32> = smooth.iter().map(|&v| if v < 30_000.0 { 0.0 } else { 65_535.0 }).collect();
        for values in [&background, &levels, &few] {
            let found = Sigmas::likeliest(values, &smooth).unwrap();
            assert!(found.fixed > 2.0 * NARROWEST && found.check().is_ok(), "{found:?}");
        }
    }

    #[test]
    fn constant_images_and_lone_samples_are_refused() {
        let error = |fixed: &[f32], moving: &[f32]| Sigmas::likeliest(fixed, moving).unwrap_err().to_string();
        assert!(
            error(&[5.0; 9], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0])
                .starts_with("the fixed image has the same")
        );
        assert!(error(&[1.0, 2.0], &[7.0, 7.0]).starts_with("the moving image has the same"));
        assert!(error(&[1.0], &[7.0]).starts_with("1 samples are too few"));
    }
}
