//! Pictures of three tones, with one bit per pixel and tone, so that one instruction compares many pixels.

use crate::backend::simd::widest;

/// Dark, medium and bright pixels.
pub const TONES: usize = 3;
/// The fraction of pixels that are dark, and that are bright.
const EXTREME: f64 = 0.2;
/// Pixels per word.
const WORD: usize = u64::BITS as usize;

/// How often each tone of one picture lies on each tone of another.
pub type Meetings = [[u32; TONES]; TONES];

/// Returns the limits of the middle tone; `None` without pixels.
pub fn limits(mut pixels: Vec<f32>) -> Option<[f32; 2]> {
    let last = pixels.len().checked_sub(1)?;
    let mut at = |part: f64| *pixels.select_nth_unstable_by((part * last as f64) as usize, f32::total_cmp).1;
    Some([at(EXTREME), at(1.0 - EXTREME)])
}

/// The tones of a picture's pixels.
#[derive(Clone)]
pub struct Tones {
    /// Words per row.
    words: usize,
    rows: usize,
    /// One bit per pixel for each tone; the first column of a word is the lowest bit.
    planes: [Vec<u64>; TONES],
}

impl Tones {
    /// Sorts the pixels of a picture with `columns` columns into tones. NaN has no tone.
    pub fn new(pixels: &[f32], columns: usize, [dark, bright]: [f32; 2]) -> Self {
        let (words, rows) = (columns.div_ceil(WORD), pixels.len() / columns);
        let mut planes = [(); TONES].map(|()| Vec::with_capacity(words * rows));
        for word in pixels.chunks_exact(columns).flat_map(|row| row.chunks(WORD)) {
            let beyond = |limit: f32| bits(word, |pixel| pixel > limit);
            let (image, dark, bright) = (bits(word, |pixel| !pixel.is_nan()), beyond(dark), beyond(bright));
            for (plane, bits) in planes.iter_mut().zip([image & !dark, dark & !bright, bright]) {
                plane.push(bits);
            }
        }
        Self { words, rows, planes }
    }

    /// Returns the part that begins with `column` and is as wide as `like`, all rows.
    pub fn columns(&self, column: usize, like: &Self) -> Self {
        let (first, shift) = (column / WORD, column % WORD);
        let word = |row: &[u64], n: usize| row.get(first + n).copied().unwrap_or(0);
        let mut part = |plane: &Vec<u64>| {
            let mut words = Vec::with_capacity(like.words * self.rows);
            for row in plane.chunks_exact(self.words) {
                let both = |n| u128::from(word(row, n)) | u128::from(word(row, n + 1)) << WORD;
                words.extend((0..like.words).map(|n| (both(n) >> shift) as u64));
            }
            words
        };
        Self { words: like.words, rows: self.rows, planes: self.planes.each_ref().map(&mut part) }
    }

    /// Counts how often tones meet if this picture's first row lies on `row` of `other`, which is as wide and has
    /// enough rows.
    pub fn meetings(&self, other: &Self, row: usize) -> Meetings {
        let rows = row * self.words..(row + self.rows) * self.words;
        meetings(&self.planes, other.planes.each_ref().map(|plane| &plane[rows.clone()]))
    }
}

/// Returns one bit per pixel, the first one lowest.
fn bits(pixels: &[f32], has: impl Fn(f32) -> bool) -> u64 {
    pixels.iter().rev().fold(0, |bits, &pixel| bits << 1 | u64::from(has(pixel)))
}

widest! {
    fn meetings(these: &[Vec<u64>; TONES], those: [&[u64]; TONES]) -> Meetings {
        let mut meetings = Meetings::default();
        for (row, this) in meetings.iter_mut().zip(these) {
            for (count, that) in row.iter_mut().zip(those) {
                *count = this.iter().zip(that).map(|(a, b)| u64::from((a & b).count_ones())).sum::<u64>() as u32;
            }
        }
        meetings
    }
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
            assert_eq!(fixed.meetings(&canvas.columns(column, &fixed), row), expected, "{column} {row}");
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
