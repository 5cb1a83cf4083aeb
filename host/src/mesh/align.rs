//! Finds the linear map that a mesh starts from.

use crate::backend::Backend;
use crate::image::Prepared;
use crate::metric::{Counted, Metric};
use crate::plane::local_contrast::LocalContrast;
use crate::registration::{self, Init, Registration};
use crate::transform::Kind;
use crate::{Observer, Result};

/// Registers the pictures linearly: with [`Init::Auto`] as usual, by an affine transform or else a rigid one; with any
/// other `init` by an affine transform from there, which maximises the normalised mutual information of local contrast
/// on grids of at most 1000 pixels along the longer side.
///
/// # Errors
/// Those of [`Engine::register`](crate::Engine::register), and [`Error::Option`](crate::Error::Option) for volumes and for pictures
/// without contrast.
pub fn align(
    images: &[Prepared; 2],
    init: &Init,
    backend: &dyn Backend,
    observer: &dyn Observer,
) -> Result<Registration> {
    if *init == Init::Auto {
        return registration::linear(Kind::Affine, images.each_ref(), || Ok(backend), observer);
    }
    let [fixed, moving] = LocalContrast::pair(images)?;
    let options = registration::Options {
        dof: Kind::Affine,
        init: init.clone(),
        metric: Metric::Counted(Counted::default()),
        fixed_mask: Some(fixed.mask()),
        moving_mask: Some(moving.mask()),
        moved: false,
        ..registration::Options::default()
    };
    registration::register_once([&fixed.picture, &moving.picture], &options, backend, observer)
}
