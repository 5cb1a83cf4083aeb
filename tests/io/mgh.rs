//! FreeSurfer's volumes: types, geometry, and comparison with nibabel.

use glam::{DMat3, DQuat, DVec3};
use libtest_mimic::Trial;
use mireg::{Geometry, PixelType, Volume, io};
use proptest::prelude::*;

use super::round_trip::{check, grid};
use super::{Folder, assert_lies, bits, fixture, gzip};
use crate::support::trial;

pub fn tests() -> Vec<Trial> {
    vec![
        trial("io::mgh::types", every_type_is_read),
        trial("io::mgh::geometry", the_middle_of_the_grid_is_where_the_header_says),
        trial("io::mgh::peer", what_nibabel_wrote_is_read),
        trial("io::mgh::round trip", geometry_is_kept),
        trial("io::mgh::written", types_that_it_lacks_become_others),
        trial("io::mgh::bad", what_cannot_be_is_refused),
    ]
}

/// A file, written field by field from FreeSurfer's description of the format.
#[derive(Clone)]
pub struct MghFile {
    pub version: i32,
    pub dims: [i32; 4],
    pub kind: i32,
    pub placed: bool,
    pub spacing: [f32; 3],
    /// The directions of i, j and k, RAS.
    pub axes: [[f32; 3]; 3],
    /// The position of the middle of the grid, RAS mm.
    pub centre: [f32; 3],
    pub voxels: Vec<u8>,
}

impl Default for MghFile {
    /// 4x5x6 voxels of uchar that count up, of 1x2x3 mm. i points to the left, j to the back, k up.
    fn default() -> Self {
        Self {
            version: 1,
            dims: [4, 5, 6, 1],
            kind: 0,
            placed: true,
            spacing: [1.0, 2.0, 3.0],
            axes: [[-1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0]],
            centre: [10.0, 20.0, 30.0],
            voxels: (0..120).collect(),
        }
    }
}

impl MghFile {
    pub fn bytes(&self) -> Vec<u8> {
        let numbers = [&[self.version][..], &self.dims, &[self.kind, 0]].concat();
        let places = [&self.spacing[..], self.axes.as_flattened(), &self.centre].concat();
        let mut bytes: Vec<u8> = numbers.into_iter().flat_map(i32::to_be_bytes).collect();
        bytes.extend(i16::from(self.placed).to_be_bytes());
        bytes.extend(places.into_iter().flat_map(f32::to_be_bytes));
        bytes.resize(284, 0);
        bytes.extend(&self.voxels);
        bytes
    }

    /// Returns the volume that is read from the file.
    fn read(&self) -> Volume {
        io::read(&Folder::new().file("a.mgh", self.bytes())).unwrap()
    }
}

fn every_type_is_read() {
    let folder = Folder::new();
    macro_rules! check {
        ($type:ty, $kind:expr, $pixel:expr) => {
            let voxels = (0..120u8).flat_map(|v| (<$type>::from(v) * 2 as $type).to_be_bytes()).collect();
            let file = MghFile { kind: $kind, voxels, ..MghFile::default() };
            // What follows the voxels, such as the repetition time, is not needed.
            let with_more = [file.bytes(), vec![7; 20]].concat();
            let files = [("a.mgh", file.bytes()), ("b.MGH", with_more.clone()), ("a.mgz", gzip(&with_more))];
            for (name, bytes) in
                files.into_iter().chain([("a.mgh.gz", gzip(&file.bytes())), ("plain.mgz", file.bytes())])
            {
                let volume = io::read(&folder.file(name, bytes)).unwrap();
                assert_eq!(volume.pixel, $pixel, "{name}");
                assert_eq!(volume.voxels, (0..120).map(|v| 2.0 * v as f32).collect::<Vec<_>>(), "{name}");
            }
        };
    }
    check!(u8, 0, PixelType::U8);
    check!(i32, 1, PixelType::I32);
    check!(f32, 3, PixelType::F32);
    check!(i16, 4, PixelType::I16);
    check!(u16, 10, PixelType::U16);
}

fn the_middle_of_the_grid_is_where_the_header_says() {
    let spacing = DVec3::new(1.0, 2.0, 3.0);
    // The middle is at index size / 2. LPS is RAS with x and y negated.
    let straight = MghFile::default().read();
    assert_lies(&straight, spacing, DVec3::new(-10.0 - 2.0, -20.0 - 5.0, 30.0 - 9.0), DMat3::IDENTITY, 1e-12);
    let nowhere = MghFile { placed: false, ..MghFile::default() }.read();
    let coronal = DMat3::from_cols(DVec3::X, DVec3::NEG_Z, DVec3::NEG_Y);
    assert_lies(&nowhere, DVec3::ONE, -(coronal * DVec3::new(2.0, 2.5, 3.0)), coronal, 1e-12);
    let turn = DMat3::from_quat(DQuat::from_xyzw(0.1, -0.2, 0.3, 0.9).normalize());
    let axes = [0, 1, 2].map(|n| turn.col(n).as_vec3().to_array());
    let oblique = MghFile { axes, ..MghFile::default() }.read();
    let lps = DMat3::from_diagonal(DVec3::new(-1.0, -1.0, 1.0));
    let origin = lps * (DVec3::new(10.0, 20.0, 30.0) - turn * DVec3::new(2.0, 5.0, 9.0));
    assert_lies(&oblique, spacing, origin, lps * turn, 1e-5);
}

/// nibabel 5.4 wrote it: `MGHImage(int16 0..360 of shape (4, 5, 6, 3), affine)`. The affine is its own, in RAS.
fn what_nibabel_wrote_is_read() {
    let path = fixture("oblique.mgz");
    let affine = [[1.5, 0.0, 0.0, -10.0], [0.0, 1.6, -1.5, 20.0], [0.0, 1.2, 2.0, 30.0]];
    let column = |n: usize| DVec3::from_array([-affine[0][n], -affine[1][n], affine[2][n]]);
    let direction = DMat3::from_cols(column(0) / 1.5, column(1) / 2.0, column(2) / 2.5);
    let options = io::ReadOptions { volume: Some(io::Select::Number(1)), ..Default::default() };
    let volume = io::read_with(&path, &options).unwrap().volume;
    assert_lies(&volume, DVec3::new(1.5, 2.0, 2.5), column(3), direction, 1e-5);
    // numpy counts along the last axis first.
    let value = |n: usize| (((n % 4 * 5 + n / 4 % 5) * 6 + n / 20) * 3 + 1) as f32;
    assert_eq!(volume.voxels, (0..120).map(value).collect::<Vec<_>>());
    assert_eq!((io::geometry(&path).unwrap(), volume.pixel), (volume.geometry, PixelType::I16));
}

fn geometry_is_kept() {
    let folder = Folder::new();
    let names = ["a.mgh", "a.mgz", "a.mgh.gz"].map(|name| folder.path(name));
    check(grid(), |geometry| {
        let voxels = (0..120).map(|v| v as f32).collect();
        let volume = Volume { geometry, voxels, pixel: PixelType::I16 };
        for name in &names {
            io::write(name, &volume).unwrap();
            let first = io::read(name).unwrap();
            prop_assert_eq!(&first.voxels, &volume.voxels);
            for (corner, exact) in first.geometry.corners().into_iter().zip(geometry.corners()) {
                prop_assert!(corner.abs_diff_eq(exact, 1e-4), "{} is not {}", corner, exact);
            }
            // It is rounded to f32 once, and not again.
            io::write(name, &first).unwrap();
            prop_assert_eq!(bits(&io::read(name).unwrap().geometry), bits(&first.geometry));
        }
        Ok(())
    });
}

fn types_that_it_lacks_become_others() {
    let folder = Folder::new();
    let path = folder.path("a.mgz");
    let geometry = Geometry::axis_aligned([2, 2, 2], DVec3::ONE, DVec3::ZERO);
    let voxels = vec![-3.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 100.0];
    for (pixel, written) in [
        (PixelType::U8, PixelType::U8),
        (PixelType::I8, PixelType::I16),
        (PixelType::U16, PixelType::U16),
        (PixelType::I16, PixelType::I16),
        (PixelType::U32, PixelType::F32),
        (PixelType::I32, PixelType::I32),
        (PixelType::U64, PixelType::F32),
        (PixelType::I64, PixelType::F32),
        (PixelType::F32, PixelType::F32),
        (PixelType::F64, PixelType::F32),
    ] {
        io::write(&path, &Volume { geometry, voxels: voxels.clone(), pixel }).unwrap();
        let back = io::read(&path).unwrap();
        let lowest = if matches!(pixel, PixelType::U8 | PixelType::U16) { 0.0 } else { -3.0 };
        assert_eq!((back.pixel, back.voxels[0], &back.voxels[1..]), (written, lowest, &voxels[1..]), "{pixel:?}");
    }
}

fn what_cannot_be_is_refused() {
    let folder = Folder::new();
    let plain = MghFile::default();
    let sheared = [[1.0, 0.0, 0.0], [0.6, 0.8, 0.0], [0.0, 0.0, 1.0]];
    for (file, words) in [
        (MghFile { version: 2, ..plain.clone() }, "does not start like a volume of FreeSurfer"),
        (MghFile { kind: 5, ..plain.clone() }, "of type 5, and mireg reads uchar, short, ushort, int and float"),
        (MghFile { dims: [4, 5, 7, 1], ..plain.clone() }, "claims 4x5x7 voxels (140 bytes)"),
        (MghFile { dims: [4, 5, 0, 1], ..plain.clone() }, "claims 4x5x0 voxels; each number must be positive"),
        (MghFile { dims: [4, 5, 6, 0], ..plain.clone() }, "claims 0 volumes"),
        (MghFile { dims: [4, 5, 3, 2], ..plain.clone() }, "has 2 volumes; extract one"),
        (MghFile { dims: [i32::MAX, i32::MAX, i32::MAX, 1], ..plain.clone() }, "more than the file can hold"),
        (MghFile { spacing: [1.0, 0.0, 1.0], ..plain.clone() }, "voxel size is 1, 0, 1 mm"),
        (MghFile { axes: sheared, ..plain.clone() }, "sheared or has no inverse"),
        (MghFile { centre: [f32::NAN; 3], ..plain.clone() }, "origin is (NaN, NaN, NaN)"),
    ] {
        let message = io::read(&folder.file("a.mgh", file.bytes())).unwrap_err().to_string();
        assert!(message.contains(words) && !message.contains('\n'), "{message}");
    }
}
