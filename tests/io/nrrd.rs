//! NRRD: spaces, fields, encodings, and where the voxels are stored.

use glam::{DMat3, DVec3};
use libtest_mimic::Trial;
use mireg::{PixelType, Volume, io};

use super::{Folder, assert_lies, fixture, gzip};
use crate::support::trial;

pub fn tests() -> Vec<Trial> {
    vec![
        trial("io::nrrd::geometry", spaces_become_lps),
        trial("io::nrrd::axes", axes_of_one_number_are_left_out),
        trial("io::nrrd::data", voxels_in_any_place),
        trial("io::nrrd::types", types_and_byte_orders),
        trial("io::nrrd::peer", what_simpleitk_wrote_is_read),
        trial("io::nrrd::written", a_written_header_is_plain),
    ]
}

const BASE: &str =
    "NRRD0005\n# A comment: not a field\nnote:=neither\ntype: short\ndimension: 3\nsizes: 4 5 6\nendian: little\n";

fn shorts() -> Vec<u8> {
    (0..120i16).flat_map(i16::to_le_bytes).collect()
}

fn read(header: &str, data: &[u8]) -> Volume {
    let volume = io::read(&Folder::new().file("a.nrrd", [header.as_bytes(), b"\n", data].concat())).unwrap();
    assert_eq!(volume.voxels, (0..120).map(|v| v as f32).collect::<Vec<_>>());
    volume
}

fn raw(more: &str) -> Volume {
    read(&format!("{BASE}{more}encoding: raw\n"), &shorts())
}

fn spaces_become_lps() {
    let placed = "space directions: (0,2,0) (-3, 0, 0) (0,0,1)\nspace origin: (1,2,3)\n";
    let (spacing, axes) = (DVec3::new(2.0, 3.0, 1.0), DMat3::from_cols(DVec3::Y, DVec3::NEG_X, DVec3::Z));
    for (space, signs) in [
        ("left-posterior-superior", [1.0, 1.0, 1.0]),
        ("LPS", [1.0, 1.0, 1.0]),
        ("right-anterior-superior", [-1.0, -1.0, 1.0]),
        ("RAS", [-1.0, -1.0, 1.0]),
        ("left-anterior-superior", [1.0, -1.0, 1.0]),
        ("las", [1.0, -1.0, 1.0]),
        ("scanner-xyz", [1.0, 1.0, 1.0]),
        ("3D-right-handed", [1.0, 1.0, 1.0]),
    ] {
        let volume = raw(&format!("space: {space}\n{placed}"));
        let signs = DVec3::from(signs);
        assert_lies(&volume, spacing, DVec3::new(1.0, 2.0, 3.0) * signs, DMat3::from_diagonal(signs) * axes, 0.0);
    }
    assert_lies(&raw(&format!("space dimension: 3\n{placed}")), spacing, DVec3::new(1.0, 2.0, 3.0), axes, 0.0);
    assert_lies(&raw(""), DVec3::ONE, DVec3::ZERO, DMat3::IDENTITY, 0.0);
    let spacings = raw("spacings: 0.5 nan 2\naxis mins: nan nan nan\n");
    assert_lies(&spacings, DVec3::new(0.5, 1.0, 2.0), DVec3::ZERO, DMat3::IDENTITY, 0.0);
}

fn axes_of_one_number_are_left_out() {
    let [three, four] = ["dimension: 3\nsizes: 4 5 6\n", "dimension: 4\nsizes: 1 4 5 6\n"];
    let more = "space: LPS\nkinds: vector domain domain domain\nspace directions: none (2,0,0) (0,1,0) (0,0,3)\nencoding: raw\n";
    let volume = read(&format!("{}{more}", BASE.replace(three, four)), &shorts());
    assert_lies(&volume, DVec3::new(2.0, 1.0, 3.0), DVec3::ZERO, DMat3::IDENTITY, 0.0);
    let last = "dimension: 4\nsizes: 4 5 6 1\nkinds: domain domain domain list\nspacings: 1 1 2 nan\nencoding: raw\n";
    let volume = read(&BASE.replace(three, last), &shorts());
    assert_lies(&volume, DVec3::new(1.0, 1.0, 2.0), DVec3::ZERO, DMat3::IDENTITY, 0.0);
}

fn voxels_in_any_place() {
    let text = (0..120).map(|v| v.to_string()).collect::<Vec<_>>().join(if cfg!(windows) { "\r\n" } else { "\n" });
    read(&format!("{BASE}encoding: ascii\n"), text.as_bytes());
    read(&format!("{BASE}encoding: gzip\n"), &gzip(&shorts()));
    read(&format!("{BASE}encoding: gz\nbyte skip: 4\n"), &gzip(&[b"junk", &shorts()[..]].concat()));
    read(&format!("{BASE}encoding: raw\nline skip: 2\nbyteskip: 4\n"), &[b"one\ntwo\njunk", &shorts()[..]].concat());
    read(&format!("{BASE}encoding: raw\nbyte skip: -1\n"), &[b"junk", &shorts()[..]].concat());
    read(&format!("{BASE}encoding: raw\n").replace('\n', "\r\n").replace("\r\n\r\n", "\r\n"), &shorts());

    let folder = Folder::new();
    folder.file("a.raw", shorts());
    folder.file("a.raw.gz", gzip(&shorts()));
    for (encoding, data) in [("raw", "data file: a.raw\n"), ("gzip", "datafile: a.raw.gz\n\n")] {
        let header = folder.file("a.nhdr", format!("{BASE}encoding: {encoding}\n{data}"));
        assert_eq!(io::read(&header).unwrap().voxels, (0..120).map(|v| v as f32).collect::<Vec<_>>());
    }
}

fn types_and_byte_orders() {
    macro_rules! check {
        ($type:ty, $pixel:expr, $($name:expr),+) => {
            for name in [$($name),+] {
                for (endian, big) in [("little", false), ("big", true)] {
                    let header = BASE.replace("short", name).replace("little", endian);
                    let value = |v: u8| if big { (v as $type).to_be_bytes() } else { (v as $type).to_le_bytes() };
                    let volume = read(&format!("{header}encoding: raw\n"), &(0..120).flat_map(value).collect::<Vec<_>>());
                    assert_eq!(volume.pixel, $pixel);
                }
            }
        };
    }
    check!(u8, PixelType::U8, "uchar", "unsigned char", "uint8");
    check!(i8, PixelType::I8, "signed char", "int8");
    check!(u16, PixelType::U16, "ushort", "unsigned short int", "uint16_t");
    check!(i16, PixelType::I16, "short", "int16");
    check!(u32, PixelType::U32, "uint", "uint32");
    check!(i32, PixelType::I32, "int", "signed int");
    check!(u64, PixelType::U64, "ulonglong", "uint64");
    check!(i64, PixelType::I64, "long long", "int64");
    check!(f32, PixelType::F32, "float");
    check!(f64, PixelType::F64, "double");
}

/// SimpleITK 2.5 wrote it, compressed: a turn of 0.4 about z, the third axis down.
fn what_simpleitk_wrote_is_read() {
    let volume = io::read(&fixture("oblique.nrrd")).unwrap();
    let direction = DMat3::from_rotation_z(0.4) * DMat3::from_diagonal(DVec3::new(1.0, 1.0, -1.0));
    assert_lies(&volume, DVec3::new(0.75, 0.5, 2.5), DVec3::new(-30.5, 12.25, -100.0), direction, 1e-9);
    let value = |n: usize| (n % 6 + 10 * (n / 6 % 5) + 100 * (n / 30)) as f32 - 50.0;
    assert_eq!(volume.voxels, (0..120).map(value).collect::<Vec<_>>());
    assert_eq!((volume.geometry.size, volume.pixel), ([6, 5, 4], PixelType::I16));
}

fn a_written_header_is_plain() {
    let folder = Folder::new();
    io::write(&folder.path("a.nrrd"), &raw("space: RAS\nspace origin: (1,2,0.1)\n")).unwrap();
    let bytes = std::fs::read(folder.path("a.nrrd")).unwrap();
    let header = "NRRD0004\ntype: int16\ndimension: 3\nsizes: 4 5 6\nspace: left-posterior-superior\n\
                  space directions: (-1,0,0) (0,-1,0) (0,0,1)\nspace origin: (-1,-2,0.1)\nkinds: domain domain domain\n\
                  endian: little\nencoding: gzip\n\n";
    assert!(bytes.starts_with(header.as_bytes()), "{}", String::from_utf8_lossy(&bytes[..300]));
}
