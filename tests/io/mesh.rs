//! Meshes and displacement fields.

use std::io::Read;
use std::path::Path;

use flate2::read::ZlibDecoder;
use glam::{DAffine3, DVec2, DVec3};
use libtest_mimic::Trial;
use mireg::io::transform::{self, Grids};
use mireg::transform::{Mesh, MeshMap};
use mireg::{Error, Geometry, PixelType, Volume, io};

use super::Folder;
use crate::support::trial;

pub fn tests() -> Vec<Trial> {
    vec![
        trial("io::mesh::round trip", a_mesh_is_read_back_to_the_last_bit),
        trial("io::mesh::bad", what_is_no_mesh_is_refused),
        trial("io::mesh::damage", damage_is_refused_or_read),
        trial("io::mesh::vtk", points_of_vtk_are_the_corners),
        trial("io::mesh::field", a_field_is_what_the_map_does),
    ]
}

/// Over a picture of 61 x 41 pixels, with corners moved by less than 3 mm.
pub fn mesh() -> (Geometry, Mesh) {
    let geometry = Geometry::axis_aligned([61, 41, 1], DVec3::ONE, DVec3::new(-7.5, 3.25, 0.0));
    let voxels = (0..61 * 41).map(|n| (n % 97) as f32 + 20.0).collect();
    let picture = Volume { geometry, voxels, pixel: PixelType::U8 };
    let start = DAffine3::from_rotation_z(0.1);
    let mut mesh = Mesh::build(&picture, &start, Some(15.0), None).unwrap();
    for (n, point) in (0..).zip(&mut mesh.moving) {
        let n = f64::from(n);
        *point += DVec2::new((n * 0.9) % 3.0 - 1.5, (n * 1.7) % 3.0 - 1.5);
    }
    assert_eq!(mesh.check(), Ok(()));
    (geometry, mesh)
}

fn a_mesh_is_read_back_to_the_last_bit() {
    let folder = Folder::new();
    let path = folder.path("mesh.json");
    let (_, mesh) = mesh();
    io::mesh::write(&path, &mesh).unwrap();
    assert!(io::mesh::is(&path));
    assert_eq!(io::mesh::read(&path).unwrap(), mesh);
}

fn refused(outcome: Result<Mesh, Error>) -> String {
    let error = outcome.unwrap_err();
    let message = error.to_string();
    assert!(matches!(error, Error::File { .. }) && !message.chars().any(char::is_control), "{message:?}");
    assert!(message.len() < 500, "{message}");
    message
}

fn what_is_no_mesh_is_refused() {
    let folder = Folder::new();
    let path = folder.path("mesh.json");
    io::mesh::write(&path, &mesh().1).unwrap();
    let good = std::fs::read_to_string(&path).unwrap();
    let told = |from: &str, to: &str| {
        assert!(good.contains(from), "{from}");
        std::fs::write(&path, good.replacen(from, to, 1)).unwrap();
        refused(io::mesh::read(&path))
    };
    assert!(told("\"version\": 1", "\"version\": 2").contains("version 2"));
    assert!(told("mireg mesh", "a mess").contains("no mesh"));
    assert!(told("[0,1,2]", "[0,1,99]").contains("corner 99"));
    assert!(told("[0,1,2]", "[0,2,1]").contains("senses"));
    assert!(told("[0,1,2]", "[0,1]").contains("no mesh"));
    assert!(told("-7.5", "1e999").contains("no mesh"));
    assert!(told("\"moving\"", "\"moved\"").contains("moving"));
    assert!(refused(io::mesh::read(&folder.path("none.json"))).contains("no such file"));
    // A mesh is not read as a linear transform, nor a transform as a mesh.
    std::fs::write(&path, &good).unwrap();
    let told = transform::read_linear(&path, None, &Grids::default()).unwrap_err().to_string();
    assert!(told.contains("mesh") && told.contains("apply it to points or images"), "{told}");
    let linear = folder.file("linear.json", "{\"lps\": [[1,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,1]]}");
    assert!(!io::mesh::is(&linear));
    refused(io::mesh::read(&linear));
}

/// The file is cut at each byte, and a bit of each byte is flipped.
fn damage_is_refused_or_read() {
    let folder = Folder::new();
    let path = folder.path("mesh.json");
    io::mesh::write(&path, &mesh().1).unwrap();
    let good = std::fs::read(&path).unwrap();
    for at in 0..good.trim_ascii_end().len() {
        std::fs::write(&path, &good[..at]).unwrap();
        refused(io::mesh::read(&path));
        let mut bytes = good.clone();
        bytes[at] ^= 1 << (at % 8);
        std::fs::write(&path, bytes).unwrap();
        match io::mesh::read(&path) {
            Ok(mesh) => assert!(MeshMap::new(&mesh).forward(DVec2::ZERO).is_finite()),
            outcome => drop(refused(outcome)),
        }
    }
}

fn points_of_vtk_are_the_corners() {
    let folder = Folder::new();
    let path = folder.path("mesh.vtk");
    let (_, mesh) = mesh();
    let sure: Vec<f64> = (0..mesh.triangles.len()).map(|n| n as f64 / 8.0).collect();
    io::mesh::write_vtk(&path, &mesh, &[("confidence", &sure)]).unwrap();
    let points = io::points::Landmarks::read(&path, None, None).unwrap();
    assert!(points.points().iter().map(|point| point.truncate()).eq(mesh.fixed.iter().copied()));
    let text = std::fs::read_to_string(&path).unwrap();
    let after = |word: &str| text[text.find(word).unwrap()..].lines().nth(1).unwrap().to_owned();
    let [a, b, c] = mesh.triangles[0];
    assert_eq!(after("POLYGONS"), format!("3 {a} {b} {c}"));
    let vector: Vec<f64> = after("VECTORS").split(' ').map(|number| number.parse().unwrap()).collect();
    assert_eq!(vector, (mesh.moving[0] - mesh.fixed[0]).extend(0.0).to_array());
    let ratio = text[text.find("LOOKUP_TABLE").unwrap()..].lines().nth(1).unwrap().parse::<f64>().unwrap();
    assert_eq!(Some(ratio), mesh.area_ratios().next());
    let rest = &text[text.find("SCALARS confidence double 1").unwrap()..];
    let read: Vec<f64> = rest.lines().skip(2).map(|line| line.parse().unwrap()).collect();
    assert_eq!(read, sure);
}

/// SimpleITK 2.5 read such a file, `DisplacementFieldTransform(ReadImage("field.mha", sitkVectorFloat64))`, and took the middles of pixels where
/// `mireg points` takes them, to the last bits of f32.
fn a_field_is_what_the_map_does() {
    let folder = Folder::new();
    let path = folder.path("field.mha");
    let (geometry, mesh) = mesh();
    let map = MeshMap::new(&mesh);
    io::field::write(&path, &map.field(&geometry)).unwrap();
    let (header, vectors) = parts(&path);
    for line in
        ["NDims = 2", "DimSize = 61 41", "Offset = -7.5 3.25", "ElementNumberOfChannels = 2", "ElementType = MET_FLOAT"]
    {
        assert!(header.lines().any(|l| l == line), "{line} is not in\n{header}");
    }
    assert_eq!(vectors.len(), 61 * 41);
    for (n, vector) in vectors.iter().enumerate() {
        let point = geometry.index_to_world().transform_point3(DVec3::new((n % 61) as f64, (n / 61) as f64, 0.0));
        let there = map.forward(point.truncate());
        assert!((point.truncate() + vector.as_dvec2()).distance(there) < 1e-5, "{n}");
    }
    // More than one number per pixel is no image.
    assert!(io::read(&path).unwrap_err().to_string().contains("several numbers"));
}

/// The header of a MetaImage, and its vectors.
fn parts(path: &Path) -> (String, Vec<glam::Vec2>) {
    let bytes = std::fs::read(path).unwrap();
    let last = b"ElementDataFile = LOCAL\n";
    let end = bytes.windows(last.len()).position(|part| part == last).unwrap() + last.len();
    let mut data = Vec::new();
    ZlibDecoder::new(&bytes[end..]).read_to_end(&mut data).unwrap();
    let number = |bytes: &[u8]| f32::from_le_bytes(bytes.try_into().unwrap());
    let vectors = data.chunks(8).map(|pair| glam::Vec2::new(number(&pair[..4]), number(&pair[4..]))).collect();
    (String::from_utf8(bytes[..end].to_vec()).unwrap(), vectors)
}
