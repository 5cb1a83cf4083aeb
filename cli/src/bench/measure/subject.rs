//! The pair of images that is measured, and the transforms at which it is.

use crate::demo::cubes;
use glam::{DAffine3, DMat3, DVec3};
use mireg::backend::Affine;
use mireg::image::StoredImage;
use mireg::image::voxel_map;
use mireg::metric::Histogram;
use mireg::registration::{Options, check};
use mireg::{Geometry, Result, Volume};

use crate::bench::arguments::Bench;
use crate::bench::cases::Group;
use crate::bench::choices::{Axis, BATCH, Data, TURN};
use crate::files;

/// Images as backends keep them.
pub struct Subject {
    pub volumes: [Volume; 2],
    pub fixed: StoredImage,
    pub moving: StoredImage,
    fixed_geometry: Geometry,
    moving_geometry: Geometry,
}

impl Subject {
    /// Makes or reads a pair.
    ///
    /// # Errors
    /// As [`mireg::io::read`] and [`check`].
    pub fn new(group: &Group, arguments: &Bench) -> Result<Self> {
        let [fixed, moving] = match (group.data, &arguments.fixed, &arguments.moving) {
            (Data::Files, Some(fixed), Some(moving)) => {
                let (images, notes) = files::read([fixed, moving], &arguments.images, None, [None, None])?;
                let [fixed, moving] = images.map(|image| image.volume);
                files::say(&notes);
                check(&fixed, &moving, &Options::default())?;
                [fixed, moving]
            }
            (Data::Random, ..) => cubes::random(group.side),
            (Data::Constant, ..) => cubes::constant(group.side),
            (Data::Head | Data::Files, ..) => cubes::head(group.side),
        };
        Ok(Self {
            fixed: stored(&fixed),
            moving: stored(&moving),
            fixed_geometry: fixed.geometry,
            moving_geometry: moving.geometry,
            volumes: [fixed, moving],
        })
    }

    /// Returns a batch of voxel maps such as a line search evaluates: a rotation by [`TURN`] about the middle of the
    /// fixed image, and others that turn a little further.
    pub fn transforms(&self, axis: Axis) -> Vec<Affine> {
        let centre = self.fixed_geometry.centre();
        let axis = match axis {
            Axis::Oblique => DVec3::ONE.normalize(),
            Axis::Z => DVec3::Z,
        };
        let turn = |step: usize| {
            let rotation = DMat3::from_axis_angle(axis, TURN * (1.0 + 0.01 * step as f64));
            DAffine3::from_mat3_translation(rotation, centre - rotation * centre)
        };
        (0..BATCH).map(|step| voxel_map(&self.fixed_geometry, &self.moving_geometry, &turn(step))).collect()
    }
}

fn stored(volume: &Volume) -> StoredImage {
    StoredImage::new(volume, range(volume), Histogram::BINS)
}

/// Returns the range of a volume. For a constant volume it is a made-up range with the constant in the middle.
pub fn range(volume: &Volume) -> (f32, f32) {
    let (low, high) = volume.range();
    if low < high { (low, high) } else { (low - 1.0, high + 1.0) }
}
