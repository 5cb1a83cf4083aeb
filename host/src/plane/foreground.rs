//! The foreground of a picture or volume: what is neither dark nor a flat surround.

use crate::Volume;
use crate::image::{Prepared, ceiling, extent};
use std::borrow::Cow;
use std::ops::Range;

/// The background is darker than this fraction of the way from the darkest pixel to the white level. No pixel of a
/// surround differs from its corner's tone by more than that.
const DARK: f32 = 0.05;
/// Half of a surround differs by no more than this fraction of the range from its median. Paper and windows are
/// so flat. The light behind a slide is not, and outlines on it tell where the tissue lies.
const FLAT: f32 = 0.001;
/// A surround has at least this fraction of the pixels, and begins in a flat square whose side is this part of the
/// picture's shorter side.
const LEAST: f64 = 0.01;
const CORNER: usize = 32;
/// The fraction of pixels that are brighter than the white level, such as glare.
const GLARE: f64 = 0.01;

/// Returns which pixels are brighter than the background and its noise, inside the mask and, in a 2-D image, not in a
/// flat surround, such as paper.
pub fn foreground_mask(picture: &Volume, mask: Option<&Volume>) -> Vec<bool> {
    let pixels = &picture.voxels;
    let counts = |n: usize| mask.is_none_or(|mask| mask.voxels[n] >= 0.5);
    let (black, white) = tones(pixels.clone());
    let surround = flat_surround(picture, mask, black..white);
    let inside = |n: usize| counts(n) && surround.as_ref().is_none_or(|surround| !surround[n]);
    let ((black, white), noise) = match &surround {
        Some(surround) => (tones((0..pixels.len()).filter(|&n| !surround[n]).map(|n| pixels[n]).collect()), None),
        None => ((black, white), ceiling(pixels, counts)),
    };
    let dark = (black + DARK * (white - black)).max(noise.unwrap_or(f32::NEG_INFINITY));
    (0..pixels.len()).map(|n| pixels[n] > dark && inside(n)).collect()
}

/// Restricts an image's mask to its foreground.
pub fn masked_to_foreground<'a>(image: &'a Prepared) -> Prepared<'a> {
    let foreground = foreground_mask(&image.image, image.mask());
    let mask = image.image.with(|n| f32::from(u8::from(foreground[n])));
    Prepared { image: Cow::Borrowed(&*image.image), mask: Some(Cow::Owned(mask)), ..*image }
}

/// Returns the darkest of some pixels and the white level.
fn tones(mut pixels: Vec<f32>) -> (f32, f32) {
    let black = pixels.iter().copied().fold(f32::INFINITY, f32::min);
    let rank = ((1.0 - GLARE) * (pixels.len() as f64 - 1.0)) as usize;
    match pixels.is_empty() {
        true => (0.0, 0.0),
        false => (black, *pixels.select_nth_unstable_by(rank, f32::total_cmp).1),
    }
}

/// Returns which pixels of a 2-D image are connected to a flat corner of what the mask covers through pixels of about
/// its tone, as far as the corner is not dark and the pixels are many and flat, too; `None` if there are none.
fn flat_surround(picture: &Volume, mask: Option<&Volume>, tones: Range<f32>) -> Option<Vec<bool>> {
    if !picture.geometry.is_flat() {
        return None;
    }
    let pixels = &picture.voxels;
    let [width, height, _] = picture.geometry.size;
    let range = tones.end - tones.start;
    let counts = |n: usize| mask.is_none_or(|mask| mask.voxels[n] >= 0.5);
    let corners = corners([width, height], mask)?.map(|corner| corner.filter(|&n| counts(n)).collect::<Vec<_>>());
    let mut surround: Option<Vec<bool>> = None;
    for corner in &corners {
        let is_known = surround.as_ref().is_some_and(|surround| corner.iter().any(|&n| surround[n]));
        let tone = flat_tone(corner.iter().map(|&n| pixels[n]).collect(), FLAT * range);
        let Some(tone) = tone.filter(|&tone| !is_known && tone > tones.start + DARK * range) else { continue };
        let like = |n: usize| (pixels[n] - tone).abs() <= DARK * range && counts(n);
        let mut found = vec![false; pixels.len()];
        corners.iter().flatten().filter(|&&n| like(n)).for_each(|&n| found[n] = true);
        // Sweeps need no stack, which would be as large as the picture.
        while sweep(&mut found, 0..width * height, -1, width, like)
            | sweep(&mut found, (0..width * height).rev(), 1, width, like)
        {}
        let region: Vec<f32> = (0..pixels.len()).filter(|&n| found[n]).map(|n| pixels[n]).collect();
        if region.len() as f64 >= LEAST * pixels.len() as f64 && flat_tone(region, FLAT * range).is_some() {
            surround.get_or_insert_with(|| vec![false; pixels.len()]).iter_mut().zip(found).for_each(|(a, b)| *a |= b);
        }
    }
    surround
}

/// Returns the pixels of a square in each corner of what the mask covers; `None` if it covers nothing.
fn corners(size: [usize; 2], mask: Option<&Volume>) -> Option<[impl Iterator<Item = usize>; 4]> {
    let whole = match mask {
        Some(mask) => extent(size, |n| mask.voxels[n] >= 0.5)?,
        None => size.map(|side| 0..side),
    };
    let side = whole.iter().map(|side| side.len()).min()?.div_ceil(CORNER);
    let [[left, right], [above, below]] = whole.map(|Range { start, end }| [start..start + side, end - side..end]);
    let square = |columns: &Range<usize>, rows: &Range<usize>| {
        let columns = columns.clone();
        rows.clone().flat_map(move |row| columns.clone().map(move |column| row * size[0] + column))
    };
    Some([square(&left, &above), square(&right, &above), square(&left, &below), square(&right, &below)])
}

/// Returns the median of some pixels if half of them differ from it by `most` at most.
fn flat_tone(mut pixels: Vec<f32>, most: f32) -> Option<f32> {
    let middle = pixels.len() / 2;
    let (_, &mut median, _) = (!pixels.is_empty()).then(|| pixels.select_nth_unstable_by(middle, f32::total_cmp))?;
    let flat = pixels.iter().filter(|&&pixel| (pixel - median).abs() <= most).count();
    (2 * flat >= pixels.len()).then_some(median)
}

/// Spreads what was found along and across rows, by one pass over the pixels in this order. `back` leads to the pixel
/// before along a row. Returns whether more was found.
fn sweep(
    found: &mut [bool],
    order: impl Iterator<Item = usize>,
    back: isize,
    width: usize,
    like: impl Fn(usize) -> bool,
) -> bool {
    let edge = if back < 0 { 0 } else { width - 1 };
    let mut more = false;
    for n in order {
        let is_found = |offset: isize| n.checked_add_signed(offset).and_then(|n| found.get(n)).is_some_and(|&is| is);
        if !found[n] && (n % width != edge && is_found(back) || is_found(back * width as isize)) && like(n) {
            found[n] = true;
            more = true;
        }
    }
    more
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Geometry, PixelType};
    use glam::DVec3;

    const SIZE: [usize; 2] = [60, 50];

    /// A ring of 110 to 209 around a disc of `inside`, on a ground of `around`. The pixel at the centre is the darkest.
    fn ring(inside: f32, around: f32) -> Volume {
        let geometry = Geometry::axis_aligned([SIZE[0], SIZE[1], 1], DVec3::ONE, DVec3::ZERO);
        let pixel = |n: usize| match (radius(n), n * 37 % 100) {
            (0.0, _) => 100.0,
            (0.0..8.0, _) => inside,
            (8.0..20.0, tone) => 110.0 + tone as f32,
            _ => around,
        };
        Volume { geometry, voxels: (0..geometry.voxels()).map(pixel).collect(), pixel: PixelType::F32 }
    }

    fn radius(n: usize) -> f32 {
        ((n % SIZE[0]) as f32 - 30.0).hypot((n / SIZE[0]) as f32 - 25.0)
    }

    /// Asserts that the foreground, but for the darkest pixel, is a disc.
    fn assert_disc(foreground: &[bool], size: f32) {
        assert!((0..foreground.len()).all(|n| radius(n) == 0.0 || foreground[n] == (radius(n) < size)));
    }

    #[test]
    fn a_ground_is_left_out_whether_it_is_dark_or_bright() {
        for around in [0.0, 255.0] {
            for inside in [150.0, 255.0] {
                assert_disc(&foreground_mask(&ring(inside, around), None), 20.0);
            }
        }
    }

    #[test]
    fn a_grey_ground_is_left_out() {
        let foreground = foreground_mask(&ring(20.0, 60.0), None);
        let is_ring = |n: usize| radius(n) == 0.0 || (8.0..20.0).contains(&radius(n));
        assert!((0..foreground.len()).all(|n| foreground[n] == is_ring(n)));
    }

    #[test]
    fn the_light_behind_a_slide_is_image() {
        let light = ring(150.0, 250.0);
        let light = light.with(|n| light.voxels[n] + if radius(n) < 20.0 { 0.0 } else { (n % 3) as f32 });
        assert_disc(&foreground_mask(&light, None), f32::INFINITY);
    }

    #[test]
    fn a_surround_begins_in_a_corner_of_what_counts() {
        let picture = ring(150.0, 255.0);
        let mask = picture.with(|n| f32::from(u8::from(radius(n) < 24.0 || n % 60 >= 30 && n / 60 >= 25)));
        assert_disc(&foreground_mask(&picture, Some(&mask)), 20.0);
        let without_corners = picture.with(|n| f32::from(u8::from(radius(n) < 24.0)));
        assert_disc(&foreground_mask(&picture, Some(&without_corners)), 24.0);
    }

    #[test]
    fn bright_corners_of_volumes_are_image() {
        let mut volume = ring(150.0, 255.0);
        volume.geometry.size = [60, 25, 2];
        assert_disc(&foreground_mask(&volume, None), f32::INFINITY);
    }
}
