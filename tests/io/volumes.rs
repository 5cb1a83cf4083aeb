//! 4-D images: which volume is read, from every layout, and how much memory that takes.

use std::path::Path;

use libtest_mimic::Trial;
use mireg::io::{self, Image, ReadOptions, Role, Select};
use mireg::{PixelType, Result};

use super::damage::largest_allocation;
use super::mgh::MghFile;
use super::nifti_file::NiftiFile;
use super::{Folder, gzip};
use crate::support::trial;

pub fn tests() -> Vec<Trial> {
    vec![
        trial("io::volumes::one", one_is_read_from_every_layout),
        trial("io::volumes::mean", the_mean_is_rounded_once),
        trial("io::volumes::notes", what_was_taken_is_said),
        trial("io::volumes::refused", without_a_choice_the_option_is_named),
        trial("io::volumes::grid", the_grid_needs_no_choice),
        trial("io::volumes::memory", only_what_is_asked_for_is_kept),
        trial("io::volumes::names", words_for_volumes),
    ]
}

const VOXELS: usize = 24;
const VOLUMES: usize = 3;

/// Returns the value of a voxel: volume `n` has 100 n, 100 n + 1, ..., and the first voxel of the last volume is 2
/// more.
fn value(volume: usize, voxel: usize) -> i16 {
    (100 * volume + voxel) as i16 + if (volume, voxel) == (VOLUMES - 1, 0) { 2 } else { 0 }
}

fn expected(volume: usize) -> Vec<f32> {
    (0..VOXELS).map(|voxel| value(volume, voxel).into()).collect()
}

/// All volumes of 2x3x4 voxels, one after the other.
fn planes() -> Vec<i16> {
    (0..VOLUMES).flat_map(|volume| (0..VOXELS).map(move |voxel| value(volume, voxel))).collect()
}

fn bytes(numbers: &[i16]) -> Vec<u8> {
    numbers.iter().flat_map(|n| n.to_le_bytes()).collect()
}

/// Writes the same image in every format and layout.
fn files(folder: &Folder) {
    let beside: Vec<i16> = (0..VOXELS).flat_map(|voxel| (0..VOLUMES).map(move |volume| value(volume, voxel))).collect();
    let (planes, beside) = (planes(), beside);
    let nifti = NiftiFile { dim: vec![2, 3, 4, 3], datatype: 4, voxels: bytes(&planes), ..NiftiFile::default() };
    folder.file("a.nii", nifti.bytes());
    folder.file("a.nii.gz", gzip(&nifti.bytes()));
    folder.file("fifth.nii", NiftiFile { dim: vec![2, 3, 4, 1, 3], version: 2, ..nifti }.bytes());
    let header = "NDims = 4\nDimSize = 2 3 4 3\nElementSpacing = 1 2 3 4\nOffset = 0 0 0 9\nElementType = MET_SHORT\n";
    folder.file("a.mha", [format!("{header}ElementDataFile = LOCAL\n").as_bytes(), &bytes(&planes)].concat());
    folder.file("a.raw", bytes(&planes));
    folder.file("a.mhd", format!("{header}ElementDataFile = a.raw\n"));
    let nrrd = |name: &str, fields: &str, data: &[u8]| {
        let header = format!("NRRD0004\ntype: short\ndimension: 4\nendian: little\n{fields}\n\n");
        folder.file(name, [header.as_bytes(), data].concat());
    };
    let text = planes.iter().map(i16::to_string).collect::<Vec<_>>().join(" ");
    let text_beside = beside.iter().map(i16::to_string).collect::<Vec<_>>().join("\n");
    nrrd("plain.nrrd", "sizes: 2 3 4 3\nspacings: 1 2 3 nan\nencoding: gzip", &gzip(&bytes(&planes)));
    nrrd("last.nrrd", "sizes: 2 3 4 3\nkinds: domain domain domain list\nencoding: raw", &bytes(&planes));
    nrrd("time.nrrd", "sizes: 3 2 3 4\nkinds: time domain domain domain\nencoding: raw", &bytes(&beside));
    let slicer = "space: left-posterior-superior\nspace directions: none (1,0,0) (0,2,0) (0,0,3)";
    nrrd(
        "list.nrrd",
        &format!("sizes: 3 2 3 4\nkinds: list domain domain domain\n{slicer}\nencoding: raw"),
        &bytes(&beside),
    );
    nrrd("text.nrrd", "sizes: 2 3 4 3\nencoding: ascii", text.as_bytes());
    nrrd("text_list.nrrd", "sizes: 3 2 3 4\nkinds: list domain domain domain\nencoding: ascii", text_beside.as_bytes());
    // As SimpleITK 2.5 writes four dimensions.
    let itk = "space dimension: 4\nspace directions: (1,0,0,0) (0,2,0,0) (0,0,3,0) (0,0,0,4)\nspace origin: (0,0,0,9)";
    nrrd(
        "itk.nrrd",
        &format!("sizes: 2 3 4 3\nkinds: domain domain domain domain\n{itk}\nencoding: raw"),
        &bytes(&planes),
    );
    let mgh = MghFile {
        dims: [2, 3, 4, 3],
        kind: 4,
        voxels: planes.iter().flat_map(|n| n.to_be_bytes()).collect(),
        ..MghFile::default()
    };
    folder.file("a.mgh", mgh.bytes());
    folder.file("a.mgz", gzip(&mgh.bytes()));
}

fn read(path: &Path, volume: Option<Select>) -> Result<Image> {
    io::read_with(path, &ReadOptions { role: Role::Moving, volume, ..ReadOptions::default() })
}

/// Calls `test` for every file in the folder that is not part of another.
fn each(folder: &Folder, test: impl Fn(&str, &Path)) {
    let names: Vec<String> = folder.names().into_iter().filter(|name| name != "a.raw").collect();
    assert_eq!(names.len(), 14);
    names.iter().for_each(|name| test(name, &folder.path(name)));
}

fn one_is_read_from_every_layout() {
    let folder = Folder::new();
    files(&folder);
    each(&folder, |name, path| {
        for n in 0..VOLUMES {
            let volume = read(path, Some(Select::Number(n))).unwrap().volume;
            assert_eq!((volume.voxels, volume.pixel), (expected(n), PixelType::I16), "{name}, volume {n}");
        }
    });
}

fn the_mean_is_rounded_once() {
    let folder = Folder::new();
    files(&folder);
    let mean = |voxel: usize| (0..VOLUMES).map(|n| f64::from(value(n, voxel))).sum::<f64>() / VOLUMES as f64;
    let means: Vec<f32> = (0..VOXELS).map(|voxel| mean(voxel) as f32).collect();
    each(&folder, |name, path| {
        let volume = read(path, Some(Select::Mean)).unwrap().volume;
        assert_eq!((&volume.voxels, volume.pixel), (&means, PixelType::F32), "{name}");
    });
    // Added one by one to 2^24 in f32, the ones would be lost.
    let voxels = [16_777_216.0f32, 1.0, 1.0].map(|v| [v; 4]).as_flattened().to_vec();
    let voxels = voxels.iter().flat_map(|v| v.to_le_bytes()).collect();
    let file = NiftiFile { dim: vec![2, 2, 1, 3], datatype: 16, voxels, ..NiftiFile::default() };
    let volume = read(&folder.file("large.nii", file.bytes()), Some(Select::Mean)).unwrap().volume;
    assert_eq!(volume.voxels, [(16_777_218.0f64 / 3.0) as f32; 4]);
}

fn what_was_taken_is_said() {
    let folder = Folder::new();
    files(&folder);
    let said = |name: &str, volume| {
        let notes = read(&folder.path(name), volume).unwrap().notes;
        notes.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(said("a.nii.gz", Some(Select::Number(2))), ["volume 2 of 0 to 2 was taken"]);
    assert_eq!(said("list.nrrd", Some(Select::Mean)), ["the mean of its 3 volumes was taken"]);
    let plain = NiftiFile::default();
    folder.file("plain.nii", plain.bytes());
    for volume in [None, Some(Select::Number(0)), Some(Select::Mean)] {
        assert!(said("plain.nii", volume).is_empty());
        let image = read(&folder.path("plain.nii"), volume).unwrap().volume;
        assert_eq!((image.voxels.len(), image.pixel), (120, PixelType::U8));
    }
}

fn without_a_choice_the_option_is_named() {
    let folder = Folder::new();
    files(&folder);
    let refused = |path: &Path, volume| {
        let message = read(path, volume).unwrap_err().to_string();
        message.trim_start_matches(&format!("{}: ", path.display())).to_owned()
    };
    each(&folder, |name, path| {
        assert_eq!(refused(path, None), "has 3 volumes; choose one with `moving_volume` 0 to 2, or mean", "{name}");
        let missing = "has 3 volumes, and none of number 3; choose one with `moving_volume` 0 to 2, or mean";
        assert_eq!(refused(path, Some(Select::Number(3))), missing, "{name}");
        assert!(io::read(path).unwrap_err().to_string().contains("has 3 volumes; extract one"), "{name}");
    });
    let plain = folder.file("plain.nii", NiftiFile::default().bytes());
    let one = "has one volume, and none of number 1; leave out `moving_volume`";
    assert_eq!(refused(&plain, Some(Select::Number(1))), one);
    let picture = super::fixture("flat.png");
    assert_eq!(refused(&picture, Some(Select::Number(1))), one);
    assert!(read(&picture, Some(Select::Number(0))).is_ok());
    let dicom = super::fixture("dicom");
    assert_eq!(refused(&dicom, Some(Select::Number(1))), one);
}

fn the_grid_needs_no_choice() {
    let folder = Folder::new();
    files(&folder);
    each(&folder, |name, path| {
        let volume = read(path, Some(Select::Mean)).unwrap().volume;
        assert_eq!(io::geometry(path).unwrap(), volume.geometry, "{name}");
        assert_eq!(volume.geometry.size, [2, 3, 4], "{name}");
    });
}

/// 60 volumes of 64 KiB voxels each.
fn only_what_is_asked_for_is_kept() {
    let folder = Folder::new();
    const SIDE: usize = 32;
    const MANY: usize = 60;
    let voxels: Vec<u8> = (0..SIDE * SIDE * SIDE * MANY).flat_map(|n| ((n % 251) as f32).to_le_bytes()).collect();
    let side = SIDE as i64;
    let file = NiftiFile { dim: vec![side, side, side, MANY as i64], datatype: 16, voxels, ..NiftiFile::default() };
    let beside = format!("NRRD0004\ntype: float\ndimension: 4\nsizes: {MANY} {SIDE} {SIDE} {SIDE}\nendian: little\n");
    let beside = format!("{beside}kinds: list domain domain domain\nencoding: raw\n\n");
    folder.file("a.nii", file.bytes());
    folder.file("a.nii.gz", gzip(&file.bytes()));
    folder.file("a.nrrd", [beside.as_bytes(), &file.voxels].concat());
    for (name, volume, each) in [
        ("a.nii", Select::Number(59), 4),
        ("a.nii", Select::Mean, 8),
        ("a.nii.gz", Select::Number(30), 4),
        ("a.nii.gz", Select::Mean, 8),
        ("a.nrrd", Select::Number(1), 4),
        ("a.nrrd", Select::Mean, 4),
    ] {
        let (read, largest) = largest_allocation(|| read(&folder.path(name), Some(volume)));
        let volume = read.unwrap().volume;
        assert_eq!(volume.voxels.len(), SIDE.pow(3));
        // A part of the file is decoded at a time.
        let most = (each * SIDE.pow(3)).max(1 << 19);
        assert!(largest <= most, "{name}: {largest} bytes at once, and {most} are enough");
    }
}

fn words_for_volumes() {
    assert_eq!(["0", "175", "mean"].map(str::parse), [Select::Number(0), Select::Number(175), Select::Mean].map(Ok));
    for wrong in ["", "-1", "1.5", "Mean", "first"] {
        assert_eq!(wrong.parse::<Select>(), Err("a number from 0, or mean, is possible".into()));
    }
}
