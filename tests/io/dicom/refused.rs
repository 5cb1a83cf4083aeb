//! Series that are refused, each with words of the line that says why.

use super::super::dicom_file::DicomFile;
use super::{FRAMES, PHOTOMETRIC, SLOPE, folder_of, framed};
use crate::support::trial;
use dicom_core::VR;
use libtest_mimic::Trial;
use mireg::io;

pub fn tests() -> impl Iterator<Item = Trial> {
    refusals().into_iter().map(|refusal| {
        let Refusal { what, slices, expected } = refusal;
        trial(format!("io::dicom::refused::{what}"), move || assert_refused(&slices, expected))
    })
}

/// A series, and words of the message that refuses it.
struct Refusal {
    what: &'static str,
    slices: Vec<DicomFile>,
    expected: &'static [&'static str],
}

fn assert_refused(slices: &[DicomFile], expected: &[&str]) {
    let message = io::read(&folder_of(slices).path("")).unwrap_err().to_string();
    assert!(!message.contains('\n') && !message.ends_with('.'), "{message}");
    expected.iter().for_each(|words| assert!(message.contains(words), "no \"{words}\" in: {message}"));
}

fn refusals() -> Vec<Refusal> {
    let series = |what, heights: &[f64], expected| {
        let slices = heights.iter().map(|&z| DicomFile::at(z, 0)).collect();
        Refusal { what, slices, expected }
    };
    let second = |what, second: DicomFile, expected| {
        let slices =
            vec![DicomFile::at(0.0, 0), DicomFile { position: second.position.map(|_| [0.0, 0.0, 1.0]), ..second }];
        Refusal { what, slices, expected }
    };
    let one = |what, slice: DicomFile, expected| Refusal { what, slices: vec![slice], expected };
    let plain = DicomFile::default;
    // A step of 5 mm that leans 1.34 mm is a tilt of 15 degrees.
    let tilted = |n: u16| DicomFile { position: Some([0.0, 1.34 * f64::from(n), 5.0 * f64::from(n)]), ..plain() };
    let sagittal = Some([0.0, 1.0, 0.0, 0.0, 0.0, -1.0]);
    vec![
        series(
            "missing",
            &[0.0, 2.5, 7.5, 10.0],
            &["at 2.50 mm (1.dcm) and 7.50 mm (2.dcm) are 5.00 mm apart", "about 1 missing"],
        ),
        series("missing of three", &[0.0, 2.5, 10.0], &["are 7.50 mm apart and others 2.50 mm (about 2 missing)"]),
        series(
            "uneven",
            &[0.0, 2.5, 5.0, 8.5],
            &["are 3.50 mm apart and others 2.50 mm (uneven); complete the series"],
        ),
        series(
            "doubled",
            &[0.0, 2.5, 2.5, 5.0],
            &["two slices at the same position, at 2.50 mm (1.dcm) and 2.50 mm (2.dcm)"],
        ),
        series("all at one place", &[2.5; 3], &["two slices at the same position"]),
        Refusal {
            what: "gantry tilt",
            slices: (0..4).map(tilted).collect(),
            expected: &["a gantry tilted 15.0 degrees", "shifted by up to 4.02 mm", "with dcm2niix"],
        },
        Refusal { what: "no images", slices: Vec::new(), expected: &["is a folder without DICOM images"] },
        second(
            "another size",
            DicomFile { rows: 4, pixels: vec![0; 16], ..plain() },
            &["1.dcm", "other numbers of rows and columns than 0.dcm"],
        ),
        second(
            "another orientation",
            DicomFile { orientation: sagittal, ..plain() },
            &["another orientation than 0.dcm"],
        ),
        second(
            "another spacing",
            DicomFile { spacing: Some([2.0, 0.6]), ..plain() },
            &["another pixel spacing than 0.dcm"],
        ),
        second("no position", DicomFile { position: None, ..plain() }, &["1.dcm: has no ImagePositionPatient"]),
        second("no spacing", DicomFile { spacing: None, ..plain() }, &["or PixelSpacing, so the slices"]),
        one(
            "a film",
            DicomFile { pixels: vec![0; 24], ..plain() }.with(FRAMES, VR::IS, "2"),
            &["has 2 frames without positions in space", "dcm2niix"],
        ),
        one(
            "two times",
            framed(&[(0.0, 1.0, 1), (2.0, 1.0, 1), (0.0, 1.0, 2), (2.0, 1.0, 2)]),
            &["holds 2 slices at each of 2 places, such as at 0.00 mm (0.dcm, frame 1) and 0.00 mm (0.dcm, frame 3)"],
        ),
        one(
            "fewer frames than groups",
            DicomFile { pixels: vec![0; 12], ..framed(&[(0.0, 1.0, 1), (2.0, 1.0, 1)]) },
            &["has 24 bytes of pixels, not 48, so it is truncated"],
        ),
        one(
            "a palette",
            plain().with(PHOTOMETRIC, VR::CS, "PALETTE COLOR"),
            &["are indices into a palette of colours, which mireg does not read; convert it to RGB"],
        ),
        one("one colour", plain().with(PHOTOMETRIC, VR::CS, "RGB"), &["its pixels have 1 samples and are RGB"]),
        one(
            "JPEG-LS",
            DicomFile { syntax: "1.2.840.10008.1.2.4.80", fragments: vec![vec![0; 8]], ..plain() },
            &["are compressed with JPEG-LS, which mireg does not read; decompress it, for example with gdcmconv --raw"],
        ),
        one(
            "JPEG 2000",
            DicomFile { syntax: "1.2.840.10008.1.2.4.90", fragments: vec![vec![0; 8]], ..plain() },
            &["JPEG 2000 pixels are damaged"],
        ),
        one(
            "not JPEG",
            DicomFile { syntax: "1.2.840.10008.1.2.4.70", fragments: vec![vec![0; 8]], ..plain() },
            &["JPEG pixels are damaged"],
        ),
        one(
            "not RLE",
            DicomFile { syntax: "1.2.840.10008.1.2.5", fragments: vec![vec![255; 80]], ..plain() },
            &["RLE pixels are damaged"],
        ),
        one(
            "too few pixels",
            DicomFile { pixels: vec![0; 5], ..plain() },
            &["has 10 bytes of pixels, not 24, so it is truncated"],
        ),
        one(
            "65535 x 65535 pixels",
            DicomFile { rows: 65_535, columns: 65_535, ..plain() },
            &["has 24 bytes of pixels, not 8589672450, so it is truncated"],
        ),
        one(
            "one column",
            DicomFile { columns: 1, ..plain() },
            &["has 1 columns and 3 rows; mireg needs at least 2 of each"],
        ),
        one("no slope", plain().with(SLOPE, VR::DS, "0"), &["RescaleSlope is 0; correct it"]),
        one(
            "strange slope",
            plain().with(SLOPE, VR::DS, "one"),
            &["RescaleSlope is \"one\", which should be numbers; correct it"],
        ),
        one("12 bits packed", DicomFile { bits: [12, 12, 11, 0], ..plain() }, &["12 of 12 bits"]),
    ]
}
