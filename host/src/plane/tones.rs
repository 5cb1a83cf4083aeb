//! Pictures of three tones, with one bit per pixel and tone, so that one instruction compares many pixels.

// Loops over SIMD lanes use one index for several arrays.
#![allow(clippy::needless_range_loop)]

use crate::backend::simd::widest;
use std::ops::Range;

/// Dark, medium and bright pixels.
pub const TONES: usize = 3;
/// The fraction of pixels that are dark, and that are bright.
const EXTREME: f64 = 0.2;
/// Pixels per word.
const WORD: usize = u64::BITS as usize;

/// How often each tone of one picture lies on each tone of another.
pub type Meetings = [[u32; TONES]; TONES];

/// Rows that are counted together, in SIMD lanes.
const LANES: usize = 8;
/// Words of the same rows, for each tone.
type Rows<'a> = [&'a [u64]; TONES];

/// Returns the limits of the middle tone; `None` without pixels.
pub fn limits(mut pixels: Vec<f32>) -> Option<[f32; 2]> {
    let last = pixels.len().checked_sub(1)?;
    let mut at = |part: f64| *pixels.select_nth_unstable_by((part * last as f64) as usize, f32::total_cmp).1;
    Some([at(EXTREME), at(1.0 - EXTREME)])
}

/// 64 columns of a picture: for each tone one word per row, whose lowest bit is the first column. `LANES` words of 0
/// follow.
type Strip = [Vec<u64>; TONES];

/// The tones of a picture's pixels.
pub struct Tones {
    /// The columns, from left to right.
    strips: Vec<Strip>,
    /// The pixels with a tone in the rows before each row, and in all rows.
    before: Vec<u32>,
    /// The rows from the first to the last one that has a pixel with a tone.
    filled: Range<usize>,
}

impl Tones {
    /// Sorts the pixels of a picture with `columns` columns into tones. NaN has no tone.
    pub fn new(pixels: &[f32], columns: usize, limits: [f32; 2]) -> Self {
        Self::of((0..columns).step_by(WORD).map(|first| strip(pixels, columns, first, limits)).collect())
    }

    fn of(strips: Vec<Strip>) -> Self {
        let mut before = vec![0];
        before.extend(pixels(&strips));
        for row in 1..before.len() {
            before[row] += before[row - 1];
        }
        let all = before[before.len() - 1];
        let filled = before.partition_point(|&n| n == 0).saturating_sub(1)..before.partition_point(|&n| n < all);
        Self { strips, before, filled }
    }

    /// Returns the part that begins with `column` and is as wide as `like`, all rows.
    pub fn columns(&self, column: usize, like: &Self) -> Self {
        let (first, shift) = (column / WORD, (column % WORD) as u32);
        let empty = self.strips[0].each_ref().map(|plane| vec![0; plane.len()]);
        let strip = |n: usize| self.strips.get(n).unwrap_or(&empty);
        let part = |n: usize| [0, 1, 2].map(|tone| shifted(&strip(n)[tone], &strip(n + 1)[tone], shift));
        Self::of((first..first + like.strips.len()).map(part).collect())
    }

    /// Counts how often tones meet if this picture's first row lies on `row` of `other`, which is as wide and has
    /// enough rows. Returns `None`, sooner, if it is clear that fewer than `least` pixels meet.
    pub fn meetings(&self, other: &Self, row: usize, least: u32) -> Option<Meetings> {
        let (these, those) = (&self.filled, &other.filled);
        let rows = these.start.max(those.start.saturating_sub(row))..these.end.min(those.end.saturating_sub(row));
        let pixels = |tones: &Self, from: usize| tones.before[from + rows.end] - tones.before[from + rows.start];
        if rows.is_empty() || pixels(self, 0).min(pixels(other, row)) < least {
            return None;
        }
        // At least one of the pictures is empty in the rows that are added.
        let rows = rows.start..rows.start + rows.len().next_multiple_of(LANES);
        let mut meetings = Meetings::default();
        for (this, that) in self.strips.iter().zip(&other.strips) {
            let these = this.each_ref().map(|plane| &plane[rows.clone()]);
            let those = that.each_ref().map(|plane| &plane[row..][rows.clone()]);
            for (all, part) in meetings.as_flattened_mut().iter_mut().zip(count(these, those).as_flattened()) {
                *all += part;
            }
        }
        Some(meetings)
    }
}

widest! {
    /// Returns the tones of the columns that begin with `first`.
    fn strip(pixels: &[f32], columns: usize, first: usize, limits: [f32; 2]) -> Strip {
        let [dark, bright] = limits;
        let mut strip = Strip::default();
        let mut word = [f32::NAN; WORD];
        for row in pixels.chunks_exact(columns) {
            let part = &row[first..columns.min(first + WORD)];
            word[..part.len()].copy_from_slice(part);
            strip[0].push(bits(&word, |pixel| pixel <= dark));
            strip[1].push(bits(&word, |pixel| (pixel > dark) & (pixel <= bright)));
            strip[2].push(bits(&word, |pixel| pixel > bright));
        }
        for plane in &mut strip {
            plane.extend([0; LANES]);
        }
        strip
    }
}

/// Returns one bit per pixel, the first one lowest.
#[inline(always)]
fn bits(pixels: &[f32; WORD], has: impl Fn(f32) -> bool) -> u64 {
    let mut bytes = [0; WORD];
    for l in 0..WORD {
        bytes[l] = u8::from(has(pixels[l]));
    }
    // The product's highest byte holds the lowest bits of eight bytes.
    let packed = |&eight: &[u8; 8]| u64::from_le_bytes(eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
    bytes.as_chunks().0.iter().rev().fold(0, |bits, eight| bits << 8 | packed(eight))
}

widest! {
    /// Returns the pixels of each row that have a tone.
    fn pixels(strips: &[Strip]) -> Vec<u32> {
        let mut rows = vec![0; strips[0][0].len() - LANES];
        for plane in strips.iter().flatten() {
            for (pixels, word) in rows.iter_mut().zip(plane) {
                *pixels += word.count_ones();
            }
        }
        rows
    }
}

widest! {
    /// Returns the 64 columns that begin with column `shift` of a strip, whose right neighbour is `next`.
    fn shifted(strip: &[u64], next: &[u64], shift: u32) -> Vec<u64> {
        strip.iter().zip(next).map(|(low, high)| low >> shift | high << 1 << (63 - shift)).collect()
    }
}

/// Counts the meetings of equally many rows.
fn count(these: Rows, those: Rows) -> Meetings {
    #[cfg(target_arch = "x86_64")]
    {
        /// Half of the time is spent on counting bits where that takes several instructions.
        #[target_feature(enable = "avx512f,avx512vpopcntdq")]
        fn by_one_instruction(these: Rows, those: Rows) -> Meetings {
            counted(these, those)
        }

        if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vpopcntdq") {
            // SAFETY: the processor has these instructions.
            return unsafe { by_one_instruction(these, those) };
        }
    }
    by_several(these, those)
}

widest! {
    fn by_several(these: Rows, those: Rows) -> Meetings {
        counted(these, those)
    }
}

#[inline(always)]
fn counted(these: Rows, those: Rows) -> Meetings {
    let mut counts = [[[0; LANES]; TONES]; TONES];
    let [these, those] = [these, those].map(|rows| rows.map(|plane| plane.as_chunks::<LANES>().0));
    // Slices of one length need no checks of their indices.
    let all = these[0].len();
    let [these, those] = [these, those].map(|rows| rows.map(|plane| &plane[..all]));
    for n in 0..all {
        for i in 0..TONES {
            for j in 0..TONES {
                let (a, b) = (&these[i][n], &those[j][n]);
                for l in 0..LANES {
                    counts[i][j][l] += u64::from((a[l] & b[l]).count_ones());
                }
            }
        }
    }
    counts.map(|row| row.map(|lanes| lanes.iter().sum::<u64>() as u32))
}

/// The mutual information of tones.
pub struct Information {
    /// n ln n.
    logs: Vec<f64>,
}

impl Information {
    /// Prepares for pictures of at most `pixels` pixels.
    pub fn new(pixels: usize) -> Self {
        let log = |n: usize| n as f64 * libm::log(n.max(1) as f64);
        Self { logs: (0..=pixels).map(log).collect() }
    }

    /// Returns the mutual information, nats beyond chance, times the pixels that are in both pictures; and how many
    /// those are.
    pub fn of(&self, meetings: &Meetings) -> (f64, u32) {
        let log = |n: u32| self.logs[n as usize];
        let rows = meetings.map(|row| row.iter().sum::<u32>());
        let columns = [0, 1, 2].map(|tone| meetings.iter().map(|row| row[tone]).sum::<u32>());
        let all = rows.iter().sum();
        let joint: f64 = meetings.iter().flatten().map(|&n| log(n)).sum();
        let alone: f64 = rows.iter().chain(&columns).map(|&n| log(n)).sum();
        let chance = 0.5 * ((TONES - 1) * (TONES - 1)) as f64;
        (joint - alone + log(all) - chance, all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::uniform;

    #[test]
    fn meetings_are_those_of_pixels() {
        let picture = |seed, pixels: u64| -> Vec<f32> {
            (0..pixels).map(|n| if n % 7 == 0 { f32::NAN } else { uniform(seed, n) as f32 }).collect()
        };
        let (small, large) = (picture(1, 70 * 5), picture(2, 150 * 9));
        let (fixed, canvas) = (Tones::new(&small, 70, [0.2, 0.8]), Tones::new(&large, 150, [0.2, 0.8]));
        let tone = |pixel: f32| if pixel <= 0.2 { 0 } else { 1 + usize::from(pixel > 0.8) };
        for [column, row] in [[0, 0], [13, 4], [64, 2], [80, 1]] {
            let mut expected = Meetings::default();
            for j in 0..5 {
                for i in 0..70 {
                    let (a, b) = (small[j * 70 + i], large[(j + row) * 150 + i + column]);
                    if !a.is_nan() && !b.is_nan() {
                        expected[tone(a)][tone(b)] += 1;
                    }
                }
            }
            let part = canvas.columns(column, &fixed);
            assert_eq!(fixed.meetings(&part, row, 0), Some(expected), "{column} {row}");
            let too_many = expected.iter().flatten().sum::<u32>() + 200;
            assert_eq!(fixed.meetings(&part, row, too_many), None, "{column} {row}");
        }
    }

    #[test]
    fn equal_tones_tell_all_and_independent_ones_nothing() {
        let information = Information::new(1000);
        let (most, pixels) = information.of(&[[200, 0, 0], [0, 600, 0], [0, 0, 200]]);
        let entropy = -(0.4 * 0.2_f64.ln() + 0.6 * 0.6_f64.ln());
        assert!((most + 2.0 - 1000.0 * entropy).abs() < 1e-9 && pixels == 1000, "{most}");
        let (least, _) = information.of(&[[40, 120, 40], [120, 360, 120], [40, 120, 40]]);
        assert!((least + 2.0).abs() < 1e-9, "{least}");
    }

    #[test]
    fn a_fifth_is_dark_and_a_fifth_is_bright() {
        let pixels: Vec<f32> = (0..101).rev().map(|n| n as f32).collect();
        assert_eq!(limits(pixels), Some([20.0, 80.0]));
        assert_eq!(limits(Vec::new()), None);
    }
}
