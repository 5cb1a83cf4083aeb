//! Templates made through the library.

use crate::support::{CPU, trial};
use glam::DVec3;
use libtest_mimic::Trial;
use mireg::template::{Options, Template};
use mireg::{Geometry, PixelType, Result, Silent, Volume, deform};
use std::path::Path;

pub fn tests() -> Vec<Trial> {
    vec![trial("template::goes_on_with_the_same_mask_only", goes_on_with_the_same_mask_only)]
}

fn volume(voxel: impl Fn(usize) -> f32) -> Volume {
    let geometry = Geometry::axis_aligned([16; 3], DVec3::splat(2.0), DVec3::ZERO);
    Volume { geometry, voxels: (0..geometry.voxels()).map(voxel).collect(), pixel: PixelType::F32 }
}

fn make(images: &[Volume], mask: Volume, folder: &Path) -> Result<Template> {
    let levels = Some(vec![4.0]);
    let deform = deform::Options { fixed_mask: Some(mask), levels, smooth_mm: Some(4.0), ..Default::default() };
    CPU.template(images, &Options { rounds: 1, deform, grid: None }, folder, &mut |_, _| Ok(()), &Silent)
}

fn goes_on_with_the_same_mask_only() {
    let waves = |by: f32| {
        volume(move |n| {
            ((n % 16) as f32 * 0.7 + by).sin() + ((n / 16 % 16) as f32 * 0.5).cos() + (n / 256) as f32 * 0.1
        })
    };
    let images = [waves(0.0), waves(0.4)];
    let folder = tempfile::tempdir().unwrap();
    let resumed = |mask| make(&images, mask, folder.path()).unwrap().resumed;
    let mask = |end: f32| volume(|n| if n == 4095 { end } else { 1.0 });
    assert_eq!([resumed(mask(1.0)), resumed(mask(0.0))], [0; 2]);
    assert!(resumed(mask(1.0)) > 0);
}
