//! Measures a whole registration, of the synthetic patient of `mireg demo`.

use mireg::registration::Options;
use mireg::{Engine, Result, Silent};

use super::clock::{median, repeat};
use crate::bench::rows::Registered;
use crate::demo::Pair;

/// Measures for about `budget` seconds, but at least three registrations. `coarseness` is that of the images.
///
/// # Errors
/// As [`Engine::register`].
pub fn measure(engine: &Engine, coarseness: f64, budget: f64) -> Result<Registered> {
    let Pair { ct, mr, .. } = engine.install(|| Ok(Pair::new(1, coarseness)))?;
    let options = Options::default();
    let seconds = median(&repeat(budget, 3, || engine.register(&ct, &mr, &options, &Silent))?);
    Ok(Registered { fixed_size: ct.geometry.size, moving_size: mr.geometry.size, seconds })
}
