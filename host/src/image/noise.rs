//! Tells noise from structure: unlike structure, noise is not correlated with itself a few voxels away.

use crate::random::scattered;

/// The most voxels, and pairs of voxels, that are looked at.
const SAMPLES: usize = 1 << 15;
/// With fewer pairs than this, nothing is taken to be noise.
const FEWEST: usize = 32;
/// How far apart the voxels of a pair are, in voxels. Interpolation and filters smooth noise over less.
const APART: usize = 4;
/// The autocorrelation of a background that is nothing but noise is less than this. That of water and woods in radar
/// images is more than twice as large.
const UNCORRELATED: f64 = 0.05;
/// Noise reaches this many standard deviations beyond its mode.
const REACH: f64 = 4.0;
/// If less than this fraction of the voxels is brighter than the noise, the image has no content.
const CONTENT: f64 = 0.005;

/// Returns the correlation of voxels with those a few places further along the rows, as far as both count: about 0 for
/// noise, 1 if there are too few or all are equal.
pub fn autocorrelation(voxels: &[f32], counts: impl Fn(usize) -> bool) -> f64 {
    let pairs: Vec<[f64; 2]> = scattered(SAMPLES, voxels.len().saturating_sub(APART))
        .filter(|&n| counts(n) && counts(n + APART))
        .map(|n| [n, n + APART].map(|n| f64::from(voxels[n])))
        .collect();
    if pairs.len() < FEWEST {
        return 1.0;
    }
    let sum = |of: &dyn Fn(f64, f64) -> f64| pairs.iter().map(|&[a, b]| of(a, b)).sum::<f64>();
    let mean = sum(&|a, _| a) / pairs.len() as f64;
    let variance = sum(&|a, _| (a - mean).powi(2));
    // The difference of two independent voxels has twice their variance.
    if variance > 0.0 { 1.0 - sum(&|a, b| (a - b).powi(2)) / (2.0 * variance) } else { 1.0 }
}

/// Returns the intensity above which hardly any of the background lies, for an image whose background is noise and
/// darker than the rest. Only voxels that count are looked at.
pub fn ceiling(voxels: &[f32], counts: impl Fn(usize) -> bool) -> Option<f32> {
    let known = scattered(SAMPLES, voxels.len()).filter(|&n| counts(n) && !voxels[n].is_nan());
    let mut sorted: Vec<f32> = known.map(|n| voxels[n]).collect();
    sorted.sort_unstable_by(f32::total_cmp);
    let mode = f64::from(mode(&sorted)?);
    // Nothing but noise is darker than its mode.
    let darker = sorted.partition_point(|&voxel| f64::from(voxel) <= mode);
    let squares: f64 = sorted[..darker].iter().map(|&voxel| (mode - f64::from(voxel)).powi(2)).sum();
    let ceiling = (mode + REACH * (squares / darker as f64).sqrt()) as f32;
    let brighter = sorted.len() - sorted.partition_point(|&voxel| voxel <= ceiling);
    let is_noise = brighter as f64 >= CONTENT * sorted.len() as f64
        && autocorrelation(voxels, |n| counts(n) && voxels[n] <= ceiling).abs() < UNCORRELATED;
    is_noise.then_some(ceiling)
}

/// Returns the mode of sorted values: the narrowest interval that holds half of them, the narrowest one in that which
/// holds half of those, and so on (Robertson & Cryer 1974).
fn mode(sorted: &[f32]) -> Option<f32> {
    let mut rest = sorted;
    while rest.len() > 2 {
        let half = rest.len().div_ceil(2);
        let width = |first: usize| rest[first + half - 1] - rest[first];
        let least = (0..=rest.len() - half).map(width).fold(f32::INFINITY, f32::min);
        // Of whole numbers, many intervals are equally wide.
        let narrowest: Vec<usize> = (0..=rest.len() - half).filter(|&first| width(first) == least).collect();
        rest = &rest[narrowest[narrowest.len() / 2]..][..half];
    }
    rest.first().copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::normal;

    const WIDTH: usize = 200;

    fn image(pixel: impl Fn(f32, f32, f32) -> f32) -> Vec<f32> {
        let noise = |n: usize| normal(5, n as u64);
        (0..WIDTH * WIDTH).map(|n| pixel((n % WIDTH) as f32, (n / WIDTH) as f32, noise(n))).collect()
    }

    #[test]
    fn the_ceiling_lies_above_the_noise_and_below_an_object() {
        for (mean, deviation) in [(10.0, 2.0), (300.0, 9.0), (0.0, 1.0)] {
            let voxels = image(|x, y, noise| {
                let object = (x - 60.0).hypot(y - 90.0) < 20.0;
                mean + deviation * if object { 20.0 + x % 7.0 } else { noise }
            });
            let found = (ceiling(&voxels, |_| true).unwrap() - mean) / deviation;
            assert!((3.0..6.0).contains(&found), "{found}");
            let whole = image(|x, y, noise| (mean + deviation * if x * y < 4000.0 { 20.0 } else { noise }).round());
            let found = (ceiling(&whole, |_| true).unwrap() - mean) / deviation;
            assert!((3.0..6.0).contains(&found), "{found}");
        }
    }

    #[test]
    fn structure_and_noise_alone_have_no_ceiling() {
        let object = |x: f32, y: f32| if (x - 60.0).hypot(y - 90.0) < 20.0 { 50.0 } else { 0.0 };
        let structure = image(|x, y, noise| object(x, y) + (0.1 * x).sin() + noise);
        assert_eq!(ceiling(&structure, |_| true), None);
        assert!((0.2..0.4).contains(&autocorrelation(&structure, |n| structure[n] < 10.0)));
        assert_eq!(ceiling(&image(|_, _, noise| noise), |_| true), None);
        assert_eq!(ceiling(&image(object_on_nothing), |_| true), None);
        let smooth = image(|x, y, noise| if x < 100.0 { noise } else { object(x, y) + (0.1 * x).sin() + noise });
        assert!(ceiling(&smooth, |n| n % WIDTH >= 100).is_none());
    }

    fn object_on_nothing(x: f32, y: f32, noise: f32) -> f32 {
        if x.hypot(y) < 60.0 { 50.0 + noise } else { 0.0 }
    }

    #[test]
    fn too_few_voxels_are_no_noise() {
        assert_eq!(autocorrelation(&[], |_| true), 1.0);
        assert_eq!(ceiling(&[], |_| true), None);
        assert_eq!(ceiling(&[1.0; 9], |_| true), None);
    }
}
