//! Checks whether two images agree better where they were placed than at poses around.
//!
//! The background of an image, such as the black around a retina, can agree so well that it outweighs the rest. So only
//! what is foreground in both images is compared: at the pose that was found, and at poses around it, which are shifted
//! and in 2-D also rotated. It is compared by intensity and by local contrast, from which a lamp's shading has been
//! removed.

use super::binned::{BINS, Ranged, Table, bins};
use super::mirror::mirrored;
use crate::error::Setting;
use crate::image::Prepared;
use crate::metric::{self, NO_INFORMATION};
use crate::plane::canvas::Canvas;
use crate::plane::local_contrast::{LocalContrast, longer_side, neighbourhood};
use crate::plane::normalise::{self, REACH};
use crate::transform::{Kind, nearest_linear};
use crate::{Error, Geometry, Result, Volume};
use glam::{DAffine3, DMat3, DVec3};
use rayon::prelude::*;
use serde::Serialize;
use std::borrow::Cow;
use std::f64::consts::TAU;
use std::ops::Range;

/// The most pixels along the longer side of 2-D images, and the most voxels along the longest side of volumes.
const SIDE: f64 = 250.0;
const SIDE_IN_SPACE: f64 = 64.0;
/// How far the poses around are shifted, as fractions of the moving image's longest side; the fewest voxels of a shift;
/// and how many shifts of each length there are in 2-D.
const SHIFTS: [f64; 3] = [0.04, 0.08, 0.12];
const FEWEST: f64 = 2.5;
const DIRECTIONS: usize = 8;
/// In 2-D the poses around are also rotated, by multiples of this fraction of a full turn.
const TURNS: u32 = 8;
/// How many times wider the neighbourhoods of wide local contrast are. PET and SPECT are too blurred to show anything
/// in small ones.
const WIDE: f64 = 3.0;
/// The rim that is left out of local contrast, as a multiple of the one that is left out of every image. Neighbourhoods
/// beyond it lie wholly in the foreground.
const WHOLE: f64 = 4.0;

/// Local contrast agrees if its mutual information is this many times that of the best pose around.
pub const CONTRAST_LEAD: f64 = 3.5;
/// The moving image is mirrored if mirroring it increases the mutual information of local contrast by this factor.
const MIRRORED: f64 = 1.5;

/// How much better two images agree where they were placed than at poses around: the ratio of the mutual information
/// there to that at the best pose around. Mutual information is that of what is foreground in both images, beyond
/// chance.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Place {
    /// Of local contrast.
    pub contrast: f64,
    /// Of local contrast in neighbourhoods three times as wide; 2-D images only.
    pub wide_contrast: Option<f64>,
    /// Of intensities.
    pub intensities: f64,
    /// The mutual information of local contrast where the images were placed, nats beyond chance.
    pub information: f64,
    /// The factor by which mirroring the moving image increases the mutual information of local contrast; `None` unless
    /// it is 1.5 or more and local contrast then agrees better than at poses around.
    pub mirrored: Option<f64>,
}

impl Place {
    /// The value for images whose foregrounds do not overlap.
    pub(crate) const NOWHERE: Self =
        Self { contrast: 0.0, wide_contrast: None, intensities: 0.0, information: 0.0, mirrored: None };

    /// Compares two images at a map of fixed points to moving points, LPS mm. Returns `None` if too little of them is
    /// foreground.
    ///
    /// # Errors
    /// [`Error::Stopped`]
    pub fn of(images: &[Prepared; 2], to: &DAffine3) -> Result<Option<Self>> {
        Foregrounds::of(images.each_ref(), [&[], &[]])?.map(|foregrounds| foregrounds.place(to)).transpose()
    }
}

/// The foreground of two images, by every measure that is compared.
pub struct Foregrounds {
    local_contrast: Pair,
    wide_contrast: Option<Pair>,
    intensities: Pair,
    /// The longest side of the moving image, mm.
    side: f64,
}

/// The fixed and the moving image.
struct Pair([Ranged; 2]);

/// The mutual information of two images, nats beyond chance.
struct PoseInformation {
    /// Where they were placed.
    here: f64,
    /// The largest at the poses around.
    around: f64,
}

impl PoseInformation {
    fn lead(&self) -> f64 {
        self.here.max(0.0) / self.around.max(NO_INFORMATION)
    }
}

impl Foregrounds {
    /// Finds the foreground of two images; `None` if there is too little. Levels of their pyramids, if given, save
    /// time.
    ///
    /// # Errors
    /// [`Error::Stopped`]
    pub fn of([fixed, moving]: [&Prepared; 2], [a, b]: [&[Cow<Volume>]; 2]) -> Result<Option<Self>> {
        match rayon::join(|| foreground(Setting::Fixed, fixed, a), || foreground(Setting::Moving, moving, b)) {
            (Ok(fixed_foreground), Ok(moving_foreground)) => {
                let side = longer_side(&moving.image.geometry);
                let wide_contrast =
                    fixed_foreground.wide_contrast.zip(moving_foreground.wide_contrast).map(|(a, b)| Pair([a, b]));
                let local_contrast = Pair([fixed_foreground.local_contrast, moving_foreground.local_contrast]);
                let intensities = Pair([fixed_foreground.intensities, moving_foreground.intensities]);
                Ok(Some(Self { local_contrast, wide_contrast, intensities, side }))
            }
            (Err(Error::Option { .. }), _) | (_, Err(Error::Option { .. })) => Ok(None),
            (Err(error), _) | (_, Err(error)) => Err(error),
        }
    }

    /// Compares the images at a map of fixed points to moving points, LPS mm, with the poses around.
    ///
    /// # Errors
    /// [`Error::Stopped`]
    pub fn place(&self, to: &DAffine3) -> Result<Place> {
        let pose_information = |pair: &Pair| pair.pose_information(to, self.side);
        let wide = || self.wide_contrast.as_ref().map(pose_information);
        let others = || rayon::join(wide, || pose_information(&self.intensities));
        let all = || rayon::join(|| pose_information(&self.local_contrast), others);
        let ((contrast, (wide, intensities)), mirrored) = rayon::join(all, || self.mirrored_factor(to));
        Ok(Place {
            contrast: contrast.lead(),
            wide_contrast: wide.as_ref().map(PoseInformation::lead),
            intensities: intensities.lead(),
            information: contrast.here,
            mirrored: mirrored?,
        })
    }

    /// Lowers the ratios of `place`, which were found at `to`, as if the map `rival` were one more of the poses around.
    pub fn including_rival(&self, place: Place, to: &DAffine3, rival: &DAffine3) -> Place {
        let lead = |pair: &Pair| PoseInformation { here: pair.here(to), around: pair.here(rival) }.lead();
        let wide = place.wide_contrast.zip(self.wide_contrast.as_ref());
        Place {
            contrast: place.contrast.min(lead(&self.local_contrast)),
            wide_contrast: wide.map(|(around, pair)| around.min(lead(pair))),
            intensities: place.intensities.min(lead(&self.intensities)),
            ..place
        }
    }

    /// Returns the mutual information of local contrast at a map of fixed points to moving points, LPS mm: nats beyond
    /// chance.
    pub fn here(&self, to: &DAffine3) -> f64 {
        self.local_contrast.here(to)
    }

    /// Returns the mutual information of the fixed image's local contrast and that of another moving image, at the
    /// identity: nats beyond chance, 0 if too little of the moving image is foreground.
    ///
    /// # Errors
    /// [`Error::Stopped`]
    pub fn information(&self, moving: &Prepared) -> Result<f64> {
        let Pair([fixed, _]) = &self.local_contrast;
        match foreground(Setting::Moving, moving, &[]) {
            Ok(moving) => Ok(Pair([fixed.clone(), moving.local_contrast]).here(&DAffine3::IDENTITY)),
            Err(Error::Option { .. }) => Ok(0.0),
            Err(error) => Err(error),
        }
    }

    /// Returns the transform of a kind that is nearest to `map`, of fixed points to moving points, LPS mm, over the
    /// fixed image's foreground; `None` if that is too small.
    pub fn nearest(&self, kind: Kind, map: impl Fn(DVec3) -> DVec3) -> Option<DAffine3> {
        let pairs: Vec<_> = self.points().map(|point| (point, map(point))).collect();
        nearest_linear(kind, &pairs, self.image().geometry.is_flat())
    }

    /// Returns the local contrast of both images as it is compared, NaN in the background.
    pub fn local_contrast(&self) -> [&Volume; 2] {
        let Pair([(fixed, _), (moving, _)]) = &self.local_contrast;
        [fixed, moving]
    }

    /// Returns the shifts of the poses around the identity, voxels.
    pub fn around(&self) -> Vec<[isize; 3]> {
        let [fixed, _] = self.local_contrast();
        shifts(&fixed.geometry, &DAffine3::IDENTITY, self.side)
    }

    /// Returns the fixed image as it is compared, NaN in the background.
    pub fn image(&self) -> &Volume {
        let Pair([(fixed, _), _]) = &self.intensities;
        fixed
    }

    /// Iterates over the foreground voxels of [`Foregrounds::image`].
    pub fn voxels(&self) -> impl Iterator<Item = usize> {
        let voxels = &self.image().voxels;
        (0..voxels.len()).filter(|&n| !voxels[n].is_nan())
    }

    /// Iterates over the foreground voxels of [`Foregrounds::image`] as points, LPS mm.
    pub fn points(&self) -> impl Iterator<Item = DVec3> {
        let grid = &self.image().geometry;
        let to_world = grid.index_to_world();
        self.voxels().map(move |n| to_world.transform_point3(grid.index_of(n).map(|i| i as f64).into()))
    }

    fn mirrored_factor(&self, to: &DAffine3) -> Result<Option<f64>> {
        let (map, times) = mirrored(&self.intensities.0, &self.local_contrast.0, to, MIRRORED)?;
        let better = times >= MIRRORED && self.local_contrast.pose_information(&map, self.side).lead() >= CONTRAST_LEAD;
        Ok(better.then_some(times))
    }
}

/// The foreground of one image.
struct Foreground {
    local_contrast: Ranged,
    wide_contrast: Option<Ranged>,
    intensities: Ranged,
}

fn foreground(which: Setting, picture: &Prepared, levels: &[Cow<Volume>]) -> Result<Foreground> {
    let flat = picture.image.geometry.is_flat();
    let (contrast, image) = LocalContrast::of(which, picture, levels, if flat { SIDE } else { SIDE_IN_SPACE })?;
    let mm = neighbourhood(&picture.image.geometry);
    let only = |image: Volume, keep: &[bool]| image.only(|n| keep[n]);
    let wide = || normalise::locally(&image, &contrast.foreground, WIDE * mm, which);
    let wide = flat.then(wide).transpose()?.map(|wide| (only(wide, &contrast.foreground), (-REACH, REACH)));
    // Near the rim a neighbourhood is one-sided, so that shading remains.
    let whole = normalise::without_rim(&image, &contrast.foreground, WHOLE * mm)?;
    let intensities = (only(image, &contrast.foreground), picture.intensities.range);
    Ok(Foreground {
        local_contrast: (only(contrast.picture, &whole), (-REACH, REACH)),
        wide_contrast: wide,
        intensities,
    })
}

impl Pair {
    /// Resamples the moving image through a map onto the grid of the fixed one and `margin` voxels more on each side.
    /// Returns its bins and the canvas.
    fn laid(&self, map: &DAffine3, margin: usize) -> (Vec<u8>, Canvas) {
        let Self([(fixed, _), (moving, range)]) = self;
        let canvas = Canvas::new(moving, &fixed.geometry, map, margin);
        (bins(&canvas.voxels, *range), canvas)
    }

    /// Returns the fixed image's foreground, positioned on such a canvas.
    fn runs(&self, canvas: &Canvas) -> Runs {
        let Self([(fixed, range), _]) = self;
        let grid = &fixed.geometry;
        let at = |n: usize| canvas.index(grid.index_of(n).map(|i| i as isize));
        Runs::new(bins(&fixed.voxels, *range), grid.size[0], at)
    }

    /// Returns the mutual information at `to` alone, nats beyond chance.
    fn here(&self, to: &DAffine3) -> f64 {
        let (moving, canvas) = self.laid(to, 0);
        self.runs(&canvas).information(&moving, 0)
    }

    /// Compares the images at `to` and at the poses around it. `side` is the longest side of the moving image, mm.
    fn pose_information(&self, to: &DAffine3, side: f64) -> PoseInformation {
        let Self([(fixed, _), _]) = self;
        let grid = &fixed.geometry;
        let shifts = shifts(grid, to, side);
        let margin = shifts.iter().flatten().map(|n| n.unsigned_abs()).max().unwrap_or(0);
        let lay = |map: &DAffine3| self.laid(map, margin);
        let (here, canvas) = lay(to);
        let fixed = self.runs(&canvas);
        let information = |moving: &[u8], shift| fixed.information(moving, canvas.index(shift) - canvas.index([0; 3]));
        let most = |moving: &[u8], shifts: &[[isize; 3]]| {
            shifts.par_iter().map(|shift| information(moving, *shift)).reduce(|| f64::NEG_INFINITY, f64::max)
        };
        let places = [&[[0; 3]], &*shifts].concat();
        let turned = |map: &DAffine3| most(&lay(map).0, &places);
        let turns = if grid.is_flat() { turns(to, fixed.middle(&here, grid)) } else { Vec::new() };
        let most_turned = turns.par_iter().map(turned).reduce(|| f64::NEG_INFINITY, f64::max);
        PoseInformation { here: information(&here, [0; 3]), around: most(&here, &shifts).max(most_turned) }
    }
}

/// Returns the shifts of the poses around `to`, whole voxels of the fixed image.
fn shifts(grid: &Geometry, to: &DAffine3, side: f64) -> Vec<[isize; 3]> {
    let voxels = grid.world_to_index().matrix3 * to.matrix3.inverse();
    let around: Vec<DVec3> = around(grid).into_iter().map(|part| voxels * (side * part)).collect();
    let nearest = around.iter().map(|shift| shift.length()).fold(f64::INFINITY, f64::min);
    around.iter().map(|shift| rounded_to_voxels(*shift * (FEWEST / nearest).max(1.0), grid)).collect()
}

/// Returns the maps that rotate the fixed image about `middle`, LPS mm, before they apply `to`.
fn turns(to: &DAffine3, middle: DVec3) -> Vec<DAffine3> {
    let turned = |n: u32| {
        let (sin, cos) = libm::sincos(TAU * f64::from(n) / f64::from(TURNS));
        let turn = DMat3::from_cols(DVec3::new(cos, sin, 0.0), DVec3::new(-sin, cos, 0.0), DVec3::Z);
        *to * DAffine3::from_mat3_translation(turn, middle - turn * middle)
    };
    (1..TURNS).map(turned).collect()
}

/// Returns the shifts of the poses around as fractions of the longest side. In 2-D, directions of one length lie
/// halfway between those of the one before; in 3-D they are the axes and diagonals of a cube.
fn around(grid: &Geometry) -> Vec<DVec3> {
    let turn = |n: usize, ring: usize| TAU * (n as f64 + 0.5 * ring as f64) / DIRECTIONS as f64;
    let in_plane = |n: usize, ring: usize| {
        let (sin, cos) = libm::sincos(turn(n, ring));
        DVec3::new(cos, sin, 0.0)
    };
    let directions = |ring: usize| match grid.is_flat() {
        true => (0..DIRECTIONS).map(|n| in_plane(n, ring)).collect(),
        false => in_space(),
    };
    SHIFTS.iter().enumerate().flat_map(|(ring, part)| directions(ring).into_iter().map(move |v| v * *part)).collect()
}

/// Returns unit vectors along the axes and the diagonals of a cube.
fn in_space() -> Vec<DVec3> {
    let steps = [-1.0, 0.0, 1.0];
    let all = steps.into_iter().flat_map(|z| steps.into_iter().flat_map(move |y| steps.map(|x| DVec3::new(x, y, z))));
    all.filter(|v| matches!(v.length_squared(), 1.0 | 3.0)).map(DVec3::normalize).collect()
}

/// Rounds a shift to whole voxels, and limits it to the longest side of the grid.
fn rounded_to_voxels(voxels: DVec3, grid: &Geometry) -> [isize; 3] {
    let most = grid.size.into_iter().max().unwrap_or(0) as f64;
    voxels.to_array().map(|n| n.round().clamp(-most, most) as isize)
}

/// Foreground voxels of the fixed image, as runs along its rows.
struct Runs {
    bins: Vec<u8>,
    /// Of each run, where its first voxel lies on the canvas, and the range of its bins.
    runs: Vec<(isize, Range<usize>)>,
}

impl Runs {
    /// Finds the runs of bins of all voxels; `place` returns where a voxel lies on the canvas.
    fn new(bins: Vec<u8>, width: usize, place: impl Fn(usize) -> isize) -> Self {
        let is_image = |n: usize| usize::from(bins[n]) < BINS;
        let mut runs: Vec<(isize, Range<usize>)> = Vec::new();
        for n in (0..bins.len()).filter(|&n| is_image(n)) {
            match runs.last_mut() {
                Some((_, run)) if run.end == n && n % width > 0 => run.end += 1,
                _ => runs.push((place(n), n..n + 1)),
            }
        }
        Self { bins, runs }
    }

    /// Returns the centre, LPS mm, of the voxels that are foreground in the moving image, too.
    fn middle(&self, moving: &[u8], grid: &Geometry) -> DVec3 {
        let voxel = |n: usize| DVec3::from(grid.index_of(n).map(|i| i as f64));
        let is_image = |(at, _): &(isize, usize)| usize::from(moving[*at as usize]) < BINS;
        let all = self.runs.iter().flat_map(|(at, run)| (*at..).zip(run.clone())).filter(is_image);
        let (sum, count) = all.fold((DVec3::ZERO, 0), |(sum, count), (_, n)| (sum + voxel(n), count + 1));
        grid.index_to_world().transform_point3(sum / f64::from(count.max(1)))
    }

    /// Returns the mutual information with the moving image's bins at an offset of `away` on the canvas, nats beyond
    /// chance.
    fn information(&self, moving: &[u8], away: isize) -> f64 {
        let mut table = Table::new();
        for (at, run) in &self.runs {
            table.count(&self.bins[run.clone()], &moving[(at + away) as usize..][..run.len()]);
        }
        metric::information(&table.counts(), BINS)
    }
}
