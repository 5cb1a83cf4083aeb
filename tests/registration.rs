//! Registrations in difficult cases, on two scans of a synthetic head. The large voxels, 3.6 x 3.6 x 10 mm and 4 mm,
//! make them fast.

mod boxes;
mod bytes;
mod frames;
mod masks;
mod metric;
mod noise;
mod objects;
mod outliers;
mod outlines;
pub mod parts;
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
        boxes::tests(),
        bytes::tests(),
        frames::tests(),
        trust::tests(),
        metric::tests(),
        noise::tests(),
        objects::tests(),
        outliers::tests(),
        outlines::tests(),
        parts::tests(),
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

/// The largest mean error of a good registration of [`PAIR`], in mm.
const GOOD_MM: f64 = 1.0;

static PAIR: LazyLock<Pair> = LazyLock::new(|| Pair::new(3, 4.0));

fn test(name: &str, run: fn()) -> Trial {
    trial(format!("registration::{name}"), run)
}

fn register(fixed: &Volume, moving: &Volume, options: &Options) -> Registration {
    CPU.register(fixed, moving, options, &Silent).unwrap()
}

/// Returns the mean error, in mm, of a registration of the CT with the MR, after the MR was moved by `moved`.
fn error(found: &Registration, moved: &DAffine3) -> f64 {
    PAIR.misplacement(&(moved.inverse() * found.transform.to_affine())).mean_mm
}

/// Returns the volume with its geometry moved by `by`, a rigid map of points, LPS mm.
fn placed(volume: &Volume, by: &DAffine3) -> Volume {
    let mut placed = volume.clone();
    placed.geometry.origin = by.transform_point3(volume.geometry.origin);
    placed.geometry.direction = by.matrix3 * volume.geometry.direction;
    placed
}
