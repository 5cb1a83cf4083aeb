//! Written volumes are read back unchanged: geometry to the last bit, voxels as their type stores them.

use glam::{DMat3, DQuat, DVec3};
use libtest_mimic::Trial;
use mireg::{Geometry, PixelType, Volume, io};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::nifti_file::NiftiFile;
use super::{Folder, bits};
use crate::support::{PIXELS, trial};

pub fn tests() -> Vec<Trial> {
    vec![
        trial("io::round_trip::nifti geometry", nifti_geometry_is_kept),
        trial("io::round_trip::metaimage geometry", metaimage_geometry_is_kept),
        trial("io::round_trip::types", every_type_keeps_its_voxels),
        trial("io::round_trip::threads", threads_change_no_byte),
    ]
}

pub fn check<S: Strategy>(strategy: S, test: impl Fn(S::Value) -> Result<(), TestCaseError>) {
    let config = Config { cases: 200, failure_persistence: None, ..Config::default() };
    TestRunner::new(config).run(&strategy, test).unwrap();
}

pub fn rotation() -> impl Strategy<Value = DMat3> {
    let part = || -1.0..1.0f64;
    let turn = (part(), part(), part(), 0.1..1.0f64);
    let any = turn.prop_map(|(x, y, z, w)| DMat3::from_quat(DQuat::from_xyzw(x, y, z, w).normalize()));
    let signs = prop_oneof![Just(-1.0), Just(1.0)];
    let handed = (any, signs).prop_map(|(rotation, sign)| rotation * DMat3::from_diagonal(DVec3::new(1.0, 1.0, sign)));
    prop_oneof![1 => Just(DMat3::IDENTITY), 4 => handed]
}

pub fn vector(range: std::ops::Range<f64>) -> impl Strategy<Value = DVec3> {
    [range.clone(), range.clone(), range].prop_map(DVec3::from_array)
}

pub fn grid() -> impl Strategy<Value = Geometry> {
    (rotation(), vector(0.05..12.0), vector(-500.0..500.0)).prop_map(|(direction, spacing, origin)| Geometry {
        size: [4, 5, 6],
        spacing,
        origin,
        direction,
    })
}

/// Generates a header of either version with a qform, an sform, both or neither. Its voxel size is only approximately
/// that of the sform.
fn header() -> impl Strategy<Value = NiftiFile> {
    let codes = (prop_oneof![Just(0i16), Just(1), Just(2)], prop_oneof![Just(0i16), Just(1), Just(4)]);
    let loose = vector(-0.5..0.5).prop_map(|v| v * 1e-3);
    (grid(), codes, vector(-0.57..0.57), loose, 1..=2u8, any::<bool>(), 1..=3u8).prop_map(
        |(grid, (qform_code, sform_code), quaternion, loose, version, big_endian, units)| {
            let map = grid.index_to_world();
            let row = |n| map.matrix3.row(n).extend(map.translation[n]).as_vec4().to_array();
            let pixdim = (grid.spacing * (DVec3::ONE + loose)).as_vec3().to_array();
            let qfac = map.matrix3.determinant().signum() as f32;
            let quaternion = quaternion.as_vec3().to_array();
            let sform = [row(0), row(1), row(2)];
            let header =
                NiftiFile { version, big_endian, units, pixdim, qfac, quaternion, sform, ..NiftiFile::default() };
            NiftiFile { qform_code, sform_code, qoffset: sform.map(|row| row[3]), ..header }
        },
    )
}

fn nifti_geometry_is_kept() {
    let folder = Folder::new();
    let names = ["b.nii", "b.nii.gz", "b.mha", "b.mhd"].map(|name| folder.path(name));
    check(header(), |file| {
        let first = io::read(&folder.file("a.nii", file.bytes())).unwrap();
        for name in &names {
            io::write(name, &first).unwrap();
            let again = io::read(name).unwrap();
            prop_assert_eq!(bits(&again.geometry), bits(&first.geometry));
            prop_assert_eq!(&again, &first);
        }
        Ok(())
    });
}

fn metaimage_geometry_is_kept() {
    let folder = Folder::new();
    let [meta, nrrd, nifti, nifti_again] = ["a.mha", "a.nrrd", "a.nii", "b.nii"].map(|name| folder.path(name));
    check(grid(), |geometry| {
        let volume = Volume { geometry, voxels: vec![1.0; 120], pixel: PixelType::U8 };
        io::write(&meta, &volume).unwrap();
        prop_assert_eq!(bits(&io::read(&meta).unwrap().geometry), bits(&geometry));
        // NRRD keeps the steps, of which spacing and direction are the length and the direction.
        io::write(&nrrd, &volume).unwrap();
        for (corner, exact) in io::read(&nrrd).unwrap().geometry.corners().into_iter().zip(geometry.corners()) {
            prop_assert!(corner.abs_diff_eq(exact, 1e-12), "{} is not {}", corner, exact);
        }
        // NIfTI rounds to f32 at the first writing. A second round trip changes nothing.
        io::write(&nifti, &volume).unwrap();
        let rounded = io::read(&nifti).unwrap();
        for (corner, exact) in rounded.geometry.corners().into_iter().zip(geometry.corners()) {
            prop_assert!(corner.abs_diff_eq(exact, 1e-4), "{} is not {}", corner, exact);
        }
        io::write(&nifti_again, &rounded).unwrap();
        prop_assert_eq!(bits(&io::read(&nifti_again).unwrap().geometry), bits(&rounded.geometry));
        // The written qform agrees with the sform, to the precision of a quaternion near a half turn in f32.
        let extent = geometry.corners()[0].distance(geometry.corners()[7]);
        let mut qform_only = std::fs::read(&nifti).unwrap();
        qform_only[254] = 0;
        let by_qform = io::read(&folder.file("q.nii", qform_only)).unwrap();
        for (corner, exact) in by_qform.geometry.corners().into_iter().zip(geometry.corners()) {
            prop_assert!(corner.distance(exact) < 1e-3 * extent, "qform: {} is not {}", corner, exact);
        }
        Ok(())
    });
}

fn every_type_keeps_its_voxels() {
    let folder = Folder::new();
    let geometry = Geometry::axis_aligned([7, 3, 2], DVec3::ONE, DVec3::ZERO);
    let voxels: Vec<f32> = (0..42).map(|v| v as f32 * 3.0).collect();
    for pixel in PIXELS {
        let volume = Volume { geometry, voxels: voxels.clone(), pixel };
        for name in ["a.nii", "a.nii.gz", "a.mha", "a.mhd", "a.nrrd"] {
            io::write(&folder.path(name), &volume).unwrap();
            assert_eq!(io::read(&folder.path(name)).unwrap(), volume, "{name} of {pixel:?}");
        }
    }
    let [mut fractions, mut rounded] = [voxels.clone(), voxels];
    fractions[..4].copy_from_slice(&[0.5, 1.5, -3.0, 1e9]);
    rounded[..4].copy_from_slice(&[0.0, 2.0, 0.0, 255.0]);
    io::write(&folder.path("r.nii"), &Volume { geometry, voxels: fractions, pixel: PixelType::U8 }).unwrap();
    assert_eq!(io::read(&folder.path("r.nii")).unwrap().voxels, rounded);
}

fn threads_change_no_byte() {
    let folder = Folder::new();
    let geometry = Geometry::axis_aligned([100, 100, 90], DVec3::ONE, DVec3::ZERO);
    let voxels = (0..900_000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as f32).collect();
    let volume = Volume { geometry, voxels, pixel: PixelType::I16 };
    for name in ["a.nii.gz", "a.mha", "a.nrrd", "a.mgz"] {
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| io::write(&folder.path(name), &volume)).unwrap();
            std::fs::read(folder.path(name)).unwrap()
        };
        assert!(with(1) == with(3), "{name}");
    }
}
