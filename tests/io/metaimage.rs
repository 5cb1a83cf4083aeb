//! MetaImage: synonyms of keys, byte orders, and where the voxels are stored.

use std::io::Write;

use glam::{DMat3, DVec3};
use libtest_mimic::Trial;
use mireg::{PixelType, Volume, io};

use super::{Folder, assert_lies};
use crate::support::trial;

pub fn tests() -> Vec<Trial> {
    vec![
        trial("io::metaimage::geometry", synonyms_mean_the_same),
        trial("io::metaimage::types", types_and_byte_orders),
        trial("io::metaimage::data", voxels_in_any_place),
        trial("io::metaimage::written", a_written_header_names_its_data),
    ]
}

const BASE: &str = "ObjectType = Image\nNDims = 3\nDimSize = 4 5 6\n";
const SHORT: &str = "ElementType = MET_SHORT\n";
const LOCAL: &str = "ElementDataFile = LOCAL\n";

fn shorts() -> Vec<u8> {
    (0..120i16).flat_map(i16::to_le_bytes).collect()
}

fn read(folder: &Folder, header: &str, data: &[u8]) -> Volume {
    io::read(&folder.file("a.mha", [header.as_bytes(), data].concat())).unwrap()
}

fn assert_counts_up(volume: &Volume) {
    assert_eq!(volume.voxels, (0..120).map(|v| v as f32).collect::<Vec<_>>());
}

fn synonyms_mean_the_same() {
    let folder = Folder::new();
    // The matrix lists the directions of i, then j, then k; SimpleITK 2.4 reads the same.
    let direction = DMat3::from_cols(DVec3::Y, DVec3::NEG_X, DVec3::Z);
    for (axes, origin, spacing) in [
        ("TransformMatrix", "Offset", "ElementSpacing"),
        ("Rotation", "Position", "ElementSize"),
        ("Orientation", "Origin", "ElementSize = 9 9 9\nElementSpacing"),
    ] {
        let lines = format!("{axes} = 0 1 0 -1 0 0 0 0 1\n{origin} = -1.5 2 3e1\n{spacing} = 1 2 3\n");
        for header in
            [format!("{BASE}{lines}{SHORT}{LOCAL}"), format!("{BASE}{lines}{SHORT}{LOCAL}").replace(" = ", ": ")]
        {
            let volume = read(&folder, &header, &shorts());
            assert_lies(&volume, DVec3::new(1.0, 2.0, 3.0), DVec3::new(-1.5, 2.0, 30.0), direction, 0.0);
            assert_counts_up(&volume);
        }
    }
    let plain = read(&folder, &format!("{BASE}{SHORT}{LOCAL}").replace('\n', "\r\n"), &shorts());
    assert_lies(&plain, DVec3::ONE, DVec3::ZERO, DMat3::IDENTITY, 0.0);
    let four =
        format!("{BASE}Offset = 1 2 3 4\n{SHORT}{LOCAL}").replace("NDims = 3", "NDims = 4").replace("4 5 6", "4 5 6 1");
    assert_lies(&read(&folder, &four, &shorts()), DVec3::ONE, DVec3::new(1.0, 2.0, 3.0), DMat3::IDENTITY, 0.0);
}

fn types_and_byte_orders() {
    let folder = Folder::new();
    macro_rules! check {
        ($type:ty, $pixel:expr, $($name:expr),+) => {
            for name in [$($name),+] {
                for (order, big) in [("", false), ("BinaryDataByteOrderMSB = True\n", true), ("ElementByteOrderMSB = True\n", true)] {
                    let header = format!("{BASE}BinaryData = True\n{order}ElementType = {name}\n{LOCAL}");
                    let value = |v: u8| if big { (v as $type).to_be_bytes() } else { (v as $type).to_le_bytes() };
                    let volume = read(&folder, &header, &(0..120).flat_map(value).collect::<Vec<_>>());
                    assert_counts_up(&volume);
                    assert_eq!(volume.pixel, $pixel);
                }
            }
        };
    }
    check!(u8, PixelType::U8, "MET_UCHAR");
    check!(i8, PixelType::I8, "MET_CHAR", "MET_ASCII_CHAR");
    check!(u16, PixelType::U16, "MET_USHORT");
    check!(i16, PixelType::I16, "MET_SHORT");
    check!(u32, PixelType::U32, "MET_UINT", "MET_ULONG");
    check!(i32, PixelType::I32, "MET_INT", "MET_LONG");
    check!(u64, PixelType::U64, "MET_ULONG_LONG");
    check!(i64, PixelType::I64, "MET_LONG_LONG");
    check!(f32, PixelType::F32, "MET_FLOAT");
    check!(f64, PixelType::F64, "MET_DOUBLE");
}

fn voxels_in_any_place() {
    let folder = Folder::new();
    let junk = [b"junk".to_vec(), shorts()].concat();
    let zlib = |data: &[u8]| {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(data).unwrap();
        encoder.finish().unwrap()
    };
    assert_counts_up(&read(&folder, &format!("{BASE}{SHORT}HeaderSize = -1\n{LOCAL}"), &junk));
    assert_counts_up(&read(&folder, &format!("{BASE}{SHORT}CompressedData = True\n{LOCAL}"), &zlib(&shorts())));

    folder.file("plain.raw", shorts());
    // Raw voxels that happen to start like gzip are not gzip.
    folder.file("junk.raw", [&[0x1f, 0x8b, 8, 0][..], &shorts()].concat());
    folder.file("small.zraw", zlib(&shorts()));
    for (more, data) in [
        ("", "plain.raw"),
        ("HeaderSize = 4\n", "junk.raw"),
        ("HeaderSize = -1\n", "junk.raw"),
        ("CompressedData = True\n", "small.zraw"),
    ] {
        let header = folder.file("a.mhd", format!("{BASE}{SHORT}{more}ElementDataFile = {data}\n"));
        assert_counts_up(&io::read(&header).unwrap());
    }
}

fn a_written_header_names_its_data() {
    let folder = Folder::new();
    let volume = read(&folder, &format!("{BASE}{SHORT}{LOCAL}"), &shorts());
    io::write(&folder.path("out.v1.mhd"), &volume).unwrap();
    assert_eq!(std::fs::read(folder.path("out.v1.raw")).unwrap(), shorts());
    let header = std::fs::read_to_string(folder.path("out.v1.mhd")).unwrap();
    assert!(header.ends_with("ElementDataFile = out.v1.raw\n"), "{header}");
    assert_eq!(io::read(&folder.path("out.v1.mhd")).unwrap(), volume);
}
