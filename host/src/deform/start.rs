//! The linear transform that a flow starts from.

use super::middle;
use crate::backend::Backend;
use crate::doubt::{Check, Doubt};
use crate::error::Message;
use crate::error::Setting;
use crate::image::{IntensityRange, Prepared};
use crate::registration::{self, LinearStart, check};
use crate::transform::{Dimension, Kind, Linear};
use crate::{Error, Observer, Result, Volume};
use std::time::Instant;

/// Where a flow starts.
#[derive(Debug, Clone, PartialEq)]
pub enum Start {
    /// From a registration of this kind with default options. Where its result should not be used, a doubt says so and the flow starts as
    /// the headers place the images.
    Register(Kind),
    /// As the headers place the images.
    Headers,
    /// From a transform, fixed point to moving point, LPS mm.
    Transform(Linear),
}

impl Start {
    /// The start, and what speaks against it.
    pub(super) fn find(
        &self,
        images: &[Prepared; 2],
        symmetric: bool,
        backend: &dyn Backend,
        observer: &dyn Observer,
    ) -> Result<(LinearStart, Vec<Doubt>)> {
        let clock = Instant::now();
        let (transform, from, doubts) = match self {
            Self::Register(kind) if symmetric => both_ways(*kind, images, backend, observer)?,
            Self::Register(kind) => {
                let (found, doubts) = registered(*kind, images.each_ref(), backend, observer)?;
                match found {
                    Some(found) => (found, from(*kind), doubts),
                    None => headers(&images[0].image, doubts),
                }
            }
            Self::Headers => headers(&images[0].image, Vec::new()),
            Self::Transform(transform) => (transform.clone(), "a transform", Vec::new()),
        };
        check_start(&images[0].image, &transform)?;
        Ok((LinearStart { transform, from, seconds: clock.elapsed().as_secs_f64() }, doubts))
    }
}

/// Refuses a start that cannot be undone, or that leads out of the plane of 2-D images.
fn check_start(fixed: &Volume, start: &Linear) -> Result<()> {
    let map = start.to_affine();
    if !map.is_finite() || map.matrix3.determinant() == 0.0 {
        return Err(Error::option(Setting::Start, "the transform to start from has no inverse"));
    }
    if fixed.geometry.is_flat() { check::stays_in_plane(&map) } else { Ok(()) }
}

type Found = (Linear, &'static str, Vec<Doubt>);

fn headers(fixed: &Volume, doubts: Vec<Doubt>) -> Found {
    let dimension = Dimension::of(&fixed.geometry);
    (Linear::identity(Kind::Translation, dimension, fixed.geometry.centre()), "the headers", doubts)
}

/// What lies between a registration and one of the exchanged images; where one of them should not be used, the other one.
fn both_ways(
    kind: Kind,
    [fixed, moving]: &[Prepared; 2],
    backend: &dyn Backend,
    observer: &dyn Observer,
) -> Result<Found> {
    let (there, mut doubts) = registered(kind, [fixed, moving], backend, observer)?;
    let (back, more) = registered(kind, [moving, fixed], backend, observer)?;
    doubts.extend(more);
    let back = back.map(|back| back.to_affine().inverse());
    let map = match (there.map(|there| there.to_affine()), back) {
        (Some(there), Some(back)) => middle::between(&there, &back).unwrap_or(there),
        (Some(alone), None) | (None, Some(alone)) => alone,
        (None, None) => return Ok(headers(&fixed.image, doubts)),
    };
    let grid = &fixed.image.geometry;
    Ok((Linear::new(kind, Dimension::of(grid), grid.centre(), &map), from(kind), doubts))
}

/// What a registration finds, unless that should not be used, and what speaks against it.
fn registered(
    kind: Kind,
    [fixed, moving]: [&Prepared; 2],
    backend: &dyn Backend,
    observer: &dyn Observer,
) -> Result<(Option<Linear>, Vec<Doubt>)> {
    let range = |image: &Prepared| IntensityRange::Between(image.intensities.range.0, image.intensities.range.1);
    let options = registration::Options {
        dof: kind,
        fixed_mask: fixed.mask().cloned(),
        moving_mask: moving.mask().cloned(),
        fixed_range: range(fixed),
        moving_range: range(moving),
        moved: false,
        ..Default::default()
    };
    let (fixed, moving) = (&*fixed.image, &*moving.image);
    let found = registration::register(fixed, moving, &options, backend, observer)?;
    let (name, messages) = (kind.name(), found.doubts.iter().map(|doubt| &doubt.message));
    if found.trusted() {
        let of = |message: &Message| Message::from(format!("of the {name} registration: ")).then(message);
        let doubts = messages.map(|message| Doubt::slight(Check::Start, of(message))).collect();
        return Ok((Some(found.transform), doubts));
    }
    let begun = Message::from(format!("the {name} registration should not be used ("));
    let why = messages.enumerate().fold(begun, |whole, (n, message)| {
        let whole = if n == 0 { whole } else { whole.then(&"; ".into()) };
        whole.then(message)
    });
    let message = why.then(&"): starting as the headers place the images".into());
    Ok((None, vec![Doubt::slight(Check::Start, message)]))
}

fn from(kind: Kind) -> &'static str {
    match kind {
        Kind::Translation => "a translation registration",
        Kind::Rigid => "a rigid registration",
        Kind::Similarity => "a similarity registration",
        Kind::Affine => "an affine registration",
    }
}
