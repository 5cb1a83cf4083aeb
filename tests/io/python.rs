//! Exchange of images between mireg, nibabel and SimpleITK, which `python.py` calls. Ignored unless `MIREG_PYTHON`
//! names a Python that has them.

use std::path::Path;
use std::process::Command;

use glam::{DMat3, DQuat, DVec3};
use libtest_mimic::Trial;
use mireg::io::{self, ReadOptions, Select};
use mireg::{Geometry, PixelType, Volume};

use super::Folder;
use crate::support::{python, trial};

pub fn tests() -> Vec<Trial> {
    let tests = vec![
        trial("io::python::written by peers", what_peers_write_is_read),
        trial("io::python::read by peers", peers_read_what_mireg_writes),
    ];
    tests.into_iter().map(|test| test.with_ignored_flag(python().is_none())).collect()
}

/// A file as another program reads it.
struct Known {
    name: String,
    /// The volume that was selected.
    volume: Option<Select>,
    pixel: String,
    /// The directions of i, j and k, LPS mm, and the position of the first voxel.
    axes: DMat3,
    origin: DVec3,
    /// The voxels, the first axis fastest.
    voxels: Vec<f32>,
}

/// Runs the script in `folder`. It prints a line per file: name, volume, type, the rows of the map from index to LPS mm, and the voxels.
fn peers(what: &str, folder: &Folder) -> Vec<Known> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/io/python.py");
    let output = Command::new(python().unwrap()).arg(script).arg(what).arg(folder.path("")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let line = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let numbers: Vec<f64> = words[3..].iter().map(|word| word.parse().unwrap()).collect();
        let (rows, voxels) = numbers.split_at(12);
        let column = |n: usize| DVec3::new(rows[n], rows[4 + n], rows[8 + n]);
        Known {
            name: words[0].into(),
            volume: words[1].parse().ok(),
            pixel: words[2].into(),
            axes: DMat3::from_cols(column(0), column(1), column(2)),
            origin: column(3),
            voxels: voxels.iter().map(|&v| v as f32).collect(),
        }
    };
    String::from_utf8(output.stdout).unwrap().lines().map(line).collect()
}

impl Known {
    fn assert_is(&self, volume: &Volume) {
        let Self { name, pixel, axes, origin, voxels, .. } = self;
        let map = volume.geometry.index_to_world();
        assert!(map.matrix3.abs_diff_eq(*axes, 1e-5), "{name}: {} is not {axes}", map.matrix3);
        assert!(map.translation.abs_diff_eq(*origin, 1e-4), "{name}: {} is not {origin}", map.translation);
        assert_eq!(&volume.voxels, voxels, "{name}");
        let same = match volume.pixel {
            PixelType::U8 => "uint8",
            PixelType::I16 => "int16",
            PixelType::U16 => "uint16",
            PixelType::I32 => "int32",
            PixelType::F32 => "float32",
            _ => "another",
        };
        assert_eq!(same, pixel, "{name}");
    }
}

fn what_peers_write_is_read() {
    let folder = Folder::new();
    let files = peers("write", &folder);
    assert_eq!(files.len(), 22);
    for known in files {
        let options = ReadOptions { volume: known.volume, ..ReadOptions::default() };
        let image = io::read_with(&folder.path(&known.name), &options).unwrap();
        known.assert_is(&image.volume);
    }
}

fn peers_read_what_mireg_writes() {
    let folder = Folder::new();
    let direction = DMat3::from_quat(DQuat::from_xyzw(0.3, -0.1, 0.2, 0.9).normalize());
    let geometry = Geometry {
        size: [4, 5, 6],
        spacing: DVec3::new(0.8, 1.5, 2.5),
        origin: DVec3::new(-30.0, 41.0, 7.5),
        direction,
    };
    let mut written = Vec::new();
    for pixel in [PixelType::U8, PixelType::I16, PixelType::U16, PixelType::I32, PixelType::F32] {
        for end in ["mgh", "mgz"] {
            let name = format!("{pixel:?}.{end}");
            let volume = Volume { geometry, voxels: (0..120).map(|v| v as f32).collect(), pixel };
            io::write(&folder.path(&name), &volume).unwrap();
            written.push((name, volume));
        }
    }
    let read = peers("read", &folder);
    assert_eq!(read.len(), written.len());
    for known in read {
        let (_, volume) = written.iter().find(|(name, _)| *name == known.name).unwrap();
        known.assert_is(volume);
    }
}
