//! DICOM: series in a folder, the order of their slices, their pixels, and problems that a series may have.

mod refused;

use dicom_core::{Tag, VR};
use glam::{DMat3, DVec3};
use libtest_mimic::Trial;
use mireg::io::{self, Channel, ReadOptions, Role};
use mireg::{PixelType, Volume};

use super::dicom_file::{DicomFile, Frame};
use super::{Folder, assert_lies, bits, fixture};
use crate::support::trial;

pub fn tests() -> Vec<Trial> {
    let mut tests = vec![
        trial("io::dicom::peer", what_simpleitk_wrote_is_read),
        trial("io::dicom::compressed", compressed_slices_have_the_same_pixels),
        trial("io::dicom::order", slices_are_ordered_by_position),
        trial("io::dicom::choice", a_file_chooses_its_series),
        trial("io::dicom::series", a_series_is_chosen_by_number_uid_or_description),
        trial("io::dicom::syntaxes", transfer_syntaxes_read_alike),
        trial("io::dicom::bits", only_the_stored_bits_count),
        trial("io::dicom::rescale", each_slice_has_its_own_rescale),
        trial("io::dicom::frames", frames_are_ordered_by_position),
        trial("io::dicom::doses", doses_lie_above_each_other),
        trial("io::dicom::colours", colours_become_luma),
        trial("io::dicom::left_out", other_files_in_the_folder_are_left_out),
        trial("io::dicom::truncated", a_truncated_slice_is_left_out_and_named),
        trial("io::dicom::old", files_without_meta_information_are_read),
        trial("io::dicom::single", a_single_slice_is_a_2d_image),
    ];
    tests.extend(refused::tests());
    tests
}

const SLOPE: Tag = Tag(0x0028, 0x1053);
const INTERCEPT: Tag = Tag(0x0028, 0x1052);
const FRAMES: Tag = Tag(0x0028, 0x0008);
const PHOTOMETRIC: Tag = Tag(0x0028, 0x0004);

fn folder_of(slices: &[DicomFile]) -> Folder {
    let folder = Folder::new();
    slices.iter().enumerate().for_each(|(n, slice)| drop(slice.write(&folder.path(&format!("{n}.dcm")))));
    folder
}

fn read(slices: &[DicomFile]) -> Volume {
    io::read(&folder_of(slices).path("")).unwrap()
}

/// SimpleITK 2.5 wrote it: 14x16x5 voxels of 0.75 x 0.5 x 2.5 mm from (-30.5, 12.25, -100), turned by 0.3 about x, then by
/// -0.2 about y, then by 0.5 about z; the value at (i, j, k) is i + 20 j + 300 k - 1024, by RescaleIntercept. The files' names
/// and instance numbers do not follow their positions.
fn what_simpleitk_wrote_is_read() {
    let volume = io::read(&fixture("dicom")).unwrap();
    let direction = DMat3::from_rotation_z(0.5) * DMat3::from_rotation_y(-0.2) * DMat3::from_rotation_x(0.3);
    assert_lies(&volume, DVec3::new(0.75, 0.5, 2.5), DVec3::new(-30.5, 12.25, -100.0), direction, 1e-6);
    let value = |n: usize| (n % 14 + 20 * (n / 14 % 16) + 300 * (n / 224)) as f32 - 1024.0;
    assert_eq!(volume.voxels, (0..14 * 16 * 5).map(value).collect::<Vec<_>>());
    assert_eq!((volume.geometry.size, volume.pixel), ([14, 16, 5], PixelType::I16));
}

/// SimpleITK 2.5 compressed the middle slice losslessly with JPEG, pydicom 3.0 with RLE and deflate, gdcm 3.2 with JPEG 2000.
fn compressed_slices_have_the_same_pixels() {
    let expected = io::read(&fixture("dicom")).unwrap();
    for middle in ["lossless.dcm", "rle.dcm", "deflated.dcm", "jpeg2000.dcm"] {
        let folder = Folder::new();
        for name in ["a.dcm", "b.dcm", "c.dcm", "d.dcm"] {
            std::fs::copy(fixture("dicom").join(name), folder.path(name)).unwrap();
        }
        std::fs::copy(fixture(middle), folder.path(middle)).unwrap();
        let volume = io::read(&folder.path("")).unwrap();
        assert_eq!(bits(&volume.geometry), bits(&expected.geometry));
        assert_eq!(volume.voxels, expected.voxels, "{middle}");
    }
}

fn slices_are_ordered_by_position() {
    let counts_up: Vec<f32> = (0..36).map(|v| v as f32).collect();
    let volume = read(&[DicomFile::at(7.0, 2), DicomFile::at(2.0, 0), DicomFile::at(4.5, 1)]);
    assert_lies(&volume, DVec3::new(0.5, 2.0, 2.5), DVec3::Z * 2.0, DMat3::IDENTITY, 0.0);
    assert_eq!((&volume.voxels, volume.pixel), (&counts_up, PixelType::U16));
    // If the columns point upwards, the normal points downwards.
    let down = |z, k| DicomFile { orientation: Some([1.0, 0.0, 0.0, 0.0, -1.0, 0.0]), ..DicomFile::at(z, k) };
    let volume = read(&[down(2.0, 2), down(7.0, 0), down(4.5, 1)]);
    let direction = DMat3::from_diagonal(DVec3::new(1.0, -1.0, -1.0));
    assert_lies(&volume, DVec3::new(0.5, 2.0, 2.5), DVec3::Z * 7.0, direction, 0.0);
    assert_eq!(volume.voxels, counts_up);
    // Positions are printed with few digits.
    let rounded = [0.0, 0.63, 1.25, 1.88, 2.5].map(|z| DicomFile::at(z, 0));
    assert_eq!(read(&rounded).geometry.spacing.z, 0.625);
}

fn a_file_chooses_its_series() {
    let other = |z, k| DicomFile { series: "1.2.9", ..DicomFile::at(z, k) };
    let folder = folder_of(&[DicomFile::at(0.0, 0), other(0.0, 3), DicomFile::at(1.0, 1), other(2.0, 4)]);
    folder.file("notes.txt", "not DICOM");
    std::fs::create_dir(folder.path("more")).unwrap();
    let message = io::read(&folder.path("")).unwrap_err().to_string();
    let listed = "holds 2 DICOM series: 1: \"a description\" (MR, 2 images of 4 x 3, UID 1.2.3), 2: \"a description\" (MR, 2 \
                  images of 4 x 3, UID 1.2.9); ";
    assert!(message.contains(listed), "{message}");
    assert!(message.ends_with("; give one of the files of the series that you want"), "{message}");
    std::fs::rename(folder.path("3.dcm"), folder.path("IM_3")).unwrap();
    for (name, first, step) in [("0.dcm", 0.0, 1.0), ("2.dcm", 0.0, 1.0), ("1.dcm", 36.0, 2.0), ("IM_3", 36.0, 2.0)] {
        let volume = io::read(&folder.path(name)).unwrap();
        assert_eq!((volume.voxels[0], volume.geometry.spacing.z), (first, step), "{name}");
    }
    let message = io::read(&folder.path("notes.txt")).unwrap_err().to_string();
    assert!(message.contains("its name does not end like a file that mireg reads"), "{message}");
}

fn a_series_is_chosen_by_number_uid_or_description() {
    let number = Tag(0x0020, 0x0011);
    let series = |series, number_text: &str, description, columns| {
        let pixels = vec![columns; 3 * usize::from(columns)];
        DicomFile { series, description, columns, pixels, ..DicomFile::default() }.with(number, VR::IS, number_text)
    };
    // The slices are ordered by their instance numbers.
    let folder =
        folder_of(&[series("1.9", "2", "T2 tse", 4), series("1.5", "10", "T1", 5), series("1.7", "11", "T1", 6)]);
    let read = |name: &str, role| {
        let options = ReadOptions { series: Some(name.into()), role, ..ReadOptions::default() };
        io::read_with(&folder.path(""), &options)
    };
    for (name, columns) in [("1", 4), ("2", 5), ("3", 6), ("1.5", 5), (" 1.9 ", 4), ("t2 TSE", 4)] {
        let image = read(name, Role::Fixed).unwrap();
        assert_eq!((image.volume.geometry.size[0], image.notes), (columns, vec![]), "{name}");
    }
    for (name, says) in [
        ("4", "has no series \"4\" but 3 DICOM series: 1: \"T2 tse\" (MR, 1 image of 4 x 3, UID 1.9), 2: "),
        ("T1", "of which several are called \"T1\"; give the number or UID of one"),
    ] {
        let message = read(name, Role::Fixed).unwrap_err().to_string();
        assert!(message.contains(says), "{message}");
    }
    let options = |role| ReadOptions { role, ..ReadOptions::default() };
    for (role, name) in [(Role::Fixed, "fixed_series"), (Role::Moving, "moving_series"), (Role::Image, "series")] {
        let message = io::read_with(&folder.path(""), &options(role)).unwrap_err().to_string();
        assert!(
            message
                .ends_with(&format!("; give the number, UID or description of one as `{name}`, or one of its files"))
        );
    }
    let options = ReadOptions { series: Some("1".into()), role: Role::Moving, ..ReadOptions::default() };
    let message = io::read_with(&folder.path("0.dcm"), &options).unwrap_err().to_string();
    assert!(
        message.ends_with("is no folder, and a series is chosen in a folder of DICOM files; leave out `moving_series`")
    );
}

fn transfer_syntaxes_read_alike() {
    for syntax in ["1.2.840.10008.1.2", "1.2.840.10008.1.2.1", "1.2.840.10008.1.2.2"] {
        let slice = |z, k| DicomFile { syntax, pixels: (300..312).collect(), ..DicomFile::at(z, k) };
        let volume = read(&[slice(0.0, 0), slice(1.0, 1)]);
        assert_eq!(volume.voxels, (300..312).chain(300..312).map(|v| v as f32).collect::<Vec<_>>(), "{syntax}");
    }
    let mut jpeg = Vec::new();
    let grey = image::GrayImage::from_fn(16, 16, |x, y| image::Luma([(8 * x + 4 * y) as u8]));
    grey.write_with_encoder(image::codecs::jpeg::JpegEncoder::new_with_quality(&mut jpeg, 100)).unwrap();
    jpeg.resize(jpeg.len().next_multiple_of(2), 0);
    let fragments = jpeg.chunks(100).map(Vec::from).collect();
    let slice = DicomFile {
        syntax: "1.2.840.10008.1.2.4.50",
        columns: 16,
        rows: 16,
        bits: [8, 8, 7, 0],
        fragments,
        ..DicomFile::default()
    };
    let volume = read(&[slice]);
    assert_eq!(volume.pixel, PixelType::U8);
    for (n, voxel) in volume.voxels.iter().enumerate() {
        assert!((voxel - (8 * (n % 16) + 4 * (n / 16)) as f32).abs() <= 2.0, "{voxel} at {n}");
    }
}

fn only_the_stored_bits_count() {
    let twelve = |signed, shift: u16| {
        // The bits around the stored ones are set.
        let pixels = (0..12).map(|v| (v * 300) << shift | !(0xfff << shift)).collect();
        read(&[DicomFile { bits: [16, 12, 11 + shift, signed], pixels, ..DicomFile::default() }])
    };
    for shift in [0, 4] {
        assert_eq!(twelve(0, shift).voxels, (0..12).map(|v| (v * 300) as f32).collect::<Vec<_>>());
        let signed = |v: i32| if v * 300 < 2048 { v * 300 } else { v * 300 - 4096 };
        let volume = twelve(1, shift);
        assert_eq!(volume.voxels, (0..12).map(|v| signed(v) as f32).collect::<Vec<_>>());
        assert_eq!(volume.pixel, PixelType::I16);
    }
    let volume = read(&[DicomFile { bits: [8, 8, 7, 0], ..DicomFile::default() }]);
    assert_eq!((volume.voxels[11], volume.pixel), (11.0, PixelType::U8));
}

fn each_slice_has_its_own_rescale() {
    let slice = |z, slope: &str, intercept: &str| {
        DicomFile::at(z, 0).with(SLOPE, VR::DS, slope).with(INTERCEPT, VR::DS, intercept)
    };
    let pet = read(&[slice(0.0, "0.5", "1"), slice(1.0, "0.25", "0")]);
    assert_eq!([pet.voxels[11], pet.voxels[23]], [6.5, 2.75]);
    assert_eq!(pet.pixel, PixelType::F32);
    let ct = read(&[slice(0.0, "1", "-1024"), slice(1.0, "1", "-1024")]);
    assert_eq!((ct.voxels[0], ct.pixel), (-1024.0, PixelType::I16));
    let large = read(&[slice(0.0, "100000", "0"), slice(1.0, "1", "0")]);
    assert_eq!((large.voxels[1], large.voxels[13], large.pixel), (1e5, 1.0, PixelType::I32));
}

/// Returns an enhanced multi-frame image whose frames have these heights, slopes and times. Its pixels count up.
fn framed(frames: &[(f64, f64, u32)]) -> DicomFile {
    let pixels = (0..12 * frames.len() as u16).collect();
    let frames = frames.iter().map(|&(height, slope, time)| Frame { height, slope, time }).collect();
    DicomFile { frames, pixels, ..DicomFile::default() }
}

fn frames_are_ordered_by_position() {
    let file = framed(&[(5.0, 1.0, 1), (0.0, 2.0, 1), (2.5, 0.5, 1)]);
    for syntax in ["1.2.840.10008.1.2", "1.2.840.10008.1.2.1", "1.2.840.10008.1.2.2"] {
        let volume = read(&[DicomFile { syntax, ..file.clone() }]);
        assert_lies(&volume, DVec3::new(0.5, 2.0, 2.5), DVec3::ZERO, DMat3::IDENTITY, 0.0);
        let slice = |first: u16, slope: f32| (first..first + 12).map(move |v| f32::from(v) * slope);
        let expected: Vec<f32> = slice(12, 2.0).chain(slice(24, 0.5)).chain(slice(0, 1.0)).collect();
        assert_eq!((volume.voxels, volume.pixel), (expected, PixelType::F32), "{syntax}");
    }
}

fn doses_lie_above_each_other() {
    let dose = DicomFile { pixels: (0..36).collect(), position: Some([0.0, 0.0, 40.0]), ..DicomFile::default() };
    let dose = dose.with(FRAMES, VR::IS, "3").with(Tag(0x3004, 0x000e), VR::DS, "0.5");
    // The offsets are relative to the position, or are positions themselves.
    for offsets in ["0\\-3\\-6", "40\\37\\34"] {
        let volume = read(&[dose.clone().with(Tag(0x3004, 0x000c), VR::DS, offsets)]);
        assert_lies(&volume, DVec3::new(0.5, 2.0, 3.0), DVec3::Z * 34.0, DMat3::IDENTITY, 0.0);
        assert_eq!([volume.voxels[0], volume.voxels[35]], [12.0, 5.5], "{offsets}");
    }
}

fn colours_become_luma() {
    // Red, green, blue, white, black and grey, twice.
    let colours = [[255u16, 0, 0], [0, 255, 0], [0, 0, 255], [255; 3], [0; 3], [100; 3]].repeat(2);
    let luma = [54.0, 182.0, 18.0, 255.0, 0.0, 100.0].repeat(2);
    let planes: Vec<u16> = (0..3).flat_map(|n| colours.iter().map(move |c| c[n])).collect();
    let pixels = colours.concat();
    let taken = |photometric, planar, pixels: Vec<u16>, channel| {
        let file = DicomFile { bits: [8, 8, 7, 0], pixels, ..DicomFile::default() };
        let file = DicomFile { samples: 3, planar, ..file }.with(PHOTOMETRIC, VR::CS, photometric);
        let folder = folder_of(&[file]);
        io::read_with(&folder.path(""), &ReadOptions { channel, ..ReadOptions::default() }).unwrap()
    };
    let file = |photometric, planar, pixels| taken(photometric, planar, pixels, Channel::Luma);
    for image in [file("RGB", 0, pixels), file("RGB", 1, planes)] {
        assert_eq!((image.volume.voxels, image.volume.pixel), (luma.clone(), PixelType::U8));
        assert_eq!(image.notes.len(), 1);
        assert!(image.notes[0].to_string().starts_with("its colours were converted to luma"));
    }
    let green = taken("RGB", 0, colours.concat(), Channel::Number(1));
    let expected: Vec<f32> = colours.iter().map(|colour| f32::from(colour[1])).collect();
    assert_eq!(green.volume.voxels, expected);
    assert_eq!(green.notes[0].to_string(), "its green channel was taken");
    // The same by the formula of JPEG, rounded; green is 149.7, 43.5, 21.2.
    let ybr =
        [[76u16, 85, 255], [150, 44, 21], [29, 255, 107], [255, 128, 128], [0, 128, 128], [100, 128, 128]].repeat(2);
    let read = file("YBR_FULL", 0, ybr.concat()).volume.voxels;
    assert!(read.iter().zip(&luma).all(|(read, luma)| (read - luma).abs() <= 1.0), "{read:?}");
    // Pairs of pixels share their chroma.
    let pair = [[76u16, 76, 85, 255], [100, 100, 128, 128], [0, 255, 128, 128]].repeat(2);
    let read = file("YBR_FULL_422", 0, pair.concat()).volume.voxels;
    assert_eq!(read, [54.0, 54.0, 100.0, 100.0, 0.0, 255.0].repeat(2));
}

fn other_files_in_the_folder_are_left_out() {
    let folder = folder_of(&[DicomFile::at(0.0, 0), DicomFile::at(1.0, 1)]);
    let note = |options| {
        let image = io::read_with(&folder.path(""), &options).unwrap();
        assert_eq!(image.volume.geometry.size[2], 2);
        image.notes.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(note(ReadOptions::default()), [""; 0]);
    folder.file(".hidden", "");
    folder.file("thumbnail.png", [0x89, b'P', b'N', b'G']);
    DicomFile { modality: "SR", image: false, ..DicomFile::default() }.write(&folder.path("SR.dcm"));
    DicomFile { series: "1.2.9", modality: "PT", ..DicomFile::default() }.write(&folder.path("PT.dcm"));
    let whole = std::fs::read(folder.path("1.dcm")).unwrap();
    folder.file("x.dcm", &whole[..300]);
    let left_out = "left out 5 files: x.dcm (ends too early, so it is truncated), .hidden (not DICOM), SR.dcm (SR without an \
                    image), thumbnail.png (not DICOM), PT.dcm (of another PT series)";
    assert_eq!(note(ReadOptions::default()), [left_out]);
    // A second series of several images makes the folder ambiguous.
    DicomFile { series: "1.2.9", modality: "PT", ..DicomFile::at(2.0, 0) }.write(&folder.path("PT2.dcm"));
    assert!(io::read(&folder.path("")).unwrap_err().to_string().contains("holds 2 DICOM series"));
    let named = note(ReadOptions { series: Some("1.2.3".into()), ..ReadOptions::default() });
    assert!(named[0].starts_with("left out 4 files"), "{named:?}");
    // If a single file is named, a note says which omitted files may belong to its series.
    let image = io::read_with(&folder.path("0.dcm"), &ReadOptions::default()).unwrap();
    assert_eq!(image.notes[0].to_string(), "left out 1 file: x.dcm (ends too early, so it is truncated)");
    for (name, says) in [("SR.dcm", "is SR without an image; give a file that holds one"), ("x.dcm", "ends too early")]
    {
        let message = io::read(&folder.path(name)).unwrap_err().to_string();
        assert!(message.contains(says), "{message}");
    }
}

fn a_truncated_slice_is_left_out_and_named() {
    let folder = folder_of(&[0, 1, 2, 3, 4].map(|n| DicomFile::at(f64::from(n), n)));
    let cut = |name: &str| {
        let whole = std::fs::read(folder.path(name)).unwrap();
        folder.file(name, &whole[..whole.len() - 4]);
    };
    cut("4.dcm");
    let image = io::read_with(&folder.path(""), &ReadOptions::default()).unwrap();
    assert_eq!(image.volume.geometry.size[2], 4);
    let note = image.notes[0].to_string();
    assert_eq!(note, "left out 1 file: 4.dcm (has 20 bytes of pixels, not 24, so it is truncated)");
    let message = io::read(&folder.path("4.dcm")).unwrap_err().to_string();
    assert!(message.contains("4.dcm: has 20 bytes"), "{message}");
    cut("2.dcm");
    let message = io::read(&folder.path("")).unwrap_err().to_string();
    let says = "(about 1 missing), without 2.dcm (has 20 bytes of pixels, not 24, so it is truncated), 4.dcm (";
    assert!(message.contains(says) && message.contains("; complete the series"), "{message}");
}

fn files_without_meta_information_are_read() {
    let expected = read(&[DicomFile::default()]).voxels;
    for syntax in ["1.2.840.10008.1.2", "1.2.840.10008.1.2.1", "1.2.840.10008.1.2.2"] {
        let folder = folder_of(&[DicomFile { syntax, ..DicomFile::default() }]);
        let whole = std::fs::read(folder.path("0.dcm")).unwrap();
        let length = u32::from_le_bytes(*whole[140..].first_chunk().unwrap()) as usize;
        let (preamble, elements) = (&whole[..132], &whole[144 + length..]);
        // Without the length of the meta information, without its transfer syntax, and without all of it.
        let version = [&[2, 0, 1, 0][..], b"OB", &[0, 0, 2, 0, 0, 0, 0, 1]].concat();
        for (what, bytes) in [
            ("length", [preamble, &whole[144..]].concat()),
            ("syntax", [preamble, &version, elements].concat()),
            ("preamble", [&version, elements].concat()),
            ("meta", elements.to_vec()),
        ] {
            folder.file("0.dcm", bytes);
            let volume = io::read(&folder.path("0.dcm")).unwrap_or_else(|e| panic!("{what} of {syntax}: {e}"));
            assert_eq!(volume.voxels, expected, "{what} of {syntax}");
        }
    }
}

fn a_single_slice_is_a_2d_image() {
    let volume = read(&[DicomFile::at(7.0, 0)]);
    assert_eq!((volume.geometry.size, volume.geometry.origin), ([4, 3, 1], DVec3::ZERO));
    assert_eq!(volume.geometry.spacing, DVec3::new(0.5, 2.0, 1.0));
    let sagittal = DicomFile { orientation: Some([0.0, 1.0, 0.0, 0.0, 0.0, -1.0]), ..DicomFile::at(7.0, 0) };
    let placed = read(&[sagittal]).geometry;
    assert_eq!(placed.direction, DMat3::from_cols(DVec3::Y, DVec3::NEG_Z, DVec3::NEG_X));
    assert!(placed.is_slice_in_space() && placed.origin.z == 7.0, "{placed:?}");
    let projection = DicomFile { position: None, orientation: None, spacing: None, ..DicomFile::default() };
    let geometry = read(&[projection.with(Tag(0x0018, 0x1164), VR::DS, "0.2\\0.1")]).geometry;
    assert_eq!((geometry.spacing, geometry.direction), (DVec3::new(0.1, 0.2, 1.0), DMat3::IDENTITY));
}
