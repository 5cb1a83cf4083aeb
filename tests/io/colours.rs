//! Colours in NIfTI, MetaImage and NRRD are converted to luma, as those of pictures are, and this is reported.

use libtest_mimic::Trial;
use mireg::PixelType;
use mireg::io::{self, Channel, ReadOptions, Role, Select};

use super::nifti_file::NiftiFile;
use super::{Folder, fixture};
use crate::support::trial;

pub fn tests() -> Vec<Trial> {
    vec![
        trial("io::colours::luma", every_format_makes_the_same_of_them),
        trial("io::colours::pictures", a_picture_makes_the_same_of_them),
        trial("io::colours::false_ones", false_colours_become_the_values_behind_them),
        trial("io::colours::channels", a_channel_is_taken_of_any_vectors),
        trial("io::colours::refused", other_vectors_are_refused),
    ]
}

const SAID: &str = "its colours were converted to luma, 0.2126 R + 0.7152 G + 0.0722 B";
/// The colours of a row of 4 voxels, which is repeated: white, red, a mixture, nearly black.
const COLOURS: [[u8; 3]; 4] = [[255, 255, 255], [255, 0, 0], [200, 100, 50], [1, 1, 2]];
const LUMA: [f32; 4] = [255.0, 54.0, 118.0, 1.0];

/// Returns 4x5x6 voxels of 3 or 4 channels. The fourth channel is ignored by readers.
fn voxels(channels: usize) -> Vec<u8> {
    let voxel = |n: usize| [&COLOURS[n % 4][..], &[n as u8]].concat()[..channels].to_vec();
    (0..120).flat_map(voxel).collect()
}

fn every_format_makes_the_same_of_them() {
    let folder = Folder::new();
    for channels in [3, 4] {
        let data = voxels(channels);
        let nifti = NiftiFile { voxels: data.clone(), ..NiftiFile::default() };
        let datatype = if channels == 3 { 128 } else { 2304 };
        folder.file("a.nii", NiftiFile { datatype, slope: 2.0, intercept: 7.0, ..nifti.clone() }.bytes());
        folder.file("b.nii", NiftiFile { datatype, big_endian: true, version: 2, ..nifti }.bytes());
        let meta = |kind: &str| {
            let lines = format!("NDims = 3\nDimSize = 4 5 6\nElementNumberOfChannels = {channels}\n");
            [format!("{lines}ElementType = {kind}\nElementDataFile = LOCAL\n").as_bytes(), &data].concat()
        };
        folder.file("a.mha", meta("MET_UCHAR"));
        folder.file("b.mha", meta("MET_UCHAR_ARRAY"));
        let mut names = vec!["a.nii", "b.nii", "a.mha", "b.mha", "text.nrrd"];
        let nrrd = |kind: &str, encoding: &str| {
            let fields = format!("type: uchar\ndimension: 4\nsizes: {channels} 4 5 6\nencoding: {encoding}\n");
            format!("NRRD0004\n{fields}kinds: {kind} domain domain domain\n\n")
        };
        let kinds =
            if channels == 3 { ["RGB-color", "3-color", "vector"] } else { ["RGBA-color", "4-color", "vector"] };
        for (name, kind) in ["a.nrrd", "b.nrrd", "c.nrrd"].into_iter().zip(kinds) {
            folder.file(name, [nrrd(kind, "raw").as_bytes(), &data].concat());
            names.push(name);
        }
        let text = data.iter().map(u8::to_string).collect::<Vec<_>>().join(" ");
        folder.file("text.nrrd", nrrd(kinds[0], "ascii") + &text);
        for name in names {
            let image = io::read_with(&folder.path(name), &ReadOptions::default()).unwrap();
            let expected: Vec<f32> = (0..120).map(|n| LUMA[n % 4]).collect();
            assert_eq!((image.volume.voxels, image.volume.pixel), (expected, PixelType::U8), "{name} of {channels}");
            assert_eq!(image.notes.iter().map(ToString::to_string).collect::<Vec<_>>(), [SAID], "{name}");
            let blue = ReadOptions { channel: "blue".parse().unwrap(), ..ReadOptions::default() };
            let image = io::read_with(&folder.path(name), &blue).unwrap();
            let expected: Vec<f32> = (0..120).map(|n| COLOURS[n % 4][2].into()).collect();
            assert_eq!((image.volume.voxels, image.volume.pixel), (expected, PixelType::U8), "{name} of {channels}");
            assert_eq!(image.notes[0].to_string(), "its blue channel was taken");
        }
    }
}

/// The colour map goes from black through blue and yellow to red, so that luma is not monotonic.
fn false_colours_become_the_values_behind_them() {
    let folder = Folder::new();
    let [width, height] = [64, 48];
    let value = |x: u32, y: u32| (x * 255 / (width - 1) * (y + 1) / height) as usize;
    let colour = |value: usize| {
        let ends = [[0.0, 0.0, 0.0], [0.0, 0.0, 255.0], [255.0, 255.0, 0.0], [255.0, 0.0, 0.0]];
        let (n, part) = ((value / 86).min(2), (value % 86) as f64 / 86.0);
        [0, 1, 2].map(|i| (ends[n][i] + part * (ends[n + 1][i] - ends[n][i])).round() as u8)
    };
    let picture = image::RgbImage::from_fn(width, height, |x, y| image::Rgb(colour(value(x, y))));
    for name in ["a.png", "a.tif"] {
        let path = folder.path(name);
        picture.save(&path).unwrap();
        let image = io::read_with(&path, &ReadOptions::default()).unwrap();
        let said = image.notes.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(said, ["its colours come from a colour map and were converted to positions along it"]);
        let values = (0..height).flat_map(|y| (0..width).map(move |x| value(x, y)));
        let mut pairs: Vec<_> = values.zip(&image.volume.voxels).collect();
        pairs.sort_by_key(|(value, _)| *value);
        assert!(pairs.windows(2).all(|two| *two[0].1 <= two[1].1 + 2.0), "{name}: values are not monotonic");
        let luma = ReadOptions { channel: Channel::Luma, ..ReadOptions::default() };
        let plain = ReadOptions { role: Role::Plain, ..ReadOptions::default() };
        let [luma, plain] = [luma, plain].map(|options| io::read_with(&path, &options).unwrap());
        assert_eq!(luma.notes[0].to_string(), SAID);
        assert_eq!((&luma.volume, &luma.notes), (&plain.volume, &plain.notes), "masks are luma");
        assert_eq!(luma.volume, io::read(&path).unwrap());
    }
}

/// Voxels of 2 and of 5 numbers of 16 bits, beside each other and one after the other.
fn a_channel_is_taken_of_any_vectors() {
    let folder = Folder::new();
    for channels in [2, 5] {
        let value = |voxel: usize, channel: usize| (100 * voxel + channel) as i16;
        let bytes = |numbers: Vec<i16>| numbers.into_iter().flat_map(i16::to_le_bytes).collect::<Vec<u8>>();
        let beside = bytes((0..8 * channels).map(|n| value(n / channels, n % channels)).collect());
        let planes = bytes((0..8 * channels).map(|n| value(n % 8, n / 8)).collect());
        let meta = format!(
            "NDims = 3\nDimSize = 2 2 2\nElementNumberOfChannels = {channels}\nElementType = MET_SHORT\nElementDataFile = LOCAL\n"
        );
        folder.file("a.mha", [meta.as_bytes(), &beside].concat());
        let nrrd = |sizes: String, kinds: &str| {
            format!(
                "NRRD0004\ntype: short\ndimension: 4\nendian: little\nencoding: raw\nsizes: {sizes}\nkinds: {kinds}\n\n"
            )
        };
        let first = nrrd(format!("{channels} 2 2 2"), "vector domain domain domain");
        folder.file("a.nrrd", [first.as_bytes(), &beside].concat());
        let last = nrrd(format!("2 2 2 {channels}"), "domain domain domain vector");
        folder.file("b.nrrd", [last.as_bytes(), &planes].concat());
        for name in ["a.mha", "a.nrrd", "b.nrrd"] {
            let read = |n| {
                let options = ReadOptions { role: Role::Moving, channel: Channel::Number(n), ..ReadOptions::default() };
                io::read_with(&folder.path(name), &options)
            };
            let image = read(1).unwrap();
            let expected: Vec<f32> = (0..8).map(|voxel| value(voxel, 1).into()).collect();
            assert_eq!((image.volume.voxels, image.volume.pixel), (expected, PixelType::I16), "{name}");
            assert_eq!(image.notes[0].to_string(), format!("channel 1 of 0 to {} was taken", channels - 1));
            let last = channels - 1;
            let refused = read(channels).unwrap_err().to_string();
            let words = format!(
                "has {channels} channels, and none of number {channels}; choose one with `moving_channel` 0 to {last}"
            );
            assert!(refused.ends_with(&words), "{refused}");
        }
    }
}

fn a_picture_makes_the_same_of_them() {
    let folder = Folder::new();
    let row = COLOURS.as_flattened().to_vec();
    image::RgbImage::from_raw(4, 2, row.repeat(2)).unwrap().save(folder.path("a.png")).unwrap();
    let image = io::read_with(&folder.path("a.png"), &ReadOptions::default()).unwrap();
    assert_eq!(image.volume.voxels, [LUMA, LUMA].as_flattened());
    assert_eq!(image.notes[0].to_string(), SAID);
    let second = ReadOptions { volume: Some(Select::Number(1)), ..ReadOptions::default() };
    let refused = io::read_with(&folder.path("a.png"), &second).unwrap_err().to_string();
    assert!(refused.ends_with("has one volume, and none of number 1; leave out `volume`"), "{refused}");
    let grey = io::read_with(&fixture("flat.png"), &ReadOptions::default()).unwrap();
    assert!(grey.notes.is_empty());
}

fn other_vectors_are_refused() {
    let folder = Folder::new();
    let refused = |name: &str, bytes: Vec<u8>, words: &str| {
        let message = io::read(&folder.file(name, bytes)).unwrap_err().to_string();
        assert!(message.contains(words) && !message.contains('\n'), "{message}");
    };
    let meta = |channels: usize, kind: &str| {
        let lines = format!("NDims = 3\nDimSize = 2 2 2\nElementNumberOfChannels = {channels}\nElementType = {kind}\n");
        [format!("{lines}ElementDataFile = LOCAL\n").as_bytes(), &[0; 200]].concat()
    };
    refused("a.mha", meta(3, "MET_FLOAT"), "several numbers per voxel");
    refused("a.mha", meta(2, "MET_UCHAR"), "several numbers per voxel");
    refused("a.mha", meta(5, "MET_UCHAR"), "several numbers per voxel");
    let nrrd = |axes: &str, kinds: &str, kind: &str| {
        let fields = format!("type: {kind}\ndimension: 4\nsizes: {axes}\nencoding: raw\nendian: little\n");
        [format!("NRRD0004\n{fields}kinds: {kinds}\n\n").as_bytes(), &[0; 200]].concat()
    };
    refused("a.nrrd", nrrd("3 2 2 2", "RGB-color domain domain domain", "short"), "kind rgb-color); extract one");
    refused("a.nrrd", nrrd("3 2 2 2", "HSV-color domain domain domain", "uchar"), "kind hsv-color); extract one");
    refused("a.nrrd", nrrd("2 2 2 3", "domain domain domain RGB-color", "uchar"), "kind rgb-color); extract one");
    let several = NiftiFile { dim: vec![2, 2, 2, 3], datatype: 128, voxels: vec![0; 72], ..NiftiFile::default() };
    refused("a.nii", several.bytes(), "has 3 volumes of colours; extract one");
    // Vectors of bytes are not displacements, whatever the intent says.
    let mut vectors = NiftiFile { dim: vec![2, 2, 2, 1, 3], voxels: vec![0; 24], ..NiftiFile::default() }.bytes();
    vectors[68..70].copy_from_slice(&1007i16.to_le_bytes());
    refused("a.nii", vectors, "has several bytes per voxel, which are neither one intensity nor a displacement; save");
}
