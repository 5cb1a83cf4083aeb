//! PNG, JPEG and TIFF: grey values, colours, and what the formats cannot store.

use std::path::Path;

use glam::DVec3;
use image::{DynamicImage, ImageBuffer, Rgba};
use libtest_mimic::Trial;
use mireg::{Error, Geometry, PixelType, Volume, io};

use super::{Folder, fixture};
use crate::support::trial;

pub fn tests() -> Vec<Trial> {
    vec![
        trial("io::picture::peer", what_simpleitk_wrote_is_read),
        trial("io::picture::round trip", what_is_written_is_read_back),
        trial("io::picture::colour", colour_becomes_luma),
        trial("io::picture::rounded", other_types_are_rounded_and_clamped),
        trial("io::picture::bad", what_cannot_be_is_refused),
    ]
}

fn image(size: [usize; 2], pixel: PixelType, voxels: Vec<f32>) -> Volume {
    Volume { geometry: Geometry::axis_aligned([size[0], size[1], 1], DVec3::ONE, DVec3::ZERO), voxels, pixel }
}

/// Asserts that the 3x2 pixels of the file at `path` are the luma of a colour, rounded up or down.
fn assert_luma(path: &Path, [r, g, b]: [f32; 3], pixel: PixelType) {
    let volume = io::read(path).unwrap();
    assert_eq!((volume.geometry.size, volume.pixel), ([3, 2, 1], pixel));
    let luma = 0.2126 * r + 0.7152 * g + 0.0722 * b;
    assert!(volume.voxels.iter().all(|v| (v - luma).abs() <= 1.5), "{:?} of {luma}", volume.voxels);
}

/// SimpleITK 2.5 wrote them.
fn what_simpleitk_wrote_is_read() {
    let grey = (0..30).map(|n| (1000 * (n % 6) + 7 * (n / 6)) as f32).collect();
    let expected = image([6, 5], PixelType::U16, grey);
    assert_eq!(io::read(&fixture("flat.png")).unwrap(), expected);
    assert_eq!(io::read(&fixture("flat.tif")).unwrap(), expected);
    assert_luma(&fixture("colour.png"), [200.0, 100.0, 50.0], PixelType::U8);
    // ITK decodes its first row to 0, 8, 16, ...
    let jpeg = io::read(&fixture("ramp.jpg")).unwrap();
    assert_eq!((jpeg.geometry.size, jpeg.pixel), ([16, 16, 1], PixelType::U8));
    for (n, voxel) in jpeg.voxels.iter().enumerate() {
        assert!((voxel - (8 * (n % 16) + 4 * (n / 16)) as f32).abs() <= 2.0, "{voxel} at {n}");
    }
}

fn what_is_written_is_read_back() {
    let folder = Folder::new();
    let bytes = image([16, 3], PixelType::U8, (0..48).map(|v| 5.0 * v as f32).collect());
    let words = image([16, 3], PixelType::U16, (0..48).map(|v| 1365.0 * v as f32).collect());
    for (name, volume) in [("a.png", &bytes), ("b.png", &words), ("a.tif", &bytes), ("b.tiff", &words)] {
        io::write(&folder.path(name), volume).unwrap();
        assert_eq!(io::read(&folder.path(name)).unwrap(), *volume, "{name}");
    }
    for name in ["a.jpg", "a.jpeg"] {
        io::write(&folder.path(name), &bytes).unwrap();
        let back = io::read(&folder.path(name)).unwrap();
        assert!(back.voxels.iter().zip(&bytes.voxels).all(|(a, b)| (a - b).abs() <= 4.0), "{:?}", back.voxels);
    }
    assert_eq!(folder.names(), ["a.jpeg", "a.jpg", "a.png", "a.tif", "b.png", "b.tiff"]);
}

fn colour_becomes_luma() {
    let folder = Folder::new();
    let transparent = ImageBuffer::from_pixel(3, 2, Rgba([10_000u16, 20_000, 30_000, 0]));
    DynamicImage::ImageRgba16(transparent).save(folder.path("a.png")).unwrap();
    assert_luma(&folder.path("a.png"), [10_000.0, 20_000.0, 30_000.0], PixelType::U16);
}

fn other_types_are_rounded_and_clamped() {
    let folder = Folder::new();
    let volume = image([2, 2], PixelType::F32, vec![-3.0, 0.5, 1.5, 1e6]);
    io::write(&folder.path("a.png"), &volume).unwrap();
    let expected = image([2, 2], PixelType::U16, vec![0.0, 0.0, 2.0, 65_535.0]);
    assert_eq!(io::read(&folder.path("a.png")).unwrap(), expected);
}

fn what_cannot_be_is_refused() {
    let folder = Folder::new();
    let refused = |result: Result<(), Error>, words: &str| {
        let message = result.unwrap_err().to_string();
        assert!(message.contains(words) && !message.contains('\n'), "{message}");
    };
    let volume = Volume {
        geometry: Geometry::axis_aligned([2, 2, 2], DVec3::ONE, DVec3::ZERO),
        voxels: vec![0.0; 8],
        pixel: PixelType::U8,
    };
    refused(io::write(&folder.path("a.png"), &volume), "Png holds one slice, not 2; write .nii.gz");
    let words = image([2, 2], PixelType::U16, vec![0.0; 4]);
    refused(io::write(&folder.path("a.jpg"), &words), "JPEG holds voxels of u8, not of U16; write .png or .tif");
    refused(io::write(&folder.path("a.dcm"), &words), "it writes .nii, .nii.gz");
    let read = |name, bytes: &[u8]| io::read(&folder.file(name, bytes)).map(|_| ());
    let png = std::fs::read(fixture("flat.png")).unwrap();
    refused(read("a.png", b"no picture"), "is no Png that mireg reads (");
    refused(read("a.tif", &png), "is no Tiff that mireg reads (");
    refused(read("a.png", &png[..60]), "is no Png that mireg reads (");
    let thin = DynamicImage::new_luma8(1, 9);
    thin.save(folder.path("thin.png")).unwrap();
    refused(io::read(&folder.path("thin.png")).map(|_| ()), "single slice along axis i (1x9x1 voxels)");
}
