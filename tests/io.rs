//! Files: valid and damaged volumes, transforms and output folders.

mod bad_input;
mod colours;
mod damage;
mod dicom;
mod dicom_file;
pub mod field;
mod flat;
pub mod mesh;
mod metaimage;
mod mgh;
mod nifti;
mod nifti_file;
mod nrrd;
mod output;
mod picture;
mod python;
mod real;
mod round_trip;
mod tiff;
pub mod tiff_file;
mod transform;
mod volumes;

use std::path::{Path, PathBuf};

use glam::{DMat3, DVec3};
use libtest_mimic::Trial;
use mireg::{Geometry, Volume};

pub fn tests() -> Vec<Trial> {
    let topics = [
        bad_input::tests(),
        colours::tests(),
        damage::tests(),
        dicom::tests(),
        field::tests(),
        flat::tests(),
        mesh::tests(),
        metaimage::tests(),
        mgh::tests(),
        nifti::tests(),
        nrrd::tests(),
        output::tests(),
        picture::tests(),
        python::tests(),
        real::tests(),
        round_trip::tests(),
        tiff::tests(),
        transform::tests(),
        volumes::tests(),
    ];
    topics.into_iter().flatten().collect()
}

/// A temporary folder, which is removed when the value is dropped.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes `bytes` to the file `name`.
    fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// Names of everything in it, sorted.
    fn names(&self) -> Vec<String> {
        names(self.0.path())
    }
}

/// A file that another program wrote.
fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures").join(name)
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut encoder, bytes).unwrap();
    encoder.finish().unwrap()
}

/// Returns all numbers of a geometry as bits.
fn bits(geometry: &Geometry) -> ([usize; 3], [u64; 3], [u64; 3], [u64; 9]) {
    (
        geometry.size,
        geometry.spacing.to_array().map(f64::to_bits),
        geometry.origin.to_array().map(f64::to_bits),
        geometry.direction.to_cols_array().map(f64::to_bits),
    )
}

/// Asserts that the geometry of `volume` is that of the other arguments, to within `tolerance` mm.
fn assert_lies(volume: &Volume, spacing: DVec3, origin: DVec3, direction: DMat3, tolerance: f64) {
    let expected = Geometry { size: volume.geometry.size, spacing, origin, direction };
    for (found, expected) in volume.geometry.corners().into_iter().zip(expected.corners()) {
        assert!(found.abs_diff_eq(expected, tolerance), "{:?}: corner {found} is not at {expected}", volume.geometry);
    }
}
