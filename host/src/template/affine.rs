//! The affine step of a template: registers the images to the first one, and centres the transforms about their mean.

use super::checkpoints::Checkpoints;
use crate::backend::Backend;
use crate::doubt::{Check, Doubt};
use crate::observer::ask_observer;
use crate::registration::{self, register};
use crate::transform::{Dimension, Kind, Linear, nearest};
use crate::{Observer, Result, Volume};
use glam::{DAffine3, DMat3, DVec3};

/// The affine transforms of the images about their mean.
pub struct Places {
    /// For each image, the map from points of the mean to points of the image.
    pub affine: Vec<Linear>,
    /// The rotation and translation of each of these maps.
    pub rigid: Vec<DAffine3>,
    pub doubts: Vec<Doubt>,
}

/// Registers all images to the first one, and removes the mean of the transforms.
pub fn places(
    images: &[Volume],
    checkpoints: &Checkpoints,
    backend: &dyn Backend,
    observer: &dyn Observer,
) -> Result<Places> {
    let dimension = Dimension::of(&images[0].geometry);
    let centre = images[0].geometry.centre();
    let mut found = vec![DAffine3::IDENTITY];
    let mut doubts = Vec::new();
    for (number, image) in images.iter().enumerate().skip(1) {
        ask_observer(observer)?;
        observer.stage(&format!("affine registration of image {} of {}", number + 1, images.len()));
        let (linear, trusted) = checkpoints.affine(number, || {
            let options = registration::Options { dof: Kind::Affine, moved: false, ..Default::default() };
            let found = register(&images[0], image, &options, backend, observer)?;
            let none = Linear::identity(Kind::Affine, dimension, centre);
            Ok((if found.trusted() { found.transform.clone() } else { none }, found.trusted()))
        })?;
        if !trusted {
            let text = format!(
                "the affine registration of image {} to the first one failed its checks: it starts from the alignment of its header",
                number + 1
            );
            doubts.push(Doubt::grave(Check::Start, text));
        }
        found.push(linear.to_affine());
    }
    let (affine, rigid) = about_the_mean(&found, centre);
    let linear = |map: &DAffine3| Linear::new(Kind::Affine, dimension, centre, map);
    Ok(Places { affine: affine.iter().map(linear).collect(), rigid, doubts })
}

/// Turns maps from a common point to points of several images into maps from the mean of all images. Also returns the
/// rotation and translation of each.
///
/// Without their rigid parts, the resulting maps have the identity as their mean. The mean that is removed is that of
/// the shapes and sizes, of the rotations, and of the points to which the centre goes.
fn about_the_mean(maps: &[DAffine3], centre: DVec3) -> (Vec<DAffine3>, Vec<DAffine3>) {
    let part = 1.0 / maps.len() as f64;
    let rigid = |rotation: DMat3, there: DVec3| DAffine3::from_mat3_translation(rotation, there - rotation * centre);
    let rigids: Vec<_> = maps.iter().map(|map| rigid(nearest(&map.matrix3), map.transform_point3(centre))).collect();
    let mean = |all: &dyn Fn(usize) -> DMat3| (0..maps.len()).fold(DMat3::ZERO, |sum, n| sum + all(n)) * part;
    let place = maps.iter().map(|map| map.transform_point3(centre)).sum::<DVec3>() * part;
    let mean_rigid = rigid(nearest(&mean(&|n| rigids[n].matrix3)), place);
    // Without their rigid parts the maps leave the centre in place, so the mean of the matrices is that of the maps.
    let mean_shape = mean(&|n| rigids[n].matrix3.transpose() * maps[n].matrix3);
    let to_mean = (mean_rigid * rigid(mean_shape, centre)).inverse();
    (maps.iter().map(|map| *map * to_mean).collect(), rigids.iter().map(|map| *map * mean_rigid.inverse()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn about_the_mean_no_map_is_preferred() {
        let turned = |angle: f64, scale: f64, shift: f64| {
            let turn = DAffine3::from_rotation_x(angle) * DAffine3::from_rotation_z(-angle);
            turn * DAffine3::from_scale(DVec3::new(scale, 1.0, 1.0 / scale))
                * DAffine3::from_translation(DVec3::X * shift)
        };
        let maps = [DAffine3::IDENTITY, turned(0.2, 1.1, 5.0), turned(-0.4, 0.95, -30.0)];
        let centre = DVec3::new(10.0, -20.0, 30.0);
        let (affine, rigid) = about_the_mean(&maps, centre);
        for point in [DVec3::ZERO, DVec3::new(90.0, -50.0, 70.0)] {
            let shapes = affine
                .iter()
                .zip(&rigid)
                .map(|(map, rigid)| rigid.inverse().transform_point3(map.transform_point3(point)));
            assert!((shapes.sum::<DVec3>() / 3.0).distance(point) < 1e-9);
        }
        // The images keep their places relative to each other.
        let between = |maps: &[DAffine3]| maps[2] * maps[1].inverse();
        assert!(between(&affine).abs_diff_eq(between(&maps), 1e-9));
        let turns: DMat3 = rigid.iter().fold(DMat3::ZERO, |sum, map| sum + map.matrix3) * (1.0 / 3.0);
        assert!(nearest(&turns).abs_diff_eq(DMat3::IDENTITY, 0.02), "{turns}");
    }
}
