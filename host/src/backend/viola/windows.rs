//! The Gaussian windows of Viola's mutual information.

use crate::error::Setting;
use crate::{Error, Result};
use gpu::math::log;
use gpu::math::viola::{JointGaussian, Scaled, WIDEST, scale};

/// sqrt(2 pi).
const ROOT: f64 = 2.506_628_274_631_000_2;

/// Standard deviations of the Gaussian windows, in stored values (0 to [`FULL`](crate::backend::FULL)).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sigmas {
    pub fixed: f64,
    pub moving: f64,
    /// The standard deviations of the joint density along the fixed and the moving intensity. `None` for the same as
    /// `fixed` and `moving`, which saves one exponential per pair of samples.
    pub joint: Option<[f64; 2]>,
}

impl Sigmas {
    /// Checks that windows can have these standard deviations.
    ///
    /// # Errors
    /// [`Error::Option`] for one that is not a positive number, and for one of the joint density that is more than 8
    /// times that of its image.
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

    /// The factors that scale stored values.
    pub(crate) fn scales(&self) -> Scaled {
        Scaled { u: scale(self.fixed), v: scale(self.moving) }
    }

    /// The joint window, if it is not the product of both windows.
    pub(crate) fn joint_gaussian(&self) -> Option<JointGaussian> {
        let square = |own: f64, joint: f64| ((own / joint) * (own / joint)) as f32;
        self.joint.map(|[u, v]| JointGaussian { u: square(self.fixed, u), v: square(self.moving, v) })
    }

    /// Minus the logarithms of the windows at their centre, as densities of stored values: fixed, moving and joint.
    pub(crate) fn norms(&self) -> [f64; 3] {
        let norm = |sigma: f64| log::of(ROOT * sigma);
        let [u, v] = self.joint.unwrap_or([self.fixed, self.moving]);
        [norm(self.fixed), norm(self.moving), norm(u) + norm(v)]
    }
}
