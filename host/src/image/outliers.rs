//! Tells outliers among the intensities of an image from its content.
//!
//! Outliers lie beyond fences: [`FENCE`] times the width of the bulk of the intensities beyond the bulk, like Tukey's
//! outer fences for the quartiles (Exploratory Data Analysis, 1977). Images without outliers lie within their fences.

use super::Volume;
use super::noise::autocorrelation;
use crate::random::scattered;
use rayon::prelude::*;

/// The most voxels that the bulk is determined from.
const SAMPLES: usize = 1 << 15;
/// The background is the intensities within this many widths of the shortest interval that holds half of the voxels,
/// around its middle.
const BACKGROUND: f64 = 3.0;
/// If less than this fraction of all voxels is beyond the background, the image is taken to have no background, unless
/// these voxels are [an object in noise](is_object_in_noise).
const CONTENT: f64 = 1.0 / 32.0;
/// The tails, which may be outliers, at either end of the content: [`TAIL`] of the content, but at least [`LEAST_TAIL`]
/// of all voxels and at most [`MOST_TAIL`] of the content.
const TAIL: f64 = 0.05;
const LEAST_TAIL: f64 = 0.02;
const MOST_TAIL: f64 = 0.5;
/// The distance of the fences from the bulk, in widths of the bulk.
const FENCE: f64 = 3.0;
/// With fewer samples of content than this, nothing is taken to be an outlier.
const FEWEST: usize = 32;
/// The autocorrelation of the noise around an object is less than this. It may come from shading.
const NOISE: f64 = 0.5;
/// An image is a label map if its samples have at most [`LABELS`] values, and more than [`ALIKE`] of the neighbouring
/// pairs outside the most frequent value are equal.
const LABELS: usize = 256;
const ALIKE: f64 = 0.5;

/// The fences, beyond which intensities are outliers; `None` if the bulk cannot be determined.
pub fn fences(voxels: &[f32]) -> Option<(f64, f64)> {
    let mut sorted: Vec<f32> = match voxels.len() > SAMPLES {
        true => scattered(SAMPLES, voxels.len()).map(|n| voxels[n]).collect(),
        false => voxels.to_vec(),
    };
    sorted.retain(|voxel| !voxel.is_nan());
    sorted.par_sort_unstable_by(f32::total_cmp);
    let all = Bulk::of(&sorted, CONTENT)?;
    let object = !all.has_background && all.fences().is_some_and(|fences| is_object_in_noise(voxels, fences));
    let all = if object { Bulk::of(&sorted, 0.0)? } else { all }.fences();
    // Padding outside the field of view may be a large part of the image. The rest then has a background of its own, air.
    let padding = sorted.partition_point(|voxel| *voxel == sorted[0]);
    let rest = if padding < FEWEST { None } else { Bulk::of(&sorted[padding..], CONTENT) };
    let without_padding = rest.filter(|bulk| bulk.has_background).and_then(|bulk| bulk.fences());
    without_padding.filter(|fences| f64::from(sorted[0]) < fences.0).or(all)
}

/// Whether the voxels beyond fences are an object, such as a cell, and the others are noise. Most voxels of an object
/// have a neighbour beyond the same fence, which scattered outliers do not. Metal in tissue is no object: the tissue is
/// what counts.
fn is_object_in_noise(voxels: &[f32], (low, high): (f64, f64)) -> bool {
    let side = |n: usize| i8::from(f64::from(voxels[n]) > high) - i8::from(f64::from(voxels[n]) < low);
    let beyond: Vec<usize> = scattered(SAMPLES, voxels.len() - 1).filter(|&n| side(n) != 0).collect();
    let alike = beyond.iter().filter(|&&n| side(n) == side(n + 1)).count();
    beyond.len() >= FEWEST
        && alike as f64 > ALIKE * beyond.len() as f64
        && autocorrelation(voxels, |n| side(n) == 0 && !voxels[n].is_nan()) < NOISE
}

/// The bulk of the intensities of an image: its background, and its content without tails.
struct Bulk {
    low: f64,
    high: f64,
    has_background: bool,
}

impl Bulk {
    /// Returns the bulk of sorted intensities, or `None` for too few. It has a background if at least the fraction
    /// `least` of them is beyond it.
    fn of(sorted: &[f32], least: f64) -> Option<Self> {
        let at = |n: usize| f64::from(sorted[n]);
        let half = sorted.len() / 2;
        let width = |n: &usize| at(n + half) - at(*n);
        let first = (0..sorted.len() - half).min_by(|a, b| width(a).total_cmp(&width(b)))?;
        let (low, high) = (at(first), at(first + half));
        let (middle, reach) = ((low + high) / 2.0, BACKGROUND * (high - low));
        let below = sorted.partition_point(|&v| f64::from(v) < middle - reach);
        let above = sorted.partition_point(|&v| f64::from(v) <= middle + reach);
        let beyond = sorted.len() - (above - below);
        // A single value is background even if there is little content besides it.
        let has_background = high == low || beyond as f64 >= least * sorted.len() as f64;
        let content = if has_background { beyond } else { sorted.len() };
        if content < FEWEST {
            return None;
        }
        let tail =
            (TAIL * content as f64).max(LEAST_TAIL * sorted.len() as f64).min(MOST_TAIL * content as f64) as usize;
        let (first, last) = (tail.min(content - 1), content - 1 - tail.min(content - 1));
        let (low, high) = match has_background {
            false => (at(first), at(last)),
            true => {
                let beyond = |n: usize| if n < below { at(n) } else { at(n + above - below) };
                (low.min(beyond(first)), high.max(beyond(last)))
            }
        };
        Some(Self { low, high, has_background })
    }

    /// Returns the fences around it, or `None` if it has no width.
    fn fences(&self) -> Option<(f64, f64)> {
        let reach = FENCE * (self.high - self.low);
        (reach > 0.0).then_some((self.low - reach, self.high + reach))
    }
}

/// Whether voxels are labels and not intensities: there are few values, and outside the most frequent one most
/// neighbours are equal.
pub fn is_label_map(volume: &Volume) -> bool {
    let (voxels, width) = (&volume.voxels, volume.geometry.size[0]);
    if width < 2 {
        return false;
    }
    let rows = voxels.len() / width;
    let pairs: Vec<[f32; 2]> = scattered(SAMPLES, rows * (width - 1))
        .map(|n| n / (width - 1) * width + n % (width - 1))
        .map(|n| [voxels[n], voxels[n + 1]])
        .collect();
    let mut values: Vec<f32> = pairs.iter().map(|pair| pair[0]).collect();
    values.sort_unstable_by(f32::total_cmp);
    let runs = || values.chunk_by(|a, b| a == b);
    let Some(most) = runs().max_by_key(|run| run.len()) else { return false };
    let beyond = || pairs.iter().filter(|pair| pair.iter().any(|&v| v != most[0]));
    let alike = beyond().filter(|pair| pair[0] == pair[1]).count();
    runs().count() <= LABELS && alike as f64 > ALIKE * beyond().count() as f64
}

/// The range of the values that at least two neighbours share, which excludes isolated outliers.
pub fn range_shared_by_neighbours(volume: &Volume) -> (f64, f64) {
    let none = (f64::INFINITY, f64::NEG_INFINITY);
    let rows = volume.voxels.par_chunks_exact(volume.geometry.size[0]).map(|row| {
        let pairs = row.windows(2).filter(|pair| pair[0] == pair[1]);
        pairs.fold(none, |(low, high), pair| (low.min(f64::from(pair[0])), high.max(f64::from(pair[0]))))
    });
    rows.reduce(|| none, |a, b| (a.0.min(b.0), a.1.max(b.1)))
}
