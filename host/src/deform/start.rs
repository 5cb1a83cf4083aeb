//! The linear transform that a flow starts from.

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
        backend: &dyn Backend,
        observer: &dyn Observer,
    ) -> Result<(LinearStart, Vec<Doubt>)> {
        let clock = Instant::now();
        let (transform, from, doubts) = match self {
            Self::Register(kind) => registered(*kind, images, backend, observer)?,
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

/// What a registration finds; the headers where that should not be used.
fn registered(
    kind: Kind,
    [fixed, moving]: &[Prepared; 2],
    backend: &dyn Backend,
    observer: &dyn Observer,
) -> Result<Found> {
    let range = |image: &Prepared| IntensityRange::Between(image.intensities.range.0, image.intensities.range.1);
    let options = registration::Options {
        dof: kind,
        fixed_mask: fixed.mask().cloned(),
        moving_mask: moving.mask().cloned(),
        fixed_range: range(fixed),
        moving_range: range(moving),
        ..Default::default()
    };
    let (fixed, moving) = (&*fixed.image, &*moving.image);
    let found = registration::register(fixed, moving, &options, backend, observer)?;
    let (name, messages) = (kind.name(), found.doubts.iter().map(|doubt| &doubt.message));
    if found.trusted() {
        let of = |message: &Message| Message::from(format!("of the {name} registration: ")).then(message);
        let doubts = messages.map(|message| Doubt::slight(Check::Start, of(message))).collect();
        return Ok((found.transform, from(kind), doubts));
    }
    let begun = Message::from(format!("the {name} registration should not be used ("));
    let why = messages.enumerate().fold(begun, |whole, (n, message)| {
        let whole = if n == 0 { whole } else { whole.then(&"; ".into()) };
        whole.then(message)
    });
    let message = why.then(&"): starting as the headers place the images".into());
    Ok(headers(fixed, vec![Doubt::slight(Check::Start, message)]))
}

fn from(kind: Kind) -> &'static str {
    match kind {
        Kind::Translation => "a translation registration",
        Kind::Rigid => "a rigid registration",
        Kind::Similarity => "a similarity registration",
        Kind::Affine => "an affine registration",
    }
}
