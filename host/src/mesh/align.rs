//! The affine map that a mesh starts from.
//!
//! Two cameras' pictures of one retina have different magnifications, parts of it, and lamps, and one may show vessels bright that the
//! other shows dark. So contrast is made even first, and pictures that differ in magnification are looked at small in all places, turns and
//! sizes.

use super::picture::Picture;
use crate::backend::{Backend, Wanted};
use crate::error::Setting;
use crate::image::{Prepared, pyramid};
use crate::metric::{Counted, Histogram, ImagePair, JointImages, Metric, Sampled, sampling};
use crate::observer::go_on;
use crate::plane::even::{Even, longer_side, neighbourhood};
use crate::registration::{self, Init, Registration};
use crate::transform::Kind;
use crate::{Observer, Result, Volume};
use glam::{DAffine3, DMat3, DVec3};
use std::borrow::Cow;

/// Pixels along the longer side of pictures that are large enough to be registered by an affine map.
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

/// An affine map of points of the picture `fixed` to points of `moving`, LPS mm, by the mutual information of the pictures with even
/// contrast; with [`Init::Auto`] from a search through magnifications of a half to twice what makes the longer sides the same, rotations of up
/// to 30 degrees, and shifts of up to 0.3 of the longer side. The images and metrics of what it returns are of these pictures, on a grid of 1000
/// pixels along the longer side.
///
/// # Errors
/// Those of [`Engine::register`](crate::Engine::register), and [`Error::Option`] for volumes and for pictures without contrast.
pub fn align(
    images: &[Prepared; 2],
    init: &Init,
    backend: &dyn Backend,
    observer: &dyn Observer,
) -> Result<Registration> {
    let pair = [even(Setting::Fixed, &images[0])?, even(Setting::Moving, &images[1])?];
    let init = match init {
        Init::Auto => Init::Transform(search(&pair, backend, observer)?),
        other => other.clone(),
    };
    let [fixed, moving] = pair;
    let options = registration::Options {
        dof: Kind::Affine,
        init,
        metric: Metric::Counted(Counted::default()),
        fixed_mask: Some(fixed.mask()),
        moving_mask: Some(moving.mask()),
        ..registration::Options::default()
    };
    registration::register(&fixed.picture, &moving.picture, &options, backend, observer)
}

fn even(which: Setting, picture: &Prepared) -> Result<Even> {
    let grid = &picture.image.geometry;
    Picture::new(which, picture, &[longer_side(grid) / LONGER_SIDE], neighbourhood(grid)).even(0)
}

/// The place, turn and size at which small pictures have the most mutual information, times the samples that it is of: how unlikely it is
/// that chance brought it about.
fn search([fixed, moving]: &[Even; 2], backend: &dyn Backend, observer: &dyn Observer) -> Result<DAffine3> {
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
