//! Registrations where it is hard, on the two scans of a made-up head. Voxels of 3.6 x 3.6 x 10 and of 4 mm keep them quick.

mod bytes;
mod masks;
mod metric;
mod outliers;
mod people;
mod place;
mod plane;
mod sampling;
mod slices;
mod smooth;
mod starts;
mod storage;
mod trust;

use glam::DAffine3;
use libtest_mimic::Trial;
use mireg::{Options, Registration, Silent, Volume};
use mireg_cli::demo::Pair;
use std::sync::LazyLock;

use crate::support::{CPU, trial};

pub fn tests() -> Vec<Trial> {
    [
        starts::tests(),
        storage::tests(),
        masks::tests(),
        sampling::tests(),
        bytes::tests(),
        trust::tests(),
        metric::tests(),
        outliers::tests(),
        people::tests(),
        place::tests(),
        plane::tests(),
        slices::tests(),
        smooth::tests(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// What a good registration of [`PAIR`] is off by on average at most, mm.
const GOOD_MM: f64 = 1.0;

static PAIR: LazyLock<Pair> = LazyLock::new(|| Pair::new(3, 4.0));

fn test(name: &str, run: fn()) -> Trial {
    trial(format!("registration::{name}"), run)
}

fn register(fixed: &Volume, moving: &Volume, options: &Options) -> Registration {
    CPU.register(fixed, moving, options, &Silent).unwrap()
}

/// What a registration of the CT with the MR is off by on average, mm, where the MR was moved by `moved`.
fn error(found: &Registration, moved: &DAffine3) -> f64 {
    PAIR.misplacement(&(moved.inverse() * found.transform.to_affine())).mean_mm
}

/// The same voxels elsewhere: `by` takes points from where they were, LPS mm, and turns and shifts only.
fn placed(volume: &Volume, by: &DAffine3) -> Volume {
    let mut placed = volume.clone();
    placed.geometry.origin = by.transform_point3(volume.geometry.origin);
    placed.geometry.direction = by.matrix3 * volume.geometry.direction;
    placed
}
