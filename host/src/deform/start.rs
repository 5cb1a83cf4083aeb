//! The linear transform that a flow starts from.

use crate::backend::Backend;
use crate::registration::{self, Doubt, LinearStart};
use crate::transform::{Dimension, Kind, Linear};
use crate::{Observer, Result, Volume};
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
        fixed: &Volume,
        moving: &Volume,
        backend: &dyn Backend,
        observer: &dyn Observer,
    ) -> Result<(LinearStart, Vec<Doubt>)> {
        let clock = Instant::now();
        let (transform, from, doubts) = match self {
            Self::Register(kind) => registered(*kind, fixed, moving, backend, observer)?,
            Self::Headers => headers(fixed, Vec::new()),
            Self::Transform(transform) => (transform.clone(), "a transform", Vec::new()),
        };
        Ok((LinearStart { transform, from, seconds: clock.elapsed().as_secs_f64() }, doubts))
    }
}

type Found = (Linear, &'static str, Vec<Doubt>);

fn headers(fixed: &Volume, doubts: Vec<Doubt>) -> Found {
    let dimension = Dimension::of(&fixed.geometry);
    (Linear::identity(Kind::Translation, dimension, fixed.geometry.centre()), "the headers", doubts)
}

/// What a registration finds; the headers where that should not be used.
fn registered(
    kind: Kind,
    fixed: &Volume,
    moving: &Volume,
    backend: &dyn Backend,
    observer: &dyn Observer,
) -> Result<Found> {
    let options = registration::Options { dof: kind, ..Default::default() };
    let found = registration::register(fixed, moving, &options, backend, observer)?;
    let doubt = |text| Doubt { name: "start", text, grave: false };
    let (name, texts) = (kind.name(), found.doubts.iter().map(|doubt| &doubt.text));
    if found.trusted() {
        let doubts = texts.map(|text| doubt(format!("of the {name} registration: {text}"))).collect();
        return Ok((found.transform, from(kind), doubts));
    }
    let why = texts.cloned().collect::<Vec<_>>().join("; ");
    let text = format!("the {name} registration should not be used ({why}): starting as the headers place the images");
    Ok(headers(fixed, vec![doubt(text)]))
}

fn from(kind: Kind) -> &'static str {
    match kind {
        Kind::Translation => "a translation registration",
        Kind::Rigid => "a rigid registration",
        Kind::Similarity => "a similarity registration",
        Kind::Affine => "an affine registration",
    }
}
