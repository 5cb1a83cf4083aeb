//! Mattes's mutual information, compared with SimpleITK 2.5.7. ITK also uses samples up to half a voxel outside the
//! moving image's outermost voxel centres; here, all samples are between the centres.
//!
//! The expected values were printed by `tests/fixtures/mattes/itk.py`.

use crate::support::data_dir;
use glam::{DAffine3, DMat3, DVec3};
use libtest_mimic::{Failed, Trial};
use mireg::backend::{Backend, MattesImages, Windows, cpu::Cpu};
use mireg::image::voxel_map;
use mireg::{Geometry, PixelType, Volume, io};

pub fn tests() -> Vec<Trial> {
    vec![
        Trial::test("reference::itk::mattes of a formula", of_a_formula),
        Trial::test("reference::itk::mattes of a head", of_a_head).with_ignored_flag(data_dir().is_none()),
    ]
}

fn check(fixed: &Volume, moving: &Volume, bins: u32, transform: DAffine3, expected: f64) -> Result<(), Failed> {
    let images = MattesImages::new((fixed, fixed.range()), (moving, moving.range()), bins, Windows::Moving);
    let map = voxel_map(&fixed.geometry, &moving.geometry, &transform);
    let found = Cpu.load_mattes(images.pair())?.values(&[map])?[0];
    if found.overlap != fixed.voxels.len() as u64 {
        return Err(format!("{} samples", found.overlap).into());
    }
    if (found.mi / expected - 1.0).abs() > 1e-4 {
        return Err(format!("{bins} bins, {transform:?}: {}, not {expected}", found.mi).into());
    }
    Ok(())
}

fn turned(x: f64, y: f64, z: f64) -> DAffine3 {
    let rows = DMat3::from_cols_array(&[0.98, -0.1, 0.02, 0.09, 1.01, -0.05, -0.03, 0.06, 0.97]);
    DAffine3 { matrix3: rows.transpose(), translation: DVec3::new(x, y, z) }
}

fn moved(x: f64, y: f64, z: f64) -> DAffine3 {
    DAffine3::from_translation(DVec3::new(x, y, z))
}

/// Returns a cube of `size` voxels of 1 mm, the first at `first` along each axis. The voxels are computed in integers,
/// so that Python gets the same ones.
fn formula(size: usize, first: i64, moving: bool) -> Volume {
    let geometry = Geometry::axis_aligned([size; 3], DVec3::ONE, DVec3::splat(first as f64));
    let voxel = |i: usize| {
        let [x, y, z] = [i % size, i / size % size, i / size / size].map(|n| n as i64 + first);
        let q = (x - 11).pow(2) + 2 * (y - 13).pow(2) + 3 * (z - 9).pow(2);
        let noise = |levels| (x * 7919 + y * 104_729 + z * 1_299_709 + x * y * z * 31 + 1_000_000_000) % levels;
        (if moving { (q - 250).abs() * 3 / 2 + noise(19) } else { q * 5 / 4 + x * y / 3 + noise(13) }) as f32
    };
    Volume { geometry, voxels: (0..geometry.voxels()).map(voxel).collect(), pixel: PixelType::F32 }
}

fn of_a_formula() -> Result<(), Failed> {
    let (fixed, moving) = (formula(24, 0, false), formula(36, -6, true));
    check(&fixed, &moving, 50, DAffine3::IDENTITY, 1.0625808645549273)?;
    check(&fixed, &moving, 50, moved(0.3, -0.6, 2.4), 0.830087954935712)?;
    check(&fixed, &moving, 50, turned(1.3, -0.4, 0.6), 0.9920405873605243)?;
    check(&fixed, &moving, 20, turned(1.3, -0.4, 0.6), 0.5541399039111347)?;
    check(&fixed, &moving, 128, turned(1.3, -0.4, 0.6), 1.2029211505759676)
}

/// Returns the part of a volume between two corners.
fn part(volume: &Volume, from: [usize; 3], to: [usize; 3]) -> Volume {
    let corner = DVec3::from_array(from.map(|n| n as f64));
    let size = [0, 1, 2].map(|axis| to[axis] - from[axis]);
    let [width, height, _] = volume.geometry.size;
    let geometry =
        Geometry { size, origin: volume.geometry.index_to_world().transform_point3(corner), ..volume.geometry };
    let rows = (from[2]..to[2]).flat_map(|z| (from[1]..to[1]).map(move |y| width * (y + height * z)));
    let voxels = rows.flat_map(|row| volume.voxels[row + from[0]..row + to[0]].to_vec()).collect();
    Volume { geometry, voxels, pixel: volume.pixel }
}

fn of_a_head() -> Result<(), Failed> {
    let folder = data_dir().ok_or("no data")?.join("brainweb");
    let [t1, moving] = ["t1.mha", "t2.mha"].map(|name| io::read(&folder.join(name)));
    let (fixed, moving) = (part(&t1?, [30; 3], [150, 190, 150]), moving?);
    check(&fixed, &moving, 50, DAffine3::IDENTITY, 1.0027491397614023)?;
    check(&fixed, &moving, 50, moved(3.3, -2.7, 4.1), 0.23675282737499254)?;
    check(&fixed, &moving, 50, turned(9.3, -3.4, 1.6), 0.2555022506905863)
}
