//! Whether two pictures agree where they were placed.
//!
//! What surrounds an image, such as the black around a retina, can agree so well that it outweighs what the image shows. So only what is
//! image in both is compared, at the place that was found and at places around it: by the pixels' intensities, and by their contrast, from
//! which a lamp's shading has fallen out.

use crate::backend::{Wanted, cpu};
use crate::error::Setting;
use crate::image::{Prepared, Range};
use crate::metric::chance;
use crate::plane::canvas::Canvas;
use crate::plane::contrast::{self, REACH};
use crate::plane::even::{Even, longer_side, neighbourhood};
use crate::{Error, Result, Volume};
use glam::{DAffine3, DMat3, DVec3};
use serde::Serialize;
use std::f64::consts::TAU;

/// Pixels along the longer side of pictures that are large enough.
const SIDE: f64 = 500.0;
/// Bins per side.
const BINS: usize = 24;
/// How far the places around lie, as parts of the moving picture's longer side, and how many there are at each distance.
const SHIFTS: [f64; 3] = [0.04, 0.08, 0.12];
const DIRECTIONS: usize = 8;
/// The rim that is left out of contrasts, as a multiple of the one that is left out of every picture: neighbourhoods beyond it are whole.
const WHOLE: f64 = 4.0;
/// Mutual information that is as good as none, nats.
const NONE: f64 = 1e-4;

/// How many times as much two pictures tell about each other where they were placed as at the best place around: the mutual
/// information, beyond what chance makes, of what is image in both.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Place {
    /// Of contrasts with their neighbourhood.
    pub contrast: f64,
    /// Of intensities.
    pub intensities: f64,
}

/// What of two pictures is image.
pub struct Insides {
    contrasts: Pair,
    intensities: Pair,
    /// The longer side of the moving picture, mm.
    side: f64,
}

/// Two pictures, NaN where they are not image, and the values of each that are spread over the bins.
struct Pair([(Volume, Range); 2]);

impl Insides {
    /// Of two pictures; none where too little is image.
    ///
    /// # Errors
    /// [`Error::Stopped`]
    pub fn of([fixed, moving]: &[Prepared; 2]) -> Result<Option<Self>> {
        let both = inside(Setting::Fixed, fixed).and_then(|fixed| Ok((fixed, inside(Setting::Moving, moving)?)));
        match both {
            Ok(([a, b], [c, d])) => {
                let side = longer_side(&moving.image.geometry);
                Ok(Some(Self { contrasts: Pair([a, c]), intensities: Pair([b, d]), side }))
            }
            Err(Error::Option { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// How well they agree at a map of points of the fixed picture to points of the moving one, LPS mm.
    pub fn place(&self, to: &DAffine3) -> Place {
        Place { contrast: self.contrasts.lead(to, self.side), intensities: self.intensities.lead(to, self.side) }
    }
}

/// What of a picture is image: its contrasts and its intensities.
fn inside(which: Setting, picture: &Prepared) -> Result<[(Volume, Range); 2]> {
    let (even, image) = Even::of(which, picture, SIDE)?;
    let intensities = image.with(|n| if even.inner[n] { image.voxels[n] } else { f32::NAN });
    // Near the rim a neighbourhood is on one side alone, and shading shows.
    let whole = WHOLE * neighbourhood(&picture.image.geometry);
    let even = Even { inner: contrast::inner(&image, &even.inner, whole)?, ..even };
    Ok([(even.or_nan(), (-REACH, REACH)), (intensities, picture.intensities.range)])
}

impl Pair {
    /// The information at `to` over the most of those at places around, `side` is the longer one of the moving picture.
    fn lead(&self, to: &DAffine3, side: f64) -> f64 {
        let Self([(fixed, range), (moving, moving_range)]) = self;
        let grid = &fixed.geometry;
        let pixels = (grid.index_to_world().matrix3.inverse() * to.matrix3.inverse(), side);
        let around: Vec<[isize; 2]> = around().map(|part| shift(pixels, part)).collect();
        let margin = around.iter().flatten().map(|n| n.unsigned_abs()).max().unwrap_or(0);
        let canvas = Canvas::new(moving, grid, to, margin);
        let (fixed, moving) = (bins(&fixed.voxels, *range), bins(&canvas.pixels, *moving_range));
        let information = |[x, y]: [isize; 2]| {
            let first = (margin as isize + y) * canvas.columns as isize + margin as isize + x;
            information(&fixed, grid.size[0], &moving[first as usize..], canvas.columns)
        };
        let most = around.iter().map(|&shift| information(shift)).fold(NONE, f64::max);
        information([0, 0]).max(0.0) / most
    }
}

/// Where the places around lie from the one that was found, as parts of the longer side; those of each distance lie between those of the one
/// before.
fn around() -> impl Iterator<Item = DVec3> {
    let turn = |n: usize, ring: usize| TAU * (n as f64 + 0.5 * ring as f64) / DIRECTIONS as f64;
    SHIFTS.into_iter().enumerate().flat_map(move |(ring, part)| {
        (0..DIRECTIONS).map(move |n| {
            let (sin, cos) = libm::sincos(turn(n, ring));
            DVec3::new(cos, sin, 0.0) * part
        })
    })
}

/// A part of the longer side of the moving picture in whole pixels of the fixed one, of which there are no more than that.
fn shift((pixels, side): (DMat3, f64), part: DVec3) -> [isize; 2] {
    let DVec3 { x, y, .. } = pixels * (side * part);
    [x, y].map(|n| n.round().clamp(-SIDE, SIDE) as isize)
}

/// The bin of each pixel, [`BINS`] where it is not image.
fn bins(pixels: &[f32], (low, high): Range) -> Vec<u8> {
    let scale = BINS as f32 / (high - low);
    let last = (BINS - 1) as f32;
    let bin = |&pixel: &f32| if pixel.is_nan() { BINS as u8 } else { ((pixel - low) * scale).clamp(0.0, last) as u8 };
    pixels.iter().map(bin).collect()
}

/// The mutual information of rows of bins beyond what chance makes, nats. `columns` are those of the first picture, `stride` is from one row
/// of the other to the next.
fn information(fixed: &[u8], columns: usize, moving: &[u8], stride: usize) -> f64 {
    const WITH_NONE: usize = BINS + 1;
    let mut all = [[0_u32; WITH_NONE]; WITH_NONE];
    for (fixed, moving) in fixed.chunks_exact(columns).zip(moving.chunks(stride)) {
        for (&f, &m) in fixed.iter().zip(moving) {
            all[usize::from(m)][usize::from(f)] += 1;
        }
    }
    let counts: Vec<u32> = all[..BINS].iter().flat_map(|row| row[..BINS].iter().copied()).collect();
    let found = cpu::entropies(&counts, [BINS as u32; 2], Wanted::Entropies);
    found.mi - chance(&counts, BINS, found.counts)
}
