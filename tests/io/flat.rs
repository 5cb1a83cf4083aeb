//! 2-D images in volume formats: read as one slice in x and y, and written with two dimensions.

use glam::{DMat3, DVec2, DVec3};
use libtest_mimic::Trial;
use mireg::{Geometry, PixelType, Volume, io};

use super::nifti_file::NiftiFile;
use super::{Folder, assert_lies, fixture};
use crate::support::trial;

pub fn tests() -> Vec<Trial> {
    vec![
        trial("io::flat::peer", what_simpleitk_wrote_is_read),
        trial("io::flat::round trip", what_is_written_is_read_back),
        trial("io::flat::slice", a_slice_of_a_volume_is_a_2d_image),
        trial("io::flat::nifti", nifti_may_leave_out_the_third_axis),
        trial("io::flat::written", written_files_have_two_dimensions),
    ]
}

/// 6x5 pixels that count up, turned and mirrored in the plane.
fn image(pixel: PixelType) -> Volume {
    let direction = DMat3::from_cols(DVec3::new(0.6, 0.8, 0.0), DVec3::new(0.8, -0.6, 0.0), DVec3::Z);
    let geometry = Geometry {
        size: [6, 5, 1],
        spacing: DVec3::new(0.5, 2.0, 1.0),
        origin: DVec3::new(10.0, -20.0, 0.0),
        direction,
    };
    Volume { geometry, voxels: (0..30).map(|v| v as f32).collect(), pixel }
}

/// SimpleITK 2.5 wrote them, from an image of direction (0.6, -0.8; 0.8, 0.6).
fn what_simpleitk_wrote_is_read() {
    for name in ["flat.nrrd", "flat.mha", "flat.nii"] {
        let volume = io::read(&fixture(name)).unwrap();
        let direction = DMat3::from_cols(DVec3::new(0.6, 0.8, 0.0), DVec3::new(-0.8, 0.6, 0.0), DVec3::Z);
        assert_lies(&volume, DVec3::new(0.5, 2.0, 1.0), DVec3::new(10.0, -20.0, 0.0), direction, 1e-6);
        let value = |n: usize| (n % 6 + 10 * (n / 6)) as f32 - 20.0;
        assert_eq!(volume.voxels, (0..30).map(value).collect::<Vec<_>>(), "{name}");
        assert_eq!((volume.geometry.size, volume.pixel), ([6, 5, 1], PixelType::F32));
    }
}

fn what_is_written_is_read_back() {
    let folder = Folder::new();
    for (name, tolerance) in [("a.nii", 1e-6), ("a.nii.gz", 1e-6), ("a.mha", 0.0), ("a.mhd", 0.0), ("a.nrrd", 1e-14)] {
        for pixel in [PixelType::U8, PixelType::I16, PixelType::F32] {
            let volume = image(pixel);
            io::write(&folder.path(name), &volume).unwrap();
            let back = io::read(&folder.path(name)).unwrap();
            let g = volume.geometry;
            assert_lies(&back, g.spacing, g.origin, g.direction, tolerance);
            assert_eq!((back.geometry.size, &back.voxels, back.pixel), (g.size, &volume.voxels, pixel), "{name}");
            let [k, z] =
                [back.geometry.direction.z_axis, DVec3::new(0.0, back.geometry.spacing.z, back.geometry.origin.z)];
            assert_eq!((k, z), (DVec3::Z, DVec3::new(0.0, 1.0, 0.0)), "{name}");
        }
    }
}

fn a_slice_of_a_volume_is_a_2d_image() {
    let folder = Folder::new();
    let header = "NDims = 3\nDimSize = 4 5 1\nElementSpacing = 1 2 7\nOffset = 1 2 3\n\
                  TransformMatrix = 0 1 0 1 0 0 0 0 -1\nElementType = MET_UCHAR\nElementDataFile = LOCAL\n";
    let meta = folder.file("a.mha", [header.as_bytes(), &[1; 20]].concat());
    let header = "NRRD0004\ntype: uchar\ndimension: 3\nsizes: 4 5 1\nspace: LPS\nspace directions: (0,1,0) (2,0,0) (0,0,-7)\n\
                  space origin: (1,2,3)\nencoding: raw\n\n";
    let nrrd = folder.file("a.nrrd", [header.as_bytes(), &[1; 20]].concat());
    for path in [meta, nrrd] {
        let geometry = io::read(&path).unwrap().geometry;
        assert_eq!((geometry.size, geometry.spacing), ([4, 5, 1], DVec3::new(1.0, 2.0, 1.0)));
        assert_eq!(geometry.origin, DVec3::new(1.0, 2.0, 0.0));
        assert_eq!(geometry.direction, DMat3::from_cols(DVec3::Y, DVec3::X, DVec3::Z));
    }
}

fn nifti_may_leave_out_the_third_axis() {
    let flat = NiftiFile { dim: vec![4, 30], pixdim: [1.0, 2.0, 0.0], ..NiftiFile::default() };
    let with_form = NiftiFile { sform_code: 1, ..flat.clone() };
    let folder = Folder::new();
    for (file, origin) in [(flat, DVec2::ZERO), (with_form, DVec2::new(-50.0, -60.0))] {
        let geometry = io::read(&folder.file("a.nii", file.bytes())).unwrap().geometry;
        assert_eq!((geometry.size, geometry.spacing), ([4, 30, 1], DVec3::new(1.0, 2.0, 1.0)));
        assert_eq!(geometry.origin, origin.extend(0.0));
    }
}

fn written_files_have_two_dimensions() {
    let folder = Folder::new();
    let start = |name: &str| {
        io::write(&folder.path(name), &image(PixelType::U8)).unwrap();
        std::fs::read(folder.path(name)).unwrap()
    };
    assert_eq!(start("a.nii")[40..48], [2, 0, 6, 0, 5, 0, 1, 0]);
    let [meta, nrrd] = ["a.mha", "a.nrrd"].map(|name| String::from_utf8_lossy(&start(name)).into_owned());
    assert!(
        meta.contains("NDims = 2\n") && meta.contains("TransformMatrix = 0.6 0.8 0.8 -0.6\nOffset = 10 -20\n"),
        "{meta}"
    );
    assert!(nrrd.contains("dimension: 2\nsizes: 6 5\nspace dimension: 2\n"), "{nrrd}");
}
