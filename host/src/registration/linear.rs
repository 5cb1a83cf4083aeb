//! The linear registration that a deformation or a mesh starts from.

use super::retry::unless_fatal;
use super::{Case, Options, Registration, Tally};
use crate::backend::Backend;
use crate::image::{IntensityRange, Prepared};
use crate::transform::{Kind, Linear};
use crate::{Observer, Result};

/// The linear transform that a deformation or a mesh started from.
#[derive(Debug, Clone)]
pub struct LinearStart {
    /// Fixed point to moving point, LPS mm.
    pub transform: Linear,
    /// What it is from, such as `an affine registration` or `the headers`.
    pub from: &'static str,
    /// The time that it took to find it.
    pub seconds: f64,
}

/// Registers two prepared images with default options and a transform of `kind`. If that result should not be used,
/// tries a rigid transform. `backend` is asked before each registration: a GPU may have become ready in the meantime.
///
/// # Errors
/// Those of [`Engine::register`](crate::Engine::register).
pub(crate) fn linear<'b>(
    kind: Kind,
    images: [&Prepared; 2],
    backend: impl Fn() -> Result<&'b dyn Backend>,
    observer: &dyn Observer,
) -> Result<Registration> {
    Tally::around(|tally| {
        let found = of_kind(kind, images, tally, backend()?, observer)?;
        if found.trusted() || kind <= Kind::Rigid {
            return Ok(found);
        }
        // Images that show too little for scales and shears may show enough for a rotation.
        observer.note(&format!("the {} registration failed its checks: trying a rigid one", kind.name()));
        let rigid = unless_fatal(of_kind(Kind::Rigid, images, tally, backend()?, observer))?;
        Ok(rigid.filter(Registration::trusted).unwrap_or(found))
    })
}

fn of_kind(
    kind: Kind,
    images: [&Prepared; 2],
    tally: &Tally,
    backend: &dyn Backend,
    observer: &dyn Observer,
) -> Result<Registration> {
    let [fixed, moving] = &images.map(|image| image.borrowed().without_frame());
    let range = |image: &Prepared| IntensityRange::Between(image.intensities.range.0, image.intensities.range.1);
    let options = Options {
        dof: kind,
        fixed_mask: fixed.mask().cloned(),
        moving_mask: moving.mask().cloned(),
        fixed_range: range(fixed),
        moving_range: range(moving),
        moved: false,
        ..Options::default()
    };
    let images = [&*fixed.image, &*moving.image];
    Case::prepared(images, &options, tally, backend, observer, |case| {
        case.on_common_lattice().register_kind(&options).map(|(found, _)| found)
    })
}

/// Returns what [`LinearStart::from`] says of a registration of this kind.
pub(crate) fn kind_label(kind: Kind) -> &'static str {
    match kind {
        Kind::Translation => "a translation registration",
        Kind::Rigid => "a rigid registration",
        Kind::Similarity => "a similarity registration",
        Kind::Affine => "an affine registration",
    }
}
