//! Pictures that are registered by their contrast.
//!
//! Two cameras' pictures of one retina have different magnifications, parts of it, and lamps, and one may show vessels bright that the
//! other shows dark. So contrast is made even first, and pictures that differ in magnification are looked at small in all places, turns and
//! sizes.

use crate::backend::{Backend, Wanted};
use crate::error::Setting;
use crate::image::{Prepared, pyramid};
use crate::metric::{Histogram, ImagePair, JointImages, Sampled, sampling};
use crate::observer::go_on;
use crate::plane::even::{Even, longer_side, neighbourhood};
use crate::{Observer, Result, Volume};
use glam::{DAffine3, DMat3, DVec3};
use std::borrow::Cow;

/// Pixels along the longer side of pictures that are large enough to be registered.
const LONGER_SIDE: f64 = 1000.0;
/// The same of those on which the start is searched.
const SMALL: f64 = 64.0;
/// Bins there.
const BINS: u32 = 8;
/// Magnifications beside that which makes the longer sides the same: factors up to this, by steps of this.
const MAGNIFIED: f64 = 2.0;
const MAGNIFIED_STEP: f64 = 1.07;
/// Rotations up to this, by steps of this, degrees.
const TURNED: f64 = 30.0;
const TURNED_STEP: f64 = 5.0;
/// Shifts of the middle up to this part of the longer side, by a pixel.
const SHIFTED: f64 = 0.3;

/// Both pictures with even contrast, on grids of 1000 pixels along the longer side at most.
///
/// # Errors
/// Those of [`Even::new`].
pub fn pair([fixed, moving]: &[Prepared; 2]) -> Result<[Even; 2]> {
    let even = |which, picture: &Prepared| {
        let longer = longer_side(&picture.image.geometry);
        let coarse = |picture: &Volume| pyramid::levels(picture, &[longer / LONGER_SIDE]).remove(0).into_owned();
        let mask = picture.mask().map(coarse);
        Even::new(which, &coarse(&picture.image), mask.as_ref(), neighbourhood(&picture.image.geometry))
    };
    Ok([even(Setting::Fixed, fixed)?, even(Setting::Moving, moving)?])
}

/// The place, turn and size at which small pictures have the most mutual information, times the samples that it is of: how unlikely it is
/// that chance brought it about.
///
/// # Errors
/// Those of the backend, and [`Error::Stopped`](crate::Error::Stopped).
pub fn search([fixed, moving]: &[Even; 2], backend: &dyn Backend, observer: &dyn Observer) -> Result<DAffine3> {
    let sides = [fixed, moving].map(|even| longer_side(&even.picture.geometry));
    let small = |picture: &Volume, side: f64| pyramid::levels(picture, &[side / SMALL]).remove(0).into_owned();
    let volumes = [small(&fixed.picture, sides[0]), small(&moving.picture, sides[1])];
    let mask = small(&fixed.mask(), sides[0]);
    let ranges = [volumes[0].range(), volumes[1].range()];
    let [sampled, interpolated] = volumes.map(Cow::Owned);
    let keep = Some(sampling::inside(&mask));
    let pair = ImagePair { which: Sampled::Fixed, sampled, interpolated, ranges, keep, level: 0 };
    let images = JointImages::new(&pair, Histogram { bins: BINS, ..Histogram::default() });
    let mut histograms = images.load(backend)?;
    let mut best = (0.0, DAffine3::IDENTITY);
    for transforms in candidates(sides, &fixed.picture, &moving.picture) {
        go_on(observer)?;
        let found = histograms.evaluate(&transforms, Wanted::Entropies)?;
        for (evaluation, transform) in found.iter().zip(transforms) {
            let unlikely = evaluation.mi * evaluation.overlap as f64;
            if unlikely > best.0 {
                best = (unlikely, transform);
            }
        }
    }
    Ok(best.1)
}

/// The maps to look at: all shifts for each magnification and turn.
fn candidates(sides: [f64; 2], fixed: &Volume, moving: &Volume) -> impl Iterator<Item = Vec<DAffine3>> {
    let [from, to] = [fixed, moving].map(|picture| picture.geometry.centre());
    let pixel = sides[1] / SMALL;
    let steps = |most: f64, step: f64| {
        let count = (most / step).round() as i32;
        (-count..=count).map(move |n| f64::from(n) * step)
    };
    let sizes =
        steps(libm::log(MAGNIFIED), libm::log(MAGNIFIED_STEP)).map(move |ln| sides[1] / sides[0] * libm::exp(ln));
    let poses = sizes.flat_map(move |size| steps(TURNED, TURNED_STEP).map(move |degrees| (size, degrees.to_radians())));
    poses.map(move |(size, angle)| {
        let (sin, cos) = libm::sincos(angle);
        let columns = [DVec3::new(cos, sin, 0.0) * size, DVec3::new(-sin, cos, 0.0) * size, DVec3::Z];
        let matrix = DMat3::from_cols(columns[0], columns[1], columns[2]);
        let along = || steps(SHIFTED * SMALL, 1.0).map(|n| n * pixel);
        let shifts = along().flat_map(|y| along().map(move |x| DVec3::new(x, y, 0.0)));
        shifts.map(|shift| DAffine3::from_mat3_translation(matrix, to + shift - matrix * from)).collect()
    })
}
