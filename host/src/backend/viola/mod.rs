//! What every backend makes of the windows that Viola's mutual information is asked for with.

mod device;

use super::queue::Queue;
use super::{Exponentials, Group, Sample, Sigmas, Viola, ViolaEvaluator, ViolaPair, cpu};
use crate::error::Setting;
use crate::{Error, Result};
use gpu::math::log;
use gpu::math::viola::{Entropies, Own, Scaled, WIDEST, scale};

/// sqrt(2 pi).
const ROOT: f64 = 2.506_628_274_631_000_2;

/// Samples on a device; with tables of levels, which leave nothing to be done in parallel, on the CPU.
///
/// # Errors
/// [`Error::Option`] for standard deviations that windows cannot be made of, [`Error::Device`] where the samples do not fit.
pub fn load<'a, Q: Queue + 'a>(queue: Q, pair: ViolaPair<'a>) -> Result<Box<dyn ViolaEvaluator + 'a>> {
    Ok(match pair.exponentials {
        Exponentials::Quantised => Box::new(cpu::viola::Loaded::new(pair)?),
        Exponentials::Exact | Exponentials::Fast => Box::new(device::Loaded::new(queue, &pair)?),
    })
}

impl Sigmas {
    /// Refuses what windows cannot be made of.
    ///
    /// # Errors
    /// [`Error::Option`] for one that is not a positive number, and for a joint one too wide beside that of its image.
    pub fn check(&self) -> Result<()> {
        let joint = self.joint.unwrap_or([self.fixed, self.moving]);
        for (own, joint, image) in [(self.fixed, joint[0], "fixed"), (self.moving, joint[1], "moving")] {
            if ![own, joint].iter().all(|sigma| sigma.is_normal() && *sigma > 0.0) {
                return Err(Error::option(
                    Setting::Sigmas,
                    format!("Gaussian windows of the {image} image need a sigma above 0"),
                ));
            }
            if joint > WIDEST * own {
                return Err(Error::option(
                    Setting::Sigmas,
                    format!(
                        "the joint window is {} times as wide as that of the {image} image: at most {WIDEST} are possible",
                        joint / own
                    ),
                ));
            }
        }
        Ok(())
    }

    /// What stored values are multiplied by.
    pub(crate) fn scales(&self) -> Scaled {
        Scaled { u: scale(self.fixed), v: scale(self.moving) }
    }

    /// The joint window, where it is not the product of both.
    pub(crate) fn own(&self) -> Option<Own> {
        let square = |own: f64, joint: f64| ((own / joint) * (own / joint)) as f32;
        self.joint.map(|[u, v]| Own { u: square(self.fixed, u), v: square(self.moving, v) })
    }

    /// Minus the logarithms of the windows at their middle, as densities of stored values: fixed, moving and joint.
    pub(crate) fn norms(&self) -> [f64; 3] {
        let norm = |sigma: f64| log::of(ROOT * sigma);
        let [u, v] = self.joint.unwrap_or([self.fixed, self.moving]);
        [norm(self.fixed), norm(self.moving), norm(u) + norm(v)]
    }
}

impl Group {
    /// Puts the samples of each set in the order of their fixed intensities, those of the same intensity as they are. Sums run in this order;
    /// of intensities that lie far apart a GPU knows the windows without computing them.
    pub fn sort(&self, samples: &mut [Sample]) {
        for set in [&self.a, &self.b] {
            samples[set.start as usize..set.end as usize].sort_by(|a, b| a.value.total_cmp(&b.value));
        }
    }
}

impl Viola {
    /// From a group's entropies and its samples of A and of B inside.
    pub(crate) fn new(entropies: Entropies, overlap: [u32; 2]) -> Self {
        let Entropies { fixed, moving, joint, mi } = entropies;
        Self { fixed, moving, joint, mi, overlap }
    }
}
