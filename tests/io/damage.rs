//! Files of every format that are cut short or have flipped bits give an error or a complete volume, without a panic
//! and without an allocation larger than the content of the file could need.

use std::path::PathBuf;

use libtest_mimic::Trial;
use mireg::{Error, Geometry, PixelType, Volume, io};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::dicom_file::{DicomFile, Frame};
use super::nifti_file::NiftiFile;
use super::tiff_file::{self, Page};
use super::{Folder, fixture, gzip};
use crate::support::allocator::{Noting, noted};
use crate::support::trial;

pub fn tests() -> Vec<Trial> {
    let of_sample = |sample: Sample| {
        let Sample { what, .. } = sample;
        let other = sample.clone();
        [
            trial(format!("io::damage::cut::{what}"), move || sample.cut_short()),
            trial(format!("io::damage::flipped::{what}"), move || other.with_flipped_bits()),
        ]
    };
    samples().into_iter().flat_map(of_sample).collect()
}

/// Bytes that a reader may take however short the file is: buffers and tables of decoders.
const FREE: usize = 2 << 20;
/// The largest number of f32 bytes per byte of a file: deflate's largest ratio, times the size of the float that a byte
/// becomes.
const MOST: usize = 1032 * 4;

#[global_allocator]
static ALLOCATOR: Noting<{ usize::MAX }> = Noting;

/// Returns what `run` returns, and the bytes of the largest allocation that this thread requested in the meantime.
pub fn largest_allocation<T>(run: impl FnOnce() -> T) -> (T, usize) {
    let (returned, asked) = noted(run);
    (returned, asked.largest)
}

/// A good file.
#[derive(Clone)]
struct Sample {
    what: &'static str,
    name: &'static str,
    bytes: Vec<u8>,
    /// Files that belong in the same folder.
    beside: Vec<PathBuf>,
}

impl Sample {
    fn folder(&self) -> Folder {
        let folder = Folder::new();
        for path in &self.beside {
            std::fs::copy(path, folder.path(&path.file_name().unwrap().to_string_lossy())).unwrap();
        }
        assert!(self.reads(&folder, &self.bytes), "the undamaged sample is not read");
        folder
    }

    /// Returns whether `bytes` in place of the sample's are read as a volume. Asserts that such a volume is complete.
    fn reads(&self, folder: &Folder, bytes: &[u8]) -> bool {
        let path = folder.file(self.name, bytes);
        let (read, largest) = largest_allocation(|| io::read(&path));
        let honest = FREE + MOST * bytes.len();
        assert!(largest <= honest, "{largest} bytes allocated at once, at most {honest} allowed");
        match read {
            Ok(volume) => {
                assert_eq!(volume.voxels.len(), volume.geometry.voxels());
                assert!(volume.voxels.iter().all(|v| v.is_finite()));
                assert!(volume.geometry.world_to_index().is_finite());
                true
            }
            Err(error) => {
                let message = error.to_string();
                assert!(matches!(error, Error::File { .. }) && !message.contains('\n'), "{message}");
                false
            }
        }
    }

    fn cut_short(&self) {
        let folder = self.folder();
        for length in 0..self.bytes.len() {
            self.reads(&folder, &self.bytes[..length]);
        }
        // A file without its second half cannot be read as a complete volume.
        assert!(!self.reads(&folder, &self.bytes[..self.bytes.len() / 2]));
    }

    fn with_flipped_bits(&self) {
        let folder = self.folder();
        let flips = proptest::collection::vec((any::<prop::sample::Index>(), 0..8u8), 1..6);
        let config = Config { cases: 400, failure_persistence: None, ..Config::default() };
        let run = TestRunner::new(config).run(&flips, |flips| {
            let mut bytes = self.bytes.clone();
            flips.iter().for_each(|(at, bit)| bytes[at.index(self.bytes.len())] ^= 1u8 << bit);
            self.reads(&folder, &bytes);
            Ok(())
        });
        run.unwrap();
    }
}

/// Returns the bytes that mireg writes to a file of this name.
fn written(name: &str, flat: bool) -> Vec<u8> {
    let folder = Folder::new();
    let size = if flat { [12, 10, 1] } else { [6, 5, 4] };
    let geometry = Geometry::axis_aligned(size, glam::DVec3::ONE, glam::DVec3::ZERO);
    let volume = Volume { geometry, voxels: (0..120).map(|v| v as f32).collect(), pixel: PixelType::U8 };
    io::write(&folder.path(name), &volume).unwrap();
    std::fs::read(folder.path(name)).unwrap()
}

fn dicom(slice: &DicomFile) -> Vec<u8> {
    std::fs::read(slice.write(&Folder::new().path("a.dcm"))).unwrap()
}

fn samples() -> Vec<Sample> {
    let sample = |what, name, bytes| Sample { what, name, bytes, beside: Vec::new() };
    let nifti = NiftiFile { qform_code: 1, sform_code: 1, ..NiftiFile::default() };
    let nifti_2 = NiftiFile { version: 2, ..nifti.clone() };
    let text =
        "NRRD0004\ntype: short\ndimension: 3\nsizes: 2 2 2\nspacings: 1 2 3\nencoding: ascii\n\n1 2 3 4 5 6 7 8\n";
    // Two segments of one run of the same byte.
    let rle = [&[2u8, 0, 0, 0, 64, 0, 0, 0, 66, 0, 0, 0][..], &[0; 52], &[245, 1, 245, 7]].concat();
    let rle = DicomFile { syntax: "1.2.840.10008.1.2.5", fragments: vec![rle], ..DicomFile::default() };
    let jpeg = DicomFile {
        syntax: "1.2.840.10008.1.2.4.50",
        columns: 12,
        rows: 10,
        bits: [8, 8, 7, 0],
        fragments: vec![written("a.jpg", true)],
        ..DicomFile::default()
    };
    let implicit = DicomFile { syntax: "1.2.840.10008.1.2", ..DicomFile::default() };
    let beside = ["a.dcm", "b.dcm", "c.dcm", "d.dcm"].map(|name| fixture("dicom").join(name)).to_vec();
    let read = |name: &str| std::fs::read(fixture(name)).unwrap();
    let frames = [0.0, 1.0, 2.0].map(|height| Frame { height, slope: 1.0, time: 1 }).to_vec();
    let frames = DicomFile { frames, pixels: (0..36).collect(), ..DicomFile::default() };
    let colours = Page { channels: 3, photometric: 2, ..Page::default() };
    let tiles = Page { size: [20, 17], unit: [16, 16], ..colours.clone() };
    let planes = Page { planar: true, unit: [12, 4], bits: 16, ..colours };
    vec![
        sample("nifti-1", "a.nii", nifti.bytes()),
        sample("nifti-2", "a.nii", nifti_2.bytes()),
        sample("nifti of gzip", "a.nii.gz", gzip(&nifti.bytes())),
        sample("metaimage", "a.mha", written("a.mha", false)),
        sample("nrrd", "a.nrrd", written("a.nrrd", false)),
        sample("mgh", "a.mgh", written("a.mgh", false)),
        sample("mgz", "a.mgz", written("a.mgz", false)),
        sample("nifti of colours", "a.nii", NiftiFile { datatype: 128, voxels: vec![9; 360], ..nifti.clone() }.bytes()),
        sample("nrrd of text", "a.nrrd", text.into()),
        sample("png", "a.png", written("a.png", true)),
        sample("jpeg", "a.jpg", written("a.jpg", true)),
        sample("tiff", "a.tif", written("a.tif", true)),
        sample("tiff of tiles", "a.tif", tiff_file::bytes(&[(tiles.clone(), tiles.units(|[x, ..]| x as u16))])),
        sample("tiff of planes", "a.tif", tiff_file::bytes(&[(planes.clone(), planes.units(|[x, ..]| x as u16))])),
        sample("dicom", "a.dcm", dicom(&DicomFile::default())),
        sample("dicom implicit", "a.dcm", dicom(&implicit)),
        sample("dicom of rle", "a.dcm", dicom(&rle)),
        sample("dicom of jpeg", "a.dcm", dicom(&jpeg)),
        sample("dicom of frames", "a.dcm", dicom(&frames)),
        Sample { what: "dicom of lossless jpeg", name: "e.dcm", bytes: read("lossless.dcm"), beside: beside.clone() },
        Sample { what: "dicom of jpeg 2000", name: "e.dcm", bytes: read("jpeg2000.dcm"), beside: beside.clone() },
        Sample { what: "dicom deflated", name: "e.dcm", bytes: read("deflated.dcm"), beside },
    ]
}
