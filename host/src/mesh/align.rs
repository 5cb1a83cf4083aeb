//! The affine map that a mesh starts from.

use crate::backend::Backend;
use crate::image::Prepared;
use crate::metric::{Counted, Metric};
use crate::plane::even::Even;
use crate::registration::{self, Init, Registration, searched};
use crate::transform::Kind;
use crate::{Observer, Result};

/// An affine map of points of the picture `fixed` to points of `moving`, LPS mm, by the mutual information of the pictures with even
/// contrast; with [`Init::Auto`] from a [search](crate::plane::search::search) among all places, turns and sizes. The images and metrics
/// of what it returns are of these pictures, on a grid of 1000 pixels along the longer side.
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
    let pair = Even::pair(images)?;
    let (init, levels) = match init {
        Init::Auto => searched(&pair, Kind::Affine).map(|(init, levels)| (init, Some(levels)))?,
        other => (other.clone(), None),
    };
    let [fixed, moving] = pair;
    let options = registration::Options {
        dof: Kind::Affine,
        init,
        levels,
        metric: Metric::Counted(Counted::default()),
        fixed_mask: Some(fixed.mask()),
        moving_mask: Some(moving.mask()),
        moved: false,
        ..registration::Options::default()
    };
    registration::once([&fixed.picture, &moving.picture], &options, backend, observer)
}
