//! Recovers values from false colours, in which PET and SPECT are often shown.
//!
//! A colour map leads from the lowest value to the highest through colours along a curve. Luma is not monotonic along
//! it: blue and red are dark, the colours between them bright. Converted to luma, different values would get the same
//! grey. The position of a colour along the curve does rise with its value, and that suffices for mutual information.

use super::luma::luma;
use rayon::prelude::*;
use std::collections::HashMap;

/// Red, green and blue, each 0 to 255.
type Colour = [f64; 3];

/// The side of the cells into which the RGB cube is divided, and the number of cells along each axis.
const CELL: f64 = 16.0;
const CELLS: usize = 16;
/// Cells with less than this fraction of the pixels are ignored, as mixtures and noise.
const RARE: f64 = 0.0005;
/// The most cells that are not rare: a few times as many as the longest curve passes through.
const MOST: usize = 400;
/// The fewest corners of a curve. An image with fewer is a drawing in a few colours. Curves of PET have 46 or more
/// corners, those of SPECT 29.
const FEWEST: usize = CELLS;
/// If luma falls by less than this in all along the curve, luma distinguishes the values well enough. In photographs it
/// falls by at most 5, in colours of PET and SPECT by 28 to 220.
const FALL: f64 = CELL;
/// The largest root mean square distance of the pixels from the curve. The most frequent colour, such as the black
/// around a head, does not count.
const NEAR: f64 = 0.5 * CELL;
/// About the number of pixels for which that distance is computed.
const ENOUGH: usize = 1 << 16;
/// Pixels in a piece of work.
const PART: usize = 1 << 14;

/// A curve through the colours of an image, which starts at the darkest.
pub struct ColourMap {
    /// The corners of the curve, each with its distance from the start along the curve.
    corners: Vec<(Colour, f64)>,
}

impl ColourMap {
    /// Finds the curve through the colours of an image. Each pixel has `channels` numbers, from 0 to `white`, of which
    /// the first three are its colour. Returns `None` if the colours do not lie along a curve, or if luma distinguishes
    /// the values well enough.
    pub fn of<T: Copy + Into<f64> + Sync>(samples: &[T], channels: usize, white: f64) -> Option<Self> {
        let cells = Cells::of(samples, channels, white);
        let common = cells.common();
        let commonest = cells.commonest();
        let curve = (common.len() <= MOST).then(|| Self::through(&common))?;
        if curve.corners.len() < FEWEST || curve.fall() < FALL {
            return None;
        }
        let step = (samples.len() / channels).div_ceil(ENOUGH).max(1);
        let colours = samples.chunks_exact(channels).step_by(step).map(|pixel| colour(pixel, white));
        let counted = colours.filter(|colour| cell(*colour) != commonest);
        let (sum, count) =
            counted.fold((0.0, 0_u32), |(sum, count), colour| (sum + curve.nearest(colour).1, count + 1));
        (sum <= NEAR * NEAR * f64::from(count)).then_some(curve)
    }

    /// The curve through the colours of cells, which are given with their numbers of pixels.
    fn through(cells: &[(Colour, f64)]) -> Self {
        let along = along(cells);
        let last = along.iter().fold(0.0_f64, |last, &at| last.max(at));
        let mut corners: Vec<(Colour, f64)> = Vec::new();
        for n in 0..=(last / CELL) as usize {
            let here = cells.iter().zip(&along).filter(|(_, at)| (**at / CELL) as usize == n).map(|(cell, _)| cell);
            let (sum, count) = here.fold(([0.0; 3], 0.0), |(sum, all), (colour, count)| {
                ([0, 1, 2].map(|i| sum[i] + count * colour[i]), all + count)
            });
            if count > 0.0 {
                let corner = sum.map(|sum| sum / count);
                let at = corners.last().map_or(0.0, |(before, at)| at + squared(*before, corner).sqrt());
                corners.push((corner, at));
            }
        }
        Self { corners }
    }

    /// The sum of all falls of luma along the curve.
    fn fall(&self) -> f64 {
        let luma = |(colour, _): &(Colour, f64)| f64::from(luma(colour));
        self.corners.windows(2).map(|ends| (luma(&ends[0]) - luma(&ends[1])).max(0.0)).sum()
    }

    /// The position along the curve of the point nearest to a colour, and the square of its distance from the colour.
    fn nearest(&self, colour: Colour) -> (f64, f64) {
        let on = |ends: &[(Colour, f64)]| {
            let [(from, at), (to, end)] = [ends[0], ends[1]];
            let (step, off) = ([0, 1, 2].map(|i| to[i] - from[i]), [0, 1, 2].map(|i| colour[i] - from[i]));
            let part = (dot(off, step) / dot(step, step).max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
            (at + part * (end - at), squared(off, step.map(|step| part * step)))
        };
        let places = self.corners.windows(2).map(on);
        places.fold((0.0, f64::INFINITY), |best, place| if place.1 < best.1 { place } else { best })
    }

    /// The positions of pixels along the curve, scaled from 0 to `white` and rounded. `number` converts them to another
    /// type.
    pub fn values<T, U>(&self, samples: &[T], channels: usize, white: f64, number: fn(f64) -> U) -> Vec<U>
    where
        T: Copy + Into<f64> + Sync,
        U: Copy + Send,
    {
        let length = self.corners.last().map_or(1.0, |corner| corner.1).max(f64::MIN_POSITIVE);
        let place = |colour| number((white * self.nearest(colour).0 / length).round());
        let part = |part: &[T]| {
            // Remembers colours, since images in false colours have only a few.
            let mut known: HashMap<[u64; 3], U> = HashMap::new();
            let mut value = |pixel: &[T]| {
                let colour = colour(pixel, white);
                *known.entry(colour.map(f64::to_bits)).or_insert_with(|| place(colour))
            };
            part.chunks_exact(channels).map(&mut value).collect::<Vec<U>>()
        };
        samples.par_chunks(PART * channels).flat_map_iter(part).collect()
    }
}

/// The cells of the RGB cube, each with the sum of the colours of its pixels and their number.
struct Cells {
    cells: Vec<(Colour, f64)>,
    pixels: f64,
}

impl Cells {
    fn of<T: Copy + Into<f64> + Sync>(samples: &[T], channels: usize, white: f64) -> Self {
        let mut cells = vec![([0.0; 3], 0.0); CELLS * CELLS * CELLS];
        let step = (samples.len() / channels).div_ceil(16 * ENOUGH).max(1);
        let mut pixels = 0.0;
        for pixel in samples.chunks_exact(channels).step_by(step) {
            let colour = colour(pixel, white);
            let (sum, count) = &mut cells[cell(colour)];
            *sum = [0, 1, 2].map(|i| sum[i] + colour[i]);
            *count += 1.0;
            pixels += 1.0;
        }
        Self { cells, pixels }
    }

    /// The mean colours and numbers of pixels of the cells that are not rare.
    fn common(&self) -> Vec<(Colour, f64)> {
        let common = self.cells.iter().filter(|(_, count)| *count >= (RARE * self.pixels).max(1.0));
        common.map(|(sum, count)| (sum.map(|sum| sum / count), *count)).collect()
    }

    fn commonest(&self) -> usize {
        let more = |best: usize, n: usize| if self.cells[n].1 > self.cells[best].1 { n } else { best };
        (0..self.cells.len()).fold(0, more)
    }
}

/// The distance of each cell from the darkest along the cheapest path through other cells. A step costs the square of
/// its length, so that paths follow the curve instead of cutting across.
fn along(cells: &[(Colour, f64)]) -> Vec<f64> {
    let mut ways = vec![(f64::INFINITY, 0.0); cells.len()];
    let mut left: Vec<usize> = (0..cells.len()).collect();
    let dark = |n: &usize| cells[*n].0.iter().sum::<f64>();
    if let Some(darkest) = left.iter().copied().min_by(|a, b| dark(a).total_cmp(&dark(b))) {
        ways[darkest].0 = 0.0;
    }
    while let Some(at) = (0..left.len()).min_by(|a, b| ways[left[*a]].0.total_cmp(&ways[left[*b]].0)) {
        let from = left.swap_remove(at);
        for &to in &left {
            let squared = squared(cells[from].0, cells[to].0);
            if ways[from].0 + squared < ways[to].0 {
                ways[to] = (ways[from].0 + squared, ways[from].1 + squared.sqrt());
            }
        }
    }
    ways.into_iter().map(|(_, length)| length).collect()
}

fn colour<T: Copy + Into<f64>>(pixel: &[T], white: f64) -> Colour {
    [0, 1, 2].map(|i| 255.0 * pixel[i].into() / white)
}

fn cell(colour: Colour) -> usize {
    colour.iter().fold(0, |cell, channel| cell * CELLS + ((channel / CELL) as usize).min(CELLS - 1))
}

fn dot(a: Colour, b: Colour) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn squared(a: Colour, b: Colour) -> f64 {
    let apart = [0, 1, 2].map(|i| a[i] - b[i]);
    dot(apart, apart)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Converts values from 0 to 1 to the colours of a map.
    fn coloured(map: &[[f64; 3]], values: impl Iterator<Item = f64>) -> Vec<u8> {
        let parts = (map.len() - 1) as f64;
        let colour = |value: f64| {
            let n = ((value * parts) as usize).min(map.len() - 2);
            let part = value * parts - n as f64;
            [0, 1, 2].map(|i| (map[n][i] + part * (map[n + 1][i] - map[n][i])).round() as u8)
        };
        values.flat_map(colour).collect()
    }

    fn ramp() -> impl Iterator<Item = f64> {
        (0..4000).map(|n| f64::from(n * 1237 % 4000) / 3999.0)
    }

    const RAINBOW: [[f64; 3]; 6] =
        [[0.0; 3], [0.0, 0.0, 160.0], [0.0, 90.0, 255.0], [240.0, 240.0, 0.0], [255.0, 0.0, 0.0], [255.0, 0.0, 180.0]];

    #[test]
    fn values_come_back_from_their_colours_in_order() {
        let colours = coloured(&RAINBOW, ramp());
        let map = ColourMap::of(&colours, 3, 255.0).unwrap();
        let mut pairs: Vec<(f64, f64)> = ramp().zip(map.values(&colours, 3, 255.0, |v| v)).collect();
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
        assert!(pairs.windows(2).all(|two| two[0].1 <= two[1].1 + 1.0), "they rise together, but for rounding");
        assert_eq!((pairs[0].1, pairs[3999].1), (0.0, 255.0));
    }

    #[test]
    fn sixteen_bits_have_the_same_curve() {
        let bytes = coloured(&RAINBOW, ramp());
        let words: Vec<u16> =
            bytes.chunks_exact(3).flat_map(|p| [p[0], p[1], p[2], 7]).map(|v| 257 * u16::from(v)).collect();
        let [of_bytes, of_words] =
            [ColourMap::of(&bytes, 3, 255.0).unwrap(), ColourMap::of(&words, 4, 65535.0).unwrap()];
        assert_eq!(of_bytes.corners, of_words.corners);
        let apart =
            of_bytes.values(&bytes, 3, 255.0, |v| v).into_iter().zip(of_words.values(&words, 4, 65535.0, |v| v));
        assert!(apart.into_iter().all(|(a, b)| (257.0 * a - b).abs() <= 129.0));
    }

    #[test]
    fn luma_is_enough_where_it_rises_with_the_value() {
        let hot = [[0.0; 3], [255.0, 0.0, 0.0], [255.0, 255.0, 0.0], [255.0; 3]];
        assert!(ColourMap::of(&coloured(&hot, ramp()), 3, 255.0).is_none());
        assert!(ColourMap::of(&coloured(&[[0.0; 3], [255.0; 3]], ramp()), 3, 255.0).is_none());
        assert!(ColourMap::of(&[9_u8; 12], 3, 255.0).is_none());
        assert!(ColourMap::of(&[0_u8; 0], 3, 255.0).is_none());
    }

    #[test]
    fn a_drawing_in_some_colours_is_no_map() {
        let colours = coloured(&RAINBOW, ramp().map(|value| (9.0 * value).floor() / 9.0));
        assert!(ColourMap::of(&colours, 3, 255.0).is_none());
    }

    #[test]
    fn colours_all_over_the_cube_are_no_curve() {
        let noise = |n: u32| (n.wrapping_mul(2_654_435_761) >> 24) as u8;
        let anything: Vec<u8> = (0..30_000).map(noise).collect();
        assert!(ColourMap::of(&anything, 3, 255.0).is_none());
        let few: Vec<u8> = (0..30_000).map(|n| noise(n) / 100 * 90).collect();
        assert!(ColourMap::of(&few, 3, 255.0).is_none());
    }
}
