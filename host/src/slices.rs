//! Registers single slices anywhere in space, such as coronal and oblique ones, as 2-D images in their own plane.
//!
//! The coordinates of the plane are x and y along the axes of the fixed slice. Coordinates are converted on the host,
//! in f64, before and after the registration. The resulting transform maps the plane of the fixed slice to that of the
//! moving slice, so it includes the distance of the planes along the normal and a small tilt between them.

use crate::error::{Setting, message};
use crate::registration::{Init, Options, Registration};
use crate::transform::{Dimension, Kind, Linear, exponential};
use crate::{Error, Geometry, Result, Volume};
use glam::{DAffine3, DMat3, DVec3};

/// The largest angle between two slices, degrees.
const TILT: f64 = 2.0;
/// A component of a direction ([`FLAT`]) and a distance in mm ([`NEAR`]) below which they count as 0.
const FLAT: f64 = 1e-3;
const NEAR: f64 = 1e-6;

/// The planes of a fixed and a moving slice, each as the map from its coordinates to LPS mm.
pub struct Slices {
    fixed: DAffine3,
    moving: DAffine3,
}

impl Slices {
    /// The planes of a pair of slices. `None` if both are parallel to the x-y plane, or if one of the images is not a
    /// slice.
    ///
    /// # Errors
    /// [`Error::Option`] for slices of different orientation.
    pub fn of(fixed: &Geometry, moving: &Geometry) -> Result<Option<Self>> {
        if !(fixed.is_flat() && moving.is_flat()) || !(fixed.is_slice_in_space() || moving.is_slice_in_space()) {
            return Ok(None);
        }
        let (normal, other) = (normal(fixed), normal(moving));
        // The normals of parallel slices can have opposite directions.
        let other = if normal.dot(other) < 0.0 { -other } else { other };
        let axis = normal.cross(other);
        let tilt = libm::atan2(axis.length(), normal.dot(other));
        if tilt.to_degrees() > TILT || fixed.is_slice_in_space() != moving.is_slice_in_space() {
            let (normal, other, degrees) = (listed(normal), listed(other), tilt.to_degrees());
            return Err(Error::option(
                Setting::Moving,
                message!(
                    "the images are slices of different orientation: the normal of the fixed one is along ({normal}), that of the \
                     moving one along ({other}), {degrees:.1} degrees off";
                    "give slices of one orientation, or volumes"
                ),
            ));
        }
        let along = fixed.direction.x_axis.normalize();
        let axes = DMat3::from_cols(along, normal.cross(along).normalize(), normal);
        let tilted = exponential(axis.normalize_or_zero() * tilt) * axes;
        let frame = |axes: DMat3, grid: &Geometry| {
            DAffine3::from_mat3_translation(axes, axes.z_axis * axes.z_axis.dot(grid.origin))
        };
        Ok(Some(Self { fixed: frame(axes, fixed), moving: frame(tilted, moving) }))
    }

    /// Registers the slices by `register`, which registers 2-D images.
    ///
    /// # Errors
    /// Those of `register`.
    pub fn register(
        &self,
        [fixed, moving]: [&Volume; 2],
        options: &Options,
        register: impl FnOnce(&Volume, &Volume, &Options) -> Result<Registration>,
    ) -> Result<Registration> {
        let init = match &options.init {
            Init::Transform(start) => Init::Transform(self.in_plane(start)),
            Init::Among(starts) => Init::Among(starts.iter().map(|start| self.in_plane(start)).collect()),
            init => init.clone(),
        };
        let options = Options {
            init,
            fixed_mask: options.fixed_mask.as_ref().map(|mask| flattened(mask, &self.fixed)),
            moving_mask: options.moving_mask.as_ref().map(|mask| flattened(mask, &self.moving)),
            ..options.clone()
        };
        let mut found = register(&flattened(fixed, &self.fixed), &flattened(moving, &self.moving), &options)?;
        found.moved.iter_mut().for_each(|moved| moved.geometry = fixed.geometry);
        found.transform = self.lifted(&found.transform, fixed.geometry.centre());
        Ok(found)
    }

    /// Converts a map in LPS mm to coordinates of the planes. Its component along the normal is ignored.
    fn in_plane(&self, map: &DAffine3) -> DAffine3 {
        let DAffine3 { matrix3, translation } = self.moving.inverse() * *map * self.fixed;
        let flat = |axis: DVec3| if axis.z.abs() < FLAT { axis.with_z(0.0) } else { axis };
        let matrix = DMat3::from_cols(flat(matrix3.x_axis), flat(matrix3.y_axis), DVec3::Z);
        DAffine3::from_mat3_translation(matrix, translation.with_z(0.0))
    }

    /// Converts a map in coordinates of the planes to LPS mm.
    fn in_space(&self, map: &DAffine3) -> DAffine3 {
        self.moving * *map * self.fixed.inverse()
    }

    /// Converts a transform that was found in the planes to LPS mm, about `centre`. A similarity also scales along the
    /// normal.
    fn lifted(&self, found: &Linear, centre: DVec3) -> Linear {
        let mut map = found.to_affine();
        if found.kind == Kind::Similarity {
            map.matrix3.z_axis *= libm::sqrt(map.matrix3.determinant());
        }
        Linear::new(found.kind, Dimension::Three, centre, &self.in_space(&map))
    }
}

/// The normal of a slice.
fn normal(grid: &Geometry) -> DVec3 {
    grid.direction.x_axis.cross(grid.direction.y_axis).normalize()
}

/// Formats a direction for messages.
fn listed(direction: DVec3) -> String {
    // Adding 0 turns -0 into 0.
    direction.to_array().map(|x| format!("{:.3}", x + 0.0)).join(", ")
}

/// Converts a slice to a 2-D image in its plane.
fn flattened(slice: &Volume, plane: &DAffine3) -> Volume {
    let (back, grid) = (plane.inverse(), slice.geometry);
    let flat = |axis: DVec3| back.transform_vector3(axis).with_z(0.0);
    let direction = DMat3::from_cols(flat(grid.direction.x_axis), flat(grid.direction.y_axis), DVec3::Z);
    let origin = back.transform_point3(grid.origin);
    // A mask in another plane keeps its distance.
    let origin = if origin.z.abs() < NEAR { origin.with_z(0.0) } else { origin };
    let geometry = Geometry { direction, origin, spacing: grid.spacing.with_z(1.0), ..grid };
    Volume { geometry, voxels: slice.voxels.clone(), pixel: slice.pixel }
}

/// Refuses slices that are not parallel to the x-y plane, for methods that only take such slices. `what` names the
/// method.
///
/// # Errors
/// [`Error::Option`] for such a slice.
pub fn refuse(what: &str, fixed: &Geometry, moving: &Geometry) -> Result<()> {
    for (which, grid) in [(Setting::Fixed, fixed), (Setting::Moving, moving)] {
        if grid.is_slice_in_space() {
            let (name, normal) = (which.name(), listed(normal(grid)));
            return Err(Error::option(
                which,
                message!(
                    "the {name} image is a single slice with its normal along ({normal}), and {what} of slices needs it along z";
                    "reorient it, or give a volume of at least 2 slices"
                ),
            ));
        }
    }
    Ok(())
}
