//! Searches for how one picture lies on another: among all shifts, rotations and magnifications on small grids, then
//! among the best of these on larger ones.

use super::canvas::Canvas;
use super::local_contrast::{LocalContrast, longer_side};
use super::tones::{Information, Tones, limits};
use crate::threads::{check_stopped, should_continue};
use crate::transform::{Kind, distance, plane};
use crate::{Geometry, Result, Volume};
use glam::{DAffine3, DMat3, DVec3};
use rayon::prelude::*;
use std::cmp::Ordering;
use std::ops::RangeInclusive;

/// Pixels along the longer side of the picture that shows more, when all poses are compared: for local contrast, and
/// for wide local contrast, which shows nothing as small.
pub const SMALL: f64 = 64.0;
pub const SMALL_IF_WIDE: f64 = 32.0;
/// The step of rotations, degrees, and the factor between magnifications. A pose between two steps is off by up to
/// about a pixel and a half at the border.
const TURNED: f64 = 5.0;
const MAGNIFIED: f64 = 1.1;
/// Steps of magnification around that which makes the longer sides equal: from a half to twice; and for details, which
/// fill one picture, to a quarter or four times.
pub const ALIKE: RangeInclusive<i32> = -7..=7;
pub const FIXED_DETAIL: RangeInclusive<i32> = -14..=-8;
pub const MOVING_DETAIL: RangeInclusive<i32> = 8..=14;
/// The fraction of the smaller foreground that must lie on the other one. Shifts are tried by one pixel, as far as they
/// leave this fraction of the longer sides in common.
const OVERLAP: f64 = 0.2;
/// The best shifts that are kept per rotation and magnification, and the poses that are returned. Of those that are
/// refined or returned, no two are closer than this fraction of the longer side.
const SHIFTS: usize = 3;
const FOUND: usize = 8;
const APART: f64 = 0.03;
/// How many times more pixels there are along the longer side when poses are refined.
pub const LARGER: f64 = 2.0;
/// How many poses are refined, first roughly and then finely, and the rounds of that. Many are refined roughly, because
/// the right pose may lie between two steps, and score less at either of these than many wrong ones.
const REFINED: [(usize, &[Round]); 2] = [(200, &[(0.5, 3)]), (24, &[(0.5, 2), (0.25, 2), (0.25, 2)])];
/// How many times more pixels there are at most in the pictures from which all smaller ones are made.
const LARGEST: f64 = 4.0 * LARGER;

/// A round of refinement: by this fraction of the steps, and by shifts of up to so many pixels.
type Round = (f64, usize);

/// A rotation, radians, and a magnification, mm of the moving picture per mm of the fixed one.
#[derive(Clone, Copy)]
struct Pose {
    angle: f64,
    size: f64,
}

/// A pose at a certain shift, and its score.
#[derive(Clone, Copy)]
struct Candidate {
    pose: Pose,
    /// Maps fixed points to moving points, LPS mm.
    map: DAffine3,
    /// The mutual information there times the pixels that it is of, nats beyond chance.
    score: f64,
}

/// Searches for the maps of fixed points to moving points, LPS mm, at which the tones of both pictures have the most
/// mutual information. Returns them best first; none for pictures that are too small.
///
/// All rotations are tried if `kind` has a rotation, and if it has a scale, `magnifications`, such as [`ALIKE`]: on grids
/// of `small` pixels along the longer side, such as [`SMALL`].
///
/// # Errors
/// [`Error::Stopped`](crate::Error::Stopped)
pub fn search(
    pictures: &[LocalContrast; 2],
    kind: Kind,
    magnifications: RangeInclusive<i32>,
    small: f64,
) -> Result<Vec<DAffine3>> {
    let cropped = without_margins(pictures);
    let pictures = cropped.as_ref().unwrap_or(pictures);
    let pictures = &pictures
        .each_ref()
        .map(|contrast| contrast.thinned(longer_side(&contrast.picture.geometry) / (LARGEST * small)));
    let larger = LARGER * small;
    let information = &Information::new((4.0 * larger * larger) as usize);
    let grids = pictures.each_ref().map(|contrast| contrast.picture.geometry);
    let mut found = everywhere(pictures, kind, magnifications, (small, information));
    for (most, rounds) in REFINED {
        let refinement = Refinement { rounds, kind, pixels: larger, information };
        found = refinement.of_all(distinct(found, most, &grids), pictures);
    }
    check_stopped()?;
    Ok(distinct(found, FOUND, &grids).into_iter().map(|candidate| candidate.map).collect())
}

/// Crops both pictures to their foregrounds if that makes either of them smaller by more than a step of magnification;
/// `None` if it does not. Wide margins say nothing about how large one image is in the other.
fn without_margins(pictures: &[LocalContrast; 2]) -> Option<[LocalContrast; 2]> {
    let side = |contrast: &LocalContrast| longer_side(&contrast.picture.geometry);
    let inside = pictures.each_ref().map(LocalContrast::cropped);
    let is_wide = |n: usize| side(&pictures[n]) > MAGNIFIED * side(&inside[n]);
    (is_wide(0) || is_wide(1)).then_some(inside)
}

/// Returns the best shifts of all rotations and magnifications.
fn everywhere(
    pictures: &[LocalContrast; 2],
    kind: Kind,
    magnifications: RangeInclusive<i32>,
    (pixels, information): (f64, &Information),
) -> Vec<Candidate> {
    let [fixed, moving] = pictures.each_ref().map(|contrast| contrast.picture.geometry);
    let same = longer_side(&moving) / longer_side(&fixed);
    let sizes: Vec<f64> = match kind {
        Kind::Translation | Kind::Rigid => vec![1.0],
        _ => magnifications.map(|n| same * libm::pow(MAGNIFIED, f64::from(n))).collect(),
    };
    let turns = if kind == Kind::Translation { 1 } else { (360.0 / TURNED) as u32 };
    let at_size = |size: f64| {
        let view = View::new(pictures, size, pixels);
        let ratio = same / size;
        let window = (pixels * (0.5 + (0.5 - OVERLAP) * ratio.min(1.0 / ratio))).round() as usize;
        let pose = move |n: u32| Pose { angle: (f64::from(n) * TURNED).to_radians(), size };
        let at_turn = move |n| {
            let best = |view: &View| view.best(pose(n), [fixed.centre(), moving.centre()], window, information);
            view.as_ref().filter(|_| should_continue()).map_or(Vec::new(), best)
        };
        (0..turns).into_par_iter().flat_map_iter(at_turn)
    };
    sizes.into_par_iter().flat_map(at_size).collect()
}

/// How poses are refined.
struct Refinement<'a> {
    rounds: &'a [Round],
    kind: Kind,
    /// Pixels along the longer side.
    pixels: f64,
    information: &'a Information,
}

impl Refinement<'_> {
    /// Returns the best poses near candidates.
    fn of_all(&self, candidates: Vec<Candidate>, pictures: &[LocalContrast; 2]) -> Vec<Candidate> {
        let mut sizes: Vec<f64> = candidates.iter().map(|candidate| candidate.pose.size).collect();
        sizes.sort_by(f64::total_cmp);
        sizes.dedup();
        let views: Vec<_> = sizes.into_par_iter().filter_map(|size| View::new(pictures, size, self.pixels)).collect();
        let refined = |candidate: Candidate| {
            let view = views.iter().find(|view| view.size == candidate.pose.size)?;
            self.of(candidate, view)
        };
        candidates.into_par_iter().take_any_while(|_| should_continue()).filter_map(refined).collect()
    }

    /// Returns the best pose near a candidate.
    fn of(&self, candidate: Candidate, view: &View) -> Option<Candidate> {
        let mut best = Candidate { score: 0.0, ..candidate };
        let middle = view.grid.centre();
        let steps = |has: bool| if has { -1..=1 } else { 0..=0 };
        for &(part, window) in self.rounds {
            let (Pose { angle, size }, to) = (best.pose, best.map.transform_point3(middle));
            let sizes = steps(self.kind > Kind::Rigid);
            for (m, n) in sizes.flat_map(|m| steps(self.kind > Kind::Translation).map(move |n| (m, n))) {
                let [m, n] = [m, n].map(|n| part * f64::from(n));
                let pose = Pose { angle: angle + (n * TURNED).to_radians(), size: size * libm::pow(MAGNIFIED, m) };
                let found = view.best(pose, [middle, to], window, self.information);
                best = found.into_iter().fold(best, |a, b| if b.score > a.score { b } else { a });
            }
        }
        (best.score > 0.0).then_some(best)
    }
}

/// Returns the best candidates, `most` at most, without those close to a better one.
fn distinct(mut candidates: Vec<Candidate>, most: usize, [fixed, moving]: &[Geometry; 2]) -> Vec<Candidate> {
    candidates.sort_by(best_first);
    let apart = APART * longer_side(moving);
    let mut kept: Vec<Candidate> = Vec::new();
    for candidate in candidates {
        if kept.iter().all(|other| distance(&other.map, &candidate.map, fixed) > apart) {
            kept.push(candidate);
        }
        if kept.len() == most {
            break;
        }
    }
    kept
}

fn best_first(a: &Candidate, b: &Candidate) -> Ordering {
    b.score.total_cmp(&a.score)
}

/// Two pictures on grids with pixels of about one size when the moving one is magnified by `size`.
struct View {
    size: f64,
    fixed: Tones,
    grid: Geometry,
    /// NaN in the background.
    moving: Volume,
    /// The limits of its middle tone.
    limits: [f32; 2],
    /// Pixels that must be foreground in both.
    least: u32,
}

impl View {
    /// Reduces both so that the longer side of the picture that shows more has `pixels` pixels. Returns `None` if
    /// either has no foreground.
    fn new([fixed, moving]: &[LocalContrast; 2], size: f64, pixels: f64) -> Option<Self> {
        let sides = [fixed, moving].map(|contrast| longer_side(&contrast.picture.geometry));
        let mm = sides[0].max(sides[1] / size) / pixels;
        let [fixed, moving] = [fixed.thinned(mm), moving.thinned(mm * size)].map(LocalContrast::nan_outside);
        let image =
            |picture: &Volume| -> Vec<f32> { picture.voxels.iter().copied().filter(|pixel| !pixel.is_nan()).collect() };
        let (these, those) = (image(&fixed), image(&moving));
        let grid = fixed.geometry;
        let area = |grid: &Geometry| grid.spacing.x * grid.spacing.y;
        let shown = those.len() as f64 * area(&moving.geometry) / (area(&grid) * size * size);
        let least = (OVERLAP * shown.min(these.len() as f64)) as u32;
        let fixed = Tones::new(&fixed.voxels, grid.size[0], limits(these)?);
        Some(Self { size, fixed, grid, limits: limits(those)?, moving, least })
    }

    /// Returns the best shifts of a pose, by up to `window` pixels along each axis from where it takes the point `from`
    /// to `to`.
    fn best(&self, pose: Pose, [from, to]: [DVec3; 2], window: usize, information: &Information) -> Vec<Candidate> {
        let matrix = plane(pose.angle) * DMat3::from_diagonal(DVec3::new(pose.size, pose.size, 1.0));
        let map = DAffine3::from_mat3_translation(matrix, to - matrix * from);
        let side = 2 * window + 1;
        let scores = self.scores(&map, window, information);
        let pixels = self.grid.index_to_world().matrix3;
        let candidate = |(place, score): (usize, f64)| {
            let [x, y] = [place / side, place % side].map(|n| n as f64 - window as f64);
            let shift = pixels * DVec3::new(x, y, 0.0);
            Candidate { pose, map: map * DAffine3::from_translation(shift), score }
        };
        highest(&scores, side).into_iter().map(candidate).collect()
    }

    /// Returns the scores at all shifts from a map, those along a column of the fixed picture next to each other.
    fn scores(&self, map: &DAffine3, window: usize, information: &Information) -> Vec<f64> {
        let canvas = Canvas::new(&self.moving, &self.grid, map, window);
        let canvas = Tones::new(&canvas.voxels, canvas.size[0], self.limits);
        let mut scores = Vec::with_capacity((2 * window + 1) * (2 * window + 1));
        for column in 0..=2 * window {
            let part = canvas.columns(column, &self.fixed);
            scores.extend((0..=2 * window).map(|row| {
                let meetings = self.fixed.meetings(&part, row, self.least);
                let found = meetings.map(|meetings| information.of(&meetings));
                found.map_or(0.0, |(score, pixels)| if pixels < self.least { 0.0 } else { score })
            }));
        }
        scores
    }
}

/// Returns the places and scores of the highest ones, `SHIFTS` at most, of a square with `side` scores along either
/// side: those above 0 without a higher neighbour.
fn highest(scores: &[f64], side: usize) -> Vec<(usize, f64)> {
    let near = |n: usize| n.saturating_sub(1)..(n + 2).min(side);
    let is_peak = |place: usize, score: f64| {
        near(place / side).all(|i| near(place % side).all(|j| scores[i * side + j] <= score))
    };
    let mut found: Vec<(usize, f64)> = Vec::new();
    let mut limit = 0.0;
    for (place, &score) in scores.iter().enumerate() {
        if score > limit && is_peak(place, score) {
            found.insert(found.partition_point(|&(_, other)| other >= score), (place, score));
            if found.len() >= SHIFTS {
                found.truncate(SHIFTS);
                limit = found[SHIFTS - 1].1;
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PixelType;
    use crate::error::Setting;
    use crate::plane::local_contrast::neighbourhood;
    use crate::random::uniform;
    use glam::DVec2;

    const SIDE: usize = 200;

    /// A picture of blobs at random, seen through the map `to`.
    fn picture(to: &DAffine3, sign: f32) -> LocalContrast {
        let blob = |n: u64| DVec2::new(uniform(1, 2 * n), uniform(1, 2 * n + 1)) * SIDE as f64;
        let blobs: Vec<DVec2> = (0..80).map(blob).collect();
        let pixel = |n: usize| {
            let place = to.transform_point3(DVec3::new((n % SIDE) as f64, (n / SIDE) as f64, 0.0)).truncate();
            let near = blobs.iter().map(|blob| libm::exp(-blob.distance_squared(place) / 18.0)).sum::<f64>();
            sign * near as f32
        };
        let geometry = Geometry::axis_aligned([SIDE, SIDE, 1], DVec3::ONE, DVec3::ZERO);
        let picture = Volume { geometry, voxels: (0..SIDE * SIDE).map(pixel).collect(), pixel: PixelType::F32 };
        let mask = picture.with(|_| 1.0);
        LocalContrast::new(Setting::Fixed, &picture, Some(&mask), neighbourhood(&geometry)).unwrap()
    }

    /// Returns by how many pixels the search misses a rotation, a magnification and a shift of the centre. The dark
    /// parts of one picture are the bright ones of the other.
    fn off(kind: Kind, degrees: f64, size: f64, shift: DVec3) -> f64 {
        let middle = DVec3::new(99.5, 99.5, 0.0);
        let matrix = plane(degrees.to_radians()) * DMat3::from_diagonal(DVec3::new(size, size, 1.0));
        let truth = DAffine3::from_mat3_translation(matrix, middle + shift - matrix * middle);
        let pictures = [picture(&DAffine3::IDENTITY, 1.0), picture(&truth.inverse(), -1.0)];
        let found = search(&pictures, kind, ALIKE, SMALL).unwrap();
        distance(&found[0], &truth, &pictures[0].picture.geometry)
    }

    #[test]
    fn the_highest_peaks_are_found_in_order() {
        let scores = [
            [5.0, 0.0, 3.0, 0.0, 6.0],
            [0.0, 4.0, 2.0, 0.0, 0.0],
            [0.0, 0.0, 0.0, 0.0, 6.0],
            [-1.0, -2.0, -2.0, 0.0, 5.0],
            [-1.0, -2.0, 1.0, 0.0, 0.0],
        ];
        assert_eq!(highest(scores.as_flattened(), 5), [(4, 6.0), (14, 6.0), (0, 5.0)]);
        assert_eq!(highest(&[-1.0; 25], 5), []);
    }

    #[test]
    fn turns_magnifications_and_shifts_are_found() {
        let similar = off(Kind::Similarity, 133.0, 1.42, DVec3::new(-31.0, 12.0, 0.0));
        assert!(similar < 4.0, "{similar} pixels off");
        let rigid = off(Kind::Rigid, -48.0, 1.0, DVec3::new(20.0, 40.0, 0.0));
        assert!(rigid < 2.0, "{rigid} pixels off");
        let shifted = off(Kind::Translation, 0.0, 1.0, DVec3::new(-50.0, 30.0, 0.0));
        assert!(shifted < 2.0, "{shifted} pixels off");
    }
}
