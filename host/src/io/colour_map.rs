//! The values behind false colours, as PET and SPECT are often shown.
//!
//! A colour map leads from the lowest value to the highest through colours along a curve. Luma rises and falls on the way: blue and red are
//! dark, what lies between them is bright. So different values get one grey, and mixtures of them that of others. The place of a colour
//! along the curve rises with its value, and that is all that mutual information needs.

use super::luma::luma;
use rayon::prelude::*;
use std::collections::HashMap;

/// Red, green and blue, each 0 to 255.
type Colour = [f64; 3];

/// The side of the cells into which the cube of colours is divided, and how many there are along each axis.
const CELL: f64 = 16.0;
const CELLS: usize = 16;
/// Cells with a smaller part of the pixels hold mixtures and noise.
const RARE: f64 = 0.0005;
/// Cells that are not rare, at most: some times as many as the longest curve has.
const MOST: usize = 400;
/// Corners of a curve, at least. What has fewer is a drawing in some colours; PET's have 46 and more, SPECT's 29.
const FEWEST: usize = CELLS;
/// Luma that falls by less than this along the curve, in all, tells its values apart. That of photographs falls by 5 at most, that of PET's and
/// SPECT's colours by 28 to 220.
const FALL: f64 = CELL;
/// How far the pixels may lie from the curve, root mean square. The commonest colour, such as the black around a head, does not count.
const NEAR: f64 = 0.5 * CELL;
/// About so many pixels are enough to say so.
const ENOUGH: usize = 1 << 16;
/// Pixels that a thread takes at once.
const PART: usize = 1 << 14;

/// A curve through the colours of a picture, beginning with the darkest.
pub struct ColourMap {
    /// Corners, and how far along the curve each lies.
    corners: Vec<(Colour, f64)>,
}

impl ColourMap {
    /// Of the pixels of a picture, `channels` numbers up to `white` for each, of which the first three are its colour. None where the colours
    /// lie along no curve, or luma tells as much.
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

    /// Through the colours of cells, each with its number of pixels.
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

    /// By how much luma falls along the curve, in all.
    fn fall(&self) -> f64 {
        let luma = |(colour, _): &(Colour, f64)| f64::from(luma(colour));
        self.corners.windows(2).map(|ends| (luma(&ends[0]) - luma(&ends[1])).max(0.0)).sum()
    }

    /// How far along the curve the point lies that is nearest to a colour, and the square of its distance.
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

    /// The places of pixels along the curve, from 0 to `white`, in whole numbers, of which `number` makes some of a type.
    pub fn values<T, U>(&self, samples: &[T], channels: usize, white: f64, number: fn(f64) -> U) -> Vec<U>
    where
        T: Copy + Into<f64> + Sync,
        U: Copy + Send,
    {
        let length = self.corners.last().map_or(1.0, |corner| corner.1).max(f64::MIN_POSITIVE);
        let place = |colour| number((white * self.nearest(colour).0 / length).round());
        let part = |part: &[T]| {
            // Pictures with false colours have few of them.
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

/// Pixels of each cell of the cube of colours, and the sums of their colours.
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

    /// The mean colours and numbers of pixels of those that are not rare.
    fn common(&self) -> Vec<(Colour, f64)> {
        let common = self.cells.iter().filter(|(_, count)| *count >= (RARE * self.pixels).max(1.0));
        common.map(|(sum, count)| (sum.map(|sum| sum / count), *count)).collect()
    }

    fn commonest(&self) -> usize {
        let more = |best: usize, n: usize| if self.cells[n].1 > self.cells[best].1 { n } else { best };
        (0..self.cells.len()).fold(0, more)
    }
}

/// How far the cells lie from the darkest on the cheapest ways through others. A step costs the square of its length, so that ways lead along
/// a curve rather than across it.
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

    /// What values from 0 to 1 are in the colours of a map.
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
