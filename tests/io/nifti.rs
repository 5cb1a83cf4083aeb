//! NIfTI: every type, byte order and version, and the geometry, compared with ITK's.

use glam::{DMat3, DVec3};
use libtest_mimic::Trial;
use mireg::{PixelType, io};

use super::nifti_file::NiftiFile;
use super::{Folder, assert_lies, gzip};
use crate::support::trial;

pub fn tests() -> Vec<Trial> {
    let mut tests = vec![
        trial("io::nifti::types", every_type_order_and_version),
        trial("io::nifti::scale", slope_and_intercept),
        trial("io::nifti::containers", gzip_members_and_pairs),
        trial("io::nifti::oblique qform", a_quaternion_turns_and_is_normalised),
        trial("io::nifti::short sform", the_voxel_size_gives_the_lengths),
        trial("io::nifti::sides", forms_that_mirror_each_other_are_noted),
    ];
    tests.extend(
        places().into_iter().map(|place| trial(format!("io::nifti::place {}", place.name), move || place.check())),
    );
    tests
}

/// A header, and where SimpleITK 2.4 (ITK 5.4) puts its voxels.
struct Place {
    name: &'static str,
    file: NiftiFile,
    spacing: [f64; 3],
    origin: [f64; 3],
    axes: [f64; 3],
}

impl Place {
    fn check(&self) {
        for (version, big_endian) in [(1, false), (1, true), (2, false), (2, true)] {
            let folder = Folder::new();
            let file = NiftiFile { version, big_endian, ..self.file.clone() };
            let volume = io::read(&folder.file("a.nii", file.bytes())).unwrap();
            let direction = DMat3::from_diagonal(self.axes.into());
            assert_lies(&volume, self.spacing.into(), self.origin.into(), direction, 1e-5);
        }
    }
}

fn places() -> Vec<Place> {
    let plain = NiftiFile::default();
    let with = |qform_code, sform_code| NiftiFile { qform_code, sform_code, ..plain.clone() };
    let sheared = [[1.0, 0.5, 0.0, 50.0], [0.0, 2.0, 0.0, 60.0], [0.0, 0.0, 3.0, 70.0]];
    let left_handed = [[-1.0, 0.0, 0.0, 50.0], [0.0, 2.0, 0.0, 60.0], [0.0, 0.0, 3.0, 70.0]];
    let scaled = |factor: f32, units| NiftiFile {
        pixdim: [1.0, 2.0, 3.0].map(|x| x * factor),
        sform: plain.sform.map(|row| row.map(|x| x * factor)),
        qoffset: [5.0, 6.0, 7.0].map(|x| x * factor),
        units,
        ..with(0, 1)
    };
    let spacing = [1.0, 2.0, 3.0];
    let place = |name, file, origin, axes| Place { name, file, spacing, origin, axes };
    let (by_qform, by_sform, ras) = ([-5.0, -6.0, 7.0], [-50.0, -60.0, 70.0], [-1.0, -1.0, 1.0]);
    vec![
        place("neither", with(0, 0), [0.0; 3], [1.0; 3]),
        place("negative codes", with(-1, -1), [0.0; 3], [1.0; 3]),
        place("qform", with(1, 0), by_qform, ras),
        place("sform", with(0, 1), by_sform, ras),
        place("sform of another code", with(0, 4), by_sform, ras),
        place("scanner sform wins", with(1, 1), by_sform, ras),
        place("qform wins over another", with(1, 2), by_qform, ras),
        place("qform wins over a sheared sform", NiftiFile { sform: sheared, ..with(1, 1) }, by_qform, ras),
        place("left-handed sform", NiftiFile { sform: left_handed, ..with(0, 1) }, by_sform, [1.0, -1.0, 1.0]),
        place("left-handed qform", NiftiFile { qfac: -1.0, ..with(1, 0) }, by_qform, [-1.0, -1.0, -1.0]),
        place("qfac 0 is 1", NiftiFile { qfac: 0.0, ..with(1, 0) }, by_qform, ras),
        place("half turn", NiftiFile { quaternion: [0.0, 0.0, 1.0], ..with(1, 0) }, by_qform, [1.0; 3]),
        place("metres", scaled(1e-3, 1), by_sform, ras),
        place("microns", scaled(1e3, 3), by_sform, ras),
        place("microns with a qform", NiftiFile { qform_code: 1, sform_code: 0, ..scaled(1e3, 3) }, by_qform, ras),
        place("trailing ones", NiftiFile { dim: vec![4, 5, 6, 1, 1], ..with(0, 1) }, by_sform, ras),
    ]
}

fn forms_that_mirror_each_other_are_noted() {
    let folder = Folder::new();
    let plain = NiftiFile { qform_code: 1, sform_code: 1, ..NiftiFile::default() };
    let [mut flipped, mut turned] = [plain.sform; 2];
    flipped[0][0] *= -1.0;
    [turned[0][0], turned[1][1]] = [-1.0, -2.0];
    let (volume, slice) = (vec![4, 5, 6], vec![4, 5, 1]);
    for (dim, sform, sform_code, qfac, noted) in [
        (&volume, plain.sform, 1, 1.0, false),
        (&volume, turned, 1, 1.0, false),
        (&volume, flipped, 1, 1.0, true),
        (&volume, plain.sform, 1, -1.0, true),
        (&volume, flipped, 2, 1.0, true),
        (&volume, flipped, 0, 1.0, false),
        (&slice, plain.sform, 1, -1.0, false),
    ] {
        let file = NiftiFile { dim: dim.clone(), sform, sform_code, qfac, ..plain.clone() };
        let file = folder.file("sides.nii", file.bytes());
        let notes = io::read_with(&file, &io::ReadOptions::default()).unwrap().notes;
        let about_sides = notes.iter().filter(|note| note.to_string().contains("which side is left")).count();
        assert_eq!(about_sides, usize::from(noted), "{dim:?}, {sform:?}, code {sform_code}, qfac {qfac}");
    }
}

fn a_quaternion_turns_and_is_normalised() {
    let folder = Folder::new();
    // Twice a half turn about x + y, too long; SimpleITK 2.4 reads the same.
    let file = NiftiFile { qform_code: 1, quaternion: [0.8, 0.8, 0.0], ..NiftiFile::default() };
    let volume = io::read(&folder.file("a.nii", file.bytes())).unwrap();
    let direction = DMat3::from_cols(DVec3::NEG_Y, DVec3::NEG_X, DVec3::NEG_Z);
    assert_lies(&volume, DVec3::new(1.0, 2.0, 3.0), DVec3::new(-5.0, -6.0, 7.0), direction, 1e-6);
    // A quarter turn about z: +x of RAS becomes +y.
    let file = NiftiFile { quaternion: [0.0, 0.0, 0.5f32.sqrt()], ..file };
    let volume = io::read(&folder.file("b.nii", file.bytes())).unwrap();
    let direction = DMat3::from_cols(DVec3::NEG_Y, DVec3::X, DVec3::Z);
    assert_lies(&volume, DVec3::new(1.0, 2.0, 3.0), DVec3::new(-5.0, -6.0, 7.0), direction, 1e-5);
}

fn the_voxel_size_gives_the_lengths() {
    let folder = Folder::new();
    let file = NiftiFile { sform_code: 1, pixdim: [1.001, 2.0, 3.0], ..NiftiFile::default() };
    let volume = io::read(&folder.file("a.nii", file.bytes())).unwrap();
    let direction = DMat3::from_diagonal(DVec3::new(-1.0, -1.0, 1.0));
    assert_lies(&volume, DVec3::new(1.001, 2.0, 3.0), DVec3::new(-50.0, -60.0, 70.0), direction, 1e-6);
}

fn every_type_order_and_version() {
    let folder = Folder::new();
    macro_rules! check {
        ($type:ty, $pixel:expr, $datatype:expr) => {
            let stored: [$type; 8] =
                [0 as $type, 1 as $type, 2 as $type, <$type>::MIN, 100 as $type, 3 as $type, 5 as $type, 99 as $type];
            for (version, big_endian) in [(1, false), (1, true), (2, false), (2, true)] {
                let bytes = |v: &$type| if big_endian { v.to_be_bytes() } else { v.to_le_bytes() };
                let voxels = stored.iter().flat_map(bytes).collect();
                let base = NiftiFile { version, big_endian, voxels, ..NiftiFile::default() };
                let file = NiftiFile { dim: vec![2, 2, 2], datatype: $datatype, ..base };
                let volume = io::read(&folder.file("a.nii", file.bytes())).unwrap();
                assert_eq!(volume.voxels, stored.map(|v| v as f32));
                assert_eq!((volume.pixel, volume.geometry.size), ($pixel, [2; 3]));
            }
        };
    }
    check!(u8, PixelType::U8, 2);
    check!(i8, PixelType::I8, 256);
    check!(u16, PixelType::U16, 512);
    check!(i16, PixelType::I16, 4);
    check!(u32, PixelType::U32, 768);
    check!(i32, PixelType::I32, 8);
    check!(u64, PixelType::U64, 1280);
    check!(i64, PixelType::I64, 1024);
    check!(f32, PixelType::F32, 16);
    // f64::MIN is beyond f32.
    let half = [0.5f64; 8].map(f64::to_le_bytes).concat();
    let file = NiftiFile { dim: vec![2, 2, 2], datatype: 64, voxels: half, ..NiftiFile::default() };
    let volume = io::read(&folder.file("a.nii", file.bytes())).unwrap();
    assert_eq!((volume.pixel, volume.voxels), (PixelType::F64, vec![0.5; 8]));
}

fn slope_and_intercept() {
    let folder = Folder::new();
    let read = |slope, intercept| {
        let file = NiftiFile { slope, intercept, ..NiftiFile::default() };
        let volume = io::read(&folder.file("a.nii", file.bytes())).unwrap();
        (volume.pixel, volume.voxels[3])
    };
    assert_eq!(read(0.5, 10.0), (PixelType::F32, 11.5));
    assert_eq!(read(1.0, -1.0), (PixelType::F32, 2.0));
    assert_eq!(read(1.0, 0.0), (PixelType::U8, 3.0));
    assert_eq!(read(0.0, 7.0), (PixelType::U8, 3.0));
    assert_eq!(read(f32::NAN, 7.0), (PixelType::U8, 3.0));
}

fn gzip_members_and_pairs() {
    let folder = Folder::new();
    let file = NiftiFile { sform_code: 1, ..NiftiFile::default() };
    let bytes = file.bytes();
    let plain = io::read(&folder.file("a.nii", &bytes)).unwrap();
    assert_eq!(plain.voxels, (0..120).map(|v| v as f32).collect::<Vec<_>>());
    let two_members = [gzip(&bytes[..400]), gzip(&bytes[400..])].concat();
    let padded = [gzip(&bytes), vec![0; 1000]].concat();
    for (name, bytes) in [
        ("b.nii.gz", gzip(&bytes)),
        ("c.nii", gzip(&bytes)),
        ("D.NII.GZ", two_members),
        ("e.nii.gz", padded),
        ("f.nii.gz", bytes),
    ] {
        assert_eq!(io::read(&folder.file(name, bytes)).unwrap(), plain, "{name}");
    }
    let pair = NiftiFile { pair: true, ..file };
    folder.file("p.img", &pair.voxels);
    folder.file("p.hdr", pair.header());
    for name in ["p.hdr", "p.img"] {
        assert_eq!(io::read(&folder.path(name)).unwrap(), plain, "{name}");
    }
}
