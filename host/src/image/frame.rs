//! Finds the uniform frame around a 2-D image, such as the margin of a page or a window's border.
//!
//! Two frames match each other better than the images inside. They are left out, as if there were no data.

use super::Volume;
use crate::random::scattered;
use std::ops::Range;

/// Pixels have the colour of a frame if they differ from it by at most this fraction of the image's range. Compression
/// changes them by about as much.
const ALIKE: f32 = 0.02;
/// Pixels are certainly not of a frame if they differ by more than this fraction of the range. Shading that is a square
/// function of the distance, and reaches [`ALIKE`] in as many lines as a frame has, reaches less in twice as many.
const UNLIKE: f32 = 0.1;
/// The fraction of a frame's pixels that have its colour. The others may be lettering.
const UNIFORM: f64 = 0.95;
/// The fraction of the image's pixels along a frame that do not have its colour. Around an ellipse on a dark ground there
/// are fewer.
const EDGE: f64 = 0.5;
/// The most lines between a frame and the image in which compression or interpolation mixes both, and their largest
/// fraction of the image's side. An ellipse is as wide as [`EDGE`] of its axis only further inside.
const MIXED: usize = 8;
const MIXED_PART: usize = 16;
/// The fewest pixels along each side of the image inside a frame.
const LEAST: usize = 16;
/// The number of pixels from which the range is determined, and the fraction left out at either end of it.
const SAMPLES: usize = 1 << 14;
const TAIL: f64 = 0.001;

/// The part of a 2-D image in a rectangle: columns and rows.
type Area = [Range<usize>; 2];

/// Returns an image with NaN in its frame, and the number of pixels in the frame; `None` for an image without a frame,
/// for one that is constant or small inside its frame, and for a volume.
pub fn without_frame(image: &Volume) -> Option<(Volume, u64)> {
    if !image.geometry.is_flat() {
        return None;
    }
    let [width, height, _] = image.geometry.size;
    let picture = Picture { pixels: &image.voxels, width, range: range(&image.voxels)? };
    let whole = [0..width, 0..height];
    let mut area = picture.inside(&whole)?;
    while let Some(inner) = picture.inside(&area) {
        area = inner;
    }
    let counts = |n: usize| area[0].contains(&(n % width)) && area[1].contains(&(n / width));
    let kept = image.only(counts);
    let framed = width * height - area[0].len() * area[1].len();
    (area.iter().all(|side| side.len() >= LEAST) && range(&kept.voxels).is_some()).then_some((kept, framed as u64))
}

/// Returns the columns and rows between the first and the last pixels that count; `None` if none do.
pub fn extent([width, height]: [usize; 2], counts: impl Fn(usize) -> bool) -> Option<Area> {
    let counted = (0..width * height).filter(|&n| counts(n));
    let hull = |hull: Option<Area>, n: usize| {
        let at = [n % width, n / width];
        let [x, y] = hull.unwrap_or(at.map(|at| at..at + 1));
        Some([x.start.min(at[0])..x.end.max(at[0] + 1), y.start.min(at[1])..y.end.max(at[1] + 1)])
    };
    counted.fold(None, hull)
}

/// The width of the range of pixels without its tails; `None` if there is none.
fn range(pixels: &[f32]) -> Option<f32> {
    let looked_at = scattered(SAMPLES, pixels.len()).map(|n| pixels[n]);
    let mut sorted: Vec<f32> = looked_at.filter(|pixel| !pixel.is_nan()).collect();
    sorted.sort_unstable_by(f32::total_cmp);
    let tail = (TAIL * sorted.len() as f64) as usize;
    let width = sorted.get(sorted.len().checked_sub(tail + 1)?)? - sorted[tail];
    (width > 0.0).then_some(width)
}

/// The pixels of a 2-D image, and the width of their range.
struct Picture<'a> {
    pixels: &'a [f32],
    width: usize,
    range: f32,
}

/// One side of an area: the first or the last lines across an axis.
#[derive(Clone, Copy)]
struct Side {
    axis: usize,
    last: bool,
}

const SIDES: [Side; 4] = [
    Side { axis: 0, last: false },
    Side { axis: 0, last: true },
    Side { axis: 1, last: false },
    Side { axis: 1, last: true },
];

impl Side {
    /// Takes lines off an area.
    fn cut(self, area: &mut Area, lines: usize) {
        let along = &mut area[self.axis];
        let lines = lines.min(along.len());
        if self.last { along.end -= lines } else { along.start += lines }
    }
}

/// Returns an area without the bands along its sides; `None` if nothing is left.
fn without(bands: &[(f32, usize); 4], area: &Area) -> Option<Area> {
    let mut within = area.clone();
    SIDES.iter().zip(bands).for_each(|(side, &(_, lines))| side.cut(&mut within, lines));
    (!within.iter().any(Range::is_empty)).then_some(within)
}

impl Picture<'_> {
    /// Returns the part of `area` inside the frames along its sides; `None` if there are none.
    fn inside(&self, area: &Area) -> Option<Area> {
        let bands = SIDES.map(|side| self.band(side, area));
        let roughly = without(&bands, area)?;
        // The tip of an ellipse takes no more of a long line than lettering may, but more of the part next to it.
        let strip =
            |side: Side| [0, 1].map(|axis| if axis == side.axis { &area[axis] } else { &roughly[axis] }.clone());
        let narrow = SIDES.map(|side| self.band(side, &strip(side)));
        let bands = [0, 1, 2, 3].map(|n| if narrow[n].1 < bands[n].1 { narrow[n] } else { bands[n] });
        let within = without(&bands, area)?;
        let mut inside = area.clone();
        for (side, (colour, lines)) in SIDES.into_iter().zip(bands) {
            let differs = |n: &usize| self.share(side, &within, *n, |pixel| self.differ(pixel, colour, UNLIKE)) > EDGE;
            let most = lines.min(MIXED).min(within[side.axis].len() / MIXED_PART);
            if let Some(mixed) = (0..most).find(differs) {
                // The line that differs may itself be mixed.
                side.cut(&mut inside, lines + mixed + 1);
            }
        }
        (inside != *area && !inside.iter().any(Range::is_empty)).then_some(inside)
    }

    /// Returns the colour of an area's outermost line on a side, and how many lines from there are of that colour.
    fn band(&self, side: Side, area: &Area) -> (f32, usize) {
        let mut line: Vec<f32> = self.line(side, area, 0).collect();
        let middle = line.len() / 2;
        let colour = *line.select_nth_unstable_by(middle, f32::total_cmp).1;
        let alike = |n: &usize| self.share(side, area, *n, |pixel| !self.differ(pixel, colour, ALIKE)) >= UNIFORM;
        (colour, (0..area[side.axis].len()).take_while(alike).count())
    }

    /// Whether a pixel differs from a colour by more than this part of the range. Pixels without data differ from all.
    fn differ(&self, pixel: f32, colour: f32, part: f32) -> bool {
        pixel.is_nan() || (pixel - colour).abs() > part * self.range
    }

    /// The fraction of the pixels of a line that are so; 0 beyond the area.
    fn share(&self, side: Side, area: &Area, n: usize, is: impl Fn(f32) -> bool) -> f64 {
        if n >= area[side.axis].len() {
            return 0.0;
        }
        let count = self.line(side, area, n).filter(|&pixel| is(pixel)).count();
        count as f64 / area[1 - side.axis].len() as f64
    }

    /// The pixels of an area's n-th line from a side.
    fn line(&self, side: Side, area: &Area, n: usize) -> impl Iterator<Item = f32> {
        let along = &area[side.axis];
        let at = if side.last { along.end - 1 - n } else { along.start + n };
        let (pixels, width) = (self.pixels, self.width);
        area[1 - side.axis]
            .clone()
            .map(move |m| if side.axis == 0 { pixels[m * width + at] } else { pixels[at * width + m] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::uniform;
    use crate::{Geometry, PixelType};
    use glam::DVec3;

    const SIZE: [usize; 2] = [120, 90];

    fn picture(pixel: impl Fn(usize, usize) -> f32) -> Volume {
        picture_of(SIZE, pixel)
    }

    fn picture_of([width, height]: [usize; 2], pixel: impl Fn(usize, usize) -> f32) -> Volume {
        let geometry = Geometry::axis_aligned([width, height, 1], DVec3::ONE, DVec3::ZERO);
        let voxels = (0..geometry.voxels()).map(|n| pixel(n % width, n / width)).collect();
        Volume { geometry, voxels, pixel: PixelType::F32 }
    }

    /// Anything from 20 to 180.
    fn texture(x: usize, y: usize) -> f32 {
        20.0 + 160.0 * uniform(1, (x + 1000 * y) as u64) as f32
    }

    /// Small changes, such as compression makes.
    fn small(x: usize, y: usize) -> f32 {
        3.0 * uniform(2, (x + 1000 * y) as u64) as f32
    }

    /// The columns and rows that are left, if there is a frame.
    fn left(picture: &Volume) -> Option<Area> {
        let (kept, framed) = without_frame(picture)?;
        let inside: Vec<usize> = (0..kept.voxels.len()).filter(|&n| !kept.voxels[n].is_nan()).collect();
        assert_eq!(framed as usize, kept.voxels.len() - inside.len());
        assert!(inside.iter().all(|&n| kept.voxels[n] == picture.voxels[n]));
        let (first, last) = (*inside.first()?, *inside.last()?);
        let area =
            [0, 1].map(|axis| [first % SIZE[0], first / SIZE[0]][axis]..[last % SIZE[0], last / SIZE[0]][axis] + 1);
        assert_eq!(inside.len(), area[0].len() * area[1].len());
        Some(area)
    }

    #[test]
    fn frames_are_left_out_with_the_line_next_to_them() {
        let within = |x: usize, y: usize| (20..100).contains(&x) && (12..80).contains(&y);
        for colour in [0.0, 100.0, 250.0] {
            let framed = picture(|x, y| if within(x, y) { texture(x, y) } else { colour + small(x, y) });
            assert_eq!(left(&framed), Some([21..99, 13..79]), "{colour}");
        }
        let bars = picture(|x, y| if y < 10 { 200.0 } else { texture(x, y) });
        assert_eq!(left(&bars), Some([0..120, 11..90]));
        let page = picture(|x, y| {
            if x < 6 || y < 6 {
                0.0
            } else if within(x, y) {
                texture(x, y)
            } else {
                250.0
            }
        });
        assert_eq!(left(&page), Some([21..99, 13..79]));
        let blurred = picture(|x, y| match y {
            0..10 => 250.0,
            10..14 => 250.0 - 5.0 * (y - 10) as f32,
            _ => texture(x, y),
        });
        assert_eq!(left(&blurred), Some([0..120, 15..90]));
    }

    #[test]
    fn a_small_ellipse_has_no_frame() {
        for n in 0..200 {
            let number = |k: u64| uniform(n, k) as f32;
            let (radius, part, (sine, cosine)) = (15.0 + 60.0 * number(0), 0.6 + 0.4 * number(1), number(2).sin_cos());
            let cell = |x: usize, y: usize| {
                let (x, y) = (x as f32 - 120.0 - 160.0 * number(3), y as f32 - 90.0 - 120.0 * number(4));
                (cosine * x + sine * y).hypot((cosine * y - sine * x) / part) < radius
            };
            let picture = picture_of([400, 300], |x, y| if cell(x, y) { 60.0 + texture(x, y) } else { small(x, y) });
            assert!(without_frame(&picture).is_none(), "{n}: {radius} pixels");
        }
    }

    #[test]
    fn a_ground_shading_and_volumes_are_no_frames() {
        let disc = |x: usize, y: usize| (x as f32 - 60.0).hypot(y as f32 - 45.0) < 40.0;
        for colour in [0.0, 250.0] {
            assert_eq!(left(&picture(|x, y| if disc(x, y) { texture(x, y) } else { colour + small(x, y) })), None);
        }
        assert_eq!(left(&picture(texture)), None);
        for power in [1.0, 1.5, 2.0, 2.5] {
            assert_eq!(left(&picture(|_, y| 200.0 * (y as f32 / 90.0).powf(power))), None, "{power}");
        }
        let within = |x: usize, y: usize| (20..100).contains(&x) && (12..80).contains(&y);
        let card = picture(|x, y| if within(x, y) { 50.0 } else { 0.0 });
        assert_eq!(left(&card), None, "what is left would be constant");
        let slit = picture(|x, y| if (50..60).contains(&x) { texture(x, y) } else { 0.0 });
        assert_eq!(left(&slit), None, "too little would be left");
        let mut volume = picture(|x, y| if within(x, y) { texture(x, y) } else { 0.0 });
        assert!(left(&volume).is_some());
        volume.geometry.size = [120, 45, 2];
        assert!(without_frame(&volume).is_none());
    }
}
