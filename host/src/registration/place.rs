//! Whether two pictures agree where they were placed.
//!
//! What surrounds an image, such as the black around a retina, can agree so well that it outweighs what the image shows. So only what is
//! image in both is compared, at the place that was found and at places around it: by the pixels' intensities, and by their contrast, from
//! which a lamp's shading has fallen out.

use crate::backend::{Backend, Wanted, cpu};
use crate::error::Setting;
use crate::image::{Prepared, pyramid};
use crate::metric::{Histogram, chance, joint};
use crate::plane::contrast;
use crate::plane::even::{Even, longer_side, neighbourhood};
use crate::{Error, Result, Volume};
use glam::{DAffine3, DVec3};
use serde::Serialize;
use std::borrow::Cow;
use std::f64::consts::TAU;

/// Pixels along the longer side of pictures that are large enough.
const SIDE: f64 = 500.0;
/// Bins per side.
const BINS: u32 = 24;
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

impl Place {
    /// Of pictures and a map of points of the fixed one to points of the moving one, LPS mm; none for pictures of which too little is
    /// image.
    ///
    /// # Errors
    /// Those of the backend.
    pub fn of([fixed, moving]: &[Prepared; 2], to: &DAffine3, backend: &dyn Backend) -> Result<Option<Self>> {
        let pictures = [insides(Setting::Fixed, fixed), insides(Setting::Moving, moving)];
        let [fixed, moving] = match pictures {
            [Ok(fixed), Ok(moving)] => [fixed, moving],
            [Err(Error::Option { .. }), _] | [_, Err(Error::Option { .. })] => return Ok(None),
            [Err(error), _] | [_, Err(error)] => return Err(error),
        };
        let side = longer_side(&moving[0].image.geometry);
        let [contrasts, intensities] = [0, 1].map(|n| [&fixed[n], &moving[n]].map(Clone::clone));
        Ok(Some(Self {
            contrast: lead(&contrasts, to, side, backend)?,
            intensities: lead(&intensities, to, side, backend)?,
        }))
    }
}

/// What of a picture is image: its contrasts and its intensities.
fn insides(which: Setting, picture: &Prepared) -> Result<[Prepared<'static>; 2]> {
    let grid = &picture.image.geometry;
    let coarse = |picture: &Volume| pyramid::levels(picture, &[longer_side(grid) / SIDE]).remove(0).into_owned();
    let image = coarse(&picture.image);
    let mm = neighbourhood(grid);
    let even = Even::new(which, &image, picture.mask().map(coarse).as_ref(), mm)?;
    let mask = Some(Cow::Owned(even.mask()));
    // Near the rim a neighbourhood is on one side alone, and shading shows.
    let even = Even { inner: contrast::inner(&image, &even.inner, WHOLE * mm)?, ..even };
    let intensities = Prepared { image: Cow::Owned(image), mask, intensities: picture.intensities };
    Ok([even.prepared(&picture.intensities), intensities])
}

/// The information at `to` over the most of those around.
fn lead(pictures: &[Prepared; 2], to: &DAffine3, side: f64, backend: &dyn Backend) -> Result<f64> {
    let mut most = NONE;
    for shift in around(side) {
        most = most.max(information(pictures, &(DAffine3::from_translation(shift) * *to), backend)?);
    }
    Ok(information(pictures, to, backend)?.max(0.0) / most)
}

/// Shifts to the places around, mm; those of each distance lie between those of the one before.
fn around(side: f64) -> impl Iterator<Item = DVec3> {
    let turn = |n: usize, ring: usize| TAU * (n as f64 + 0.5 * ring as f64) / DIRECTIONS as f64;
    SHIFTS.into_iter().enumerate().flat_map(move |(ring, part)| {
        (0..DIRECTIONS).map(move |n| {
            let (sin, cos) = libm::sincos(turn(n, ring));
            DVec3::new(cos, sin, 0.0) * part * side
        })
    })
}

/// The mutual information of two pictures at a map, beyond what chance makes, nats.
fn information(pictures: &[Prepared; 2], to: &DAffine3, backend: &dyn Backend) -> Result<f64> {
    let images = joint(pictures, Histogram { bins: BINS, ..Histogram::default() }, to);
    let counts = images.load(backend)?.counts(to)?;
    let found = cpu::entropies(&counts, [BINS; 2], Wanted::Entropies);
    Ok(found.mi - chance(&counts, BINS as usize, found.counts))
}
