//! Measures how well local contrast agrees through a candidate field.

use super::levels::Level;
use super::place::{foregrounds, images_for_checks, moved};
use super::vectors;
use crate::Result;
use crate::backend::cpu;
use crate::image::{Geometry, Intensities, Prepared};
use crate::registration::{Foregrounds, Pair};
use crate::transform::Field;
use glam::DAffine3;

/// Measures the mutual information of the local contrast of two images over their foreground.
pub struct ContrastInformation<'a> {
    images: [Prepared<'a>; 2],
    foregrounds: Foregrounds,
    start: DAffine3,
}

impl<'a> ContrastInformation<'a> {
    /// Prepares the measure for fields composed with `start`. Returns `None` if too little of the images is foreground.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped)
    pub fn new(levels: &'a [Level], start: &DAffine3, intensities: [Intensities; 2]) -> Result<Option<Self>> {
        let Some(images) = images_for_checks(levels, intensities) else { return Ok(None) };
        let Some(foregrounds) = foregrounds(&images, |point| start.transform_point3(point))? else { return Ok(None) };
        Ok(Some(Self { images, foregrounds, start: *start }))
    }

    /// Returns the local contrast of two volumes on their own grids: resampled through the start, that of the moving one
    /// is blurred. Returns `None` for 2-D images, and if too little of the moving image is foreground.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped)
    pub fn on_own_grids(&self) -> Result<Option<Pair>> {
        let [fixed, moving] = &self.images;
        let flat = fixed.image.geometry.is_flat();
        if flat { Ok(None) } else { self.foregrounds.local_contrast_with(moving) }
    }

    /// Composes a field on a grid with the start. Its planes are in voxels.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped)
    pub fn composed(&self, planes: &[f32], grid: &Geometry) -> Result<Field> {
        let [maps, _] = vectors::maps([grid, grid], &self.start);
        let mut flow = cpu::flow_of(planes, grid.size, grid.spacing.to_array());
        Ok(Field { geometry: *grid, vectors: flow.vectors(&maps)? })
    }

    /// Measures the information through a field on a grid, nats beyond chance. Its planes are in voxels.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped)
    pub fn through(&self, planes: &[f32], grid: &Geometry) -> Result<f64> {
        let field = self.composed(planes, grid)?;
        let map = field.map();
        self.foregrounds.information(&moved(&self.images, |point| map.transform_point3(point))?)
    }
}

#[cfg(test)]
mod tests {
    use super::super::levels;
    use super::*;
    use crate::deform::Options;
    use crate::{PixelType, Silent, Volume};
    use glam::DVec3;

    #[test]
    fn contrasts_say_more_through_what_leads_structures_onto_each_other_and_less_through_what_leads_them_apart() {
        let geometry = Geometry::axis_aligned([40, 36, 32], DVec3::splat(2.0), DVec3::ZERO);
        let object =
            |x: f64, y: f64, z: f64| 50.0 + 20.0 * ((0.9 * x).sin() + (0.8 * y).cos() + (0.7 * z + 0.2 * x).sin());
        let shifted = |by: f64| {
            let voxel = |n: usize| {
                let [x, y, z] = geometry.index_of(n).map(|n| n as f64);
                object(x - by, y, z) as f32
            };
            Volume { geometry, voxels: (0..geometry.voxels()).map(voxel).collect(), pixel: PixelType::F32 }
        };
        let options = Options::default();
        let [fixed, moving] = [shifted(0.0), shifted(2.0)];
        let prepared = options.prepare(&fixed, &moving).unwrap();
        let levels = levels::levels(&prepared, &[2.0], &Silent).unwrap();
        let intensities = prepared[0].each_ref().map(|image| image.intensities);
        let nats = |start: f64, planes: &[f32]| {
            let start = DAffine3::from_translation(DVec3::new(start, 0.0, 0.0));
            ContrastInformation::new(&levels, &start, intensities).unwrap().unwrap().through(planes, &geometry).unwrap()
        };
        let number = geometry.voxels();
        let along = |by: fn(f32) -> f32| {
            let mut planes = vec![0.0; 3 * number];
            (0..number).for_each(|n| planes[n] = by((n % 40) as f32));
            planes
        };
        let still = along(|_| 0.0);
        for start in [0.0, 4.0] {
            assert!(nats(start, &along(|x| (2.5 * x).sin() * 0.4)) < nats(start, &still), "it bends for nothing");
        }
        assert!(nats(0.0, &along(|_| 2.0)) > 2.0 * nats(0.0, &still), "it leads to where the images agree");
        assert!(nats(4.0, &along(|_| 2.0)) < nats(4.0, &still) / 2.0, "it leads away");
    }
}
