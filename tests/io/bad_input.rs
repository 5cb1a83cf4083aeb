//! Checks that each bad file is refused with one line that names the file and says what is wrong and what to do.

use std::path::Path;

use libtest_mimic::Trial;
use mireg::{Error, io};

use super::nifti_file::NiftiFile;
use super::{Folder, gzip};
use crate::support::trial;

pub fn tests() -> Vec<Trial> {
    let of_file = |bad: Bad| trial(format!("io::bad_input::{}", bad.what), move || bad.check());
    let mut tests: Vec<_> =
        nifti().into_iter().chain(containers()).chain(metaimage()).chain(nrrd()).map(of_file).collect();
    tests.push(trial("io::bad_input::no file", no_file_at_all));
    tests
}

/// A file, and words of the message that refuses it.
struct Bad {
    what: &'static str,
    name: &'static str,
    bytes: Vec<u8>,
    expected: &'static [&'static str],
}

impl Bad {
    fn check(&self) {
        let folder = Folder::new();
        assert_refused(&folder.file(self.name, &self.bytes), self.expected);
    }
}

fn assert_refused(path: &Path, expected: &[&str]) {
    let error = io::read(path).unwrap_err();
    let message = error.to_string();
    assert!(matches!(&error, Error::File { path: named, .. } if named == path), "{error:?}");
    assert!(!message.contains('\n') && !message.ends_with('.'), "{message}");
    for words in expected {
        assert!(message.contains(words), "no \"{words}\" in: {message}");
    }
}

fn no_file_at_all() {
    let folder = Folder::new();
    for name in ["none.nii.gz", "none.mha", "none.nrrd", "none.png", "none.dcm", "none"] {
        assert_refused(&folder.path(name), &["no such file; check the name"]);
    }
    let inside = folder.path("folder.nii");
    std::fs::create_dir(&inside).unwrap();
    assert_refused(&inside, &["is a folder without DICOM images; name an image file in it"]);
    folder.file("lone.hdr", NiftiFile { pair: true, ..NiftiFile::default() }.header());
    let message = io::read(&folder.path("lone.hdr")).unwrap_err().to_string();
    assert!(message.ends_with("lone.img: no such file; check the name"), "{message}");
    for name in ["none.raw", "/"] {
        let says = format!("says that its voxels are in \"{name}\", and there is no such file; ");
        let mhd = format!("NDims = 3\nDimSize = 2 2 2\nElementType = MET_UCHAR\nElementDataFile = {name}\n");
        assert_refused(&folder.file("lone.mhd", mhd), &[&says]);
        let axes = "dimension: 3\nsizes: 2 2 2\nspacings: 1 1 1";
        let nhdr = format!("NRRD0004\ntype: uchar\n{axes}\nencoding: raw\ndata file: {name}\n");
        assert_refused(&folder.file("lone.nhdr", nhdr), &[&says]);
    }
}

/// Returns a file of floats that count up, except at the given indices.
fn floats(bad: &[(usize, f32)]) -> NiftiFile {
    let mut values: Vec<f32> = (0..120).map(|v| v as f32).collect();
    bad.iter().for_each(|&(at, value)| values[at] = value);
    NiftiFile { datatype: 16, voxels: values.iter().flat_map(|v| v.to_le_bytes()).collect(), ..NiftiFile::default() }
}

fn nifti() -> Vec<Bad> {
    let plain = NiftiFile::default();
    let bad = |what, file: NiftiFile, expected| Bad { what, name: "a.nii", bytes: file.bytes(), expected };
    let dim = |dim: &[i64]| NiftiFile { dim: dim.to_vec(), ..plain.clone() };
    let sform = |sform| NiftiFile { sform_code: 1, sform, ..plain.clone() };
    let singular = [[1.0, 0.0, 0.0, 0.0], [0.0; 4], [0.0, 0.0, 3.0, 0.0]];
    let not_finite = [[1.0, 0.0, 0.0, f32::NAN], [0.0, 2.0, 0.0, 0.0], [0.0, 0.0, 3.0, 0.0]];
    let sheared = [[1.0, 0.5, 0.0, 0.0], [0.0, 2.0, 0.0, 0.0], [0.0, 0.0, 3.0, 0.0]];
    let other_size = [[2.0, 0.0, 0.0, 0.0], [0.0, 2.0, 0.0, 0.0], [0.0, 0.0, 3.0, 0.0]];
    let pixdim = |pixdim| NiftiFile { pixdim, ..plain.clone() };
    let datatype = |datatype| NiftiFile { datatype, ..plain.clone() };
    let huge = NiftiFile { version: 2, ..dim(&[10_000; 3]) };
    let endless = NiftiFile { version: 2, ..dim(&[i64::MAX; 3]) };
    let nan = floats(&[(41, f32::INFINITY), (50, f32::NAN), (119, f32::NEG_INFINITY)]);
    let double = 1e300f64.to_le_bytes().repeat(120);
    let too_large = NiftiFile { datatype: 64, voxels: double, ..plain.clone() };
    let turned = NiftiFile { qform_code: 1, quaternion: [f32::NAN; 3], ..plain.clone() };
    vec![
        bad("10^12 voxels", huge, &["claims 10000x10000x10000 voxels (1000000000000 bytes)", "can hold (120 bytes)"]),
        bad("endless voxels", endless, &["claims 9223372036854775807x", "more than the file can hold"]),
        bad("infinite voxels", nan, &["2 of its voxels are infinite", "first at index (1, 0, 2); replace them"]),
        bad("voxels beyond f32", too_large, &["120 of its voxels", "too large for f32"]),
        bad("several volumes", dim(&[4, 5, 2, 3]), &["has 3 volumes; extract one, for example with"]),
        bad("vectors", dim(&[4, 5, 2, 1, 3]), &["has 3 volumes"]),
        bad("two more axes", dim(&[4, 5, 1, 2, 3]), &["has 5 dimensions, several of them beyond the third; extract"]),
        bad("one column", dim(&[1, 30, 4]), &["single slice along axis i (1x30x4 voxels)", "reorder its axes"]),
        bad("no voxels", dim(&[4, 0, 6]), &["claims 4x0x6 voxels; each number must be positive"]),
        bad("negative size", dim(&[4, -5, 6]), &["claims 4x-5x6 voxels"]),
        Bad {
            what: "nine dimensions",
            name: "a.nii",
            bytes: plain.with_dim([9, 4, 5, 6, 1, 1, 1, 1]),
            expected: &["claims 9 dimensions"],
        },
        bad("RGB", datatype(128), &["claims 4x5x6 voxels of 3 numbers (360 bytes)"]),
        bad("complex", datatype(32), &["voxels are complex (datatype 32)"]),
        bad("unknown type", datatype(77), &["unknown type (datatype 77)"]),
        bad("singular sform", sform(singular), &["sform has no inverse; correct it"]),
        bad("singular sform beside a qform", NiftiFile { qform_code: 1, ..sform(singular) }, &["sform has no inverse"]),
        bad("sform that is not finite", sform(not_finite), &["sform has no inverse"]),
        bad("sheared sform", sform(sheared), &["sform is sheared and it has no qform; resample it"]),
        bad(
            "sform of another voxel size",
            sform(other_size),
            &["pixdim) is 1, 2, 3 mm but its sform steps by 2, 2, 3 mm"],
        ),
        bad("qform that is not finite", turned, &["qform has no inverse; correct it"]),
        bad("zero voxel size", pixdim([1.0, 0.0, 3.0]), &["voxel size is 1, 0, 3 mm; each must be positive"]),
        bad("negative voxel size", pixdim([1.0, 2.0, -3.0]), &["voxel size is 1, 2, -3 mm"]),
        bad("voxel size that is not finite", pixdim([f32::NAN, 2.0, 3.0]), &["voxel size is NaN, 2, 3 mm"]),
    ]
}

fn containers() -> Vec<Bad> {
    let bytes = NiftiFile::default().bytes();
    let zipped = gzip(&bytes);
    let with = |at: usize, value: u8| {
        let mut damaged = zipped.clone();
        damaged[at] = value;
        damaged
    };
    let analyze = [&bytes[..344], &[0; 4], &bytes[348..]].concat();
    let offset = [&bytes[..108], &f32::NAN.to_le_bytes(), &bytes[112..]].concat();
    let far = [&bytes[..108], &1e9f32.to_le_bytes(), &bytes[112..]].concat();
    let huge = NiftiFile { version: 2, dim: vec![10_000; 3], ..NiftiFile::default() };
    let bad = |what, name, bytes: &[u8], expected| Bad { what, name, bytes: bytes.to_vec(), expected };
    let (cut, checksum) = (zipped.len() / 2, zipped.len() - 6);
    vec![
        bad("unknown extension", "a.xyz", &bytes, &["it reads .nii, .nii.gz, .hdr with .img, .mha,", "DICOM"]),
        bad("empty file", "a.nii", &[], &["ends too early, so it is truncated; copy or download it again"]),
        bad("truncated header", "a.nii", &bytes[..200], &["truncated"]),
        bad("truncated voxels", "a.nii", &bytes[..400], &["claims 4x5x6 voxels (120 bytes)", "truncated"]),
        bad("truncated gzip", "a.nii.gz", &zipped[..cut], &["ends too early, so it is truncated"]),
        bad("gzip without its end", "a.nii.gz", &zipped[..zipped.len() - 3], &["ends too early, so it is truncated"]),
        bad("short gzip", "a.nii.gz", &gzip(&bytes[..400]), &["truncated"]),
        bad("wrong checksum", "a.nii.gz", &with(checksum, zipped[checksum] ^ 1), &["is damaged (", "checksum"]),
        bad("corrupt gzip", "a.nii.gz", &with(10, 0xff), &["is damaged ("]),
        bad("10^12 voxels in gzip", "a.nii.gz", &gzip(&huge.bytes()), &["claims 10000x10000x10000 voxels"]),
        bad("Analyze", "a.nii", &analyze, &["is not NIfTI: its magic is missing, as in Analyze 7.5", "convert it"]),
        bad("Analyze pair", "a.hdr", &analyze, &["as in Analyze 7.5"]),
        bad("text", "a.nii", &b"not an image, but long enough".repeat(20), &["does not start like NIfTI-1 or NIfTI-2"]),
        bad("offset that is not finite", "a.nii", &offset, &["voxels at byte NaN"]),
        bad("offset beyond the end", "a.nii", &far, &["truncated"]),
    ]
}

fn metaimage() -> Vec<Bad> {
    const BASE: &str = "NDims = 3\nDimSize = 4 5 6\nElementType = MET_UCHAR\nElementDataFile = LOCAL\n";
    let with = |what, from: &str, to: &str, expected| {
        let bytes = [BASE.replace(from, to).into_bytes(), vec![1; 120]].concat();
        Bad { what, name: "a.mha", bytes, expected }
    };
    let line = |what, line: &str, expected| with(what, "DimSize", &format!("{line}\nDimSize"), expected);
    vec![
        with("mha of 10^12 voxels", "4 5 6", "10000 10000 10000", &["claims 10000x10000x10000 voxels"]),
        with("mha truncated", "4 5 6", "4 5 7", &["claims 4x5x7 voxels (140 bytes)", "(120 bytes)", "truncated"]),
        with("mha of a slice", "4 5 6", "4 1 6", &["single slice along axis j"]),
        with("mha of several volumes", "3\nDimSize = 4 5 6", "4\nDimSize = 4 5 3 2", &["has 2 volumes; extract one"]),
        with("mha of negative size", "4 5 6", "4 5 -6", &["claims 4x5x-6 voxels"]),
        with("mha with too few numbers", "4 5 6", "4 5", &["DimSize = 4 5 should hold 3 numbers"]),
        with("mha with words for numbers", "4 5 6", "4 5 six", &["DimSize = 4 5 six should hold 3 numbers"]),
        with("mha of 0 dimensions", "NDims = 3", "NDims = 0", &["claims 0 dimensions"]),
        with("mha without NDims", "NDims = 3\n", "", &["no line NDims"]),
        with("mha without data", "ElementDataFile = LOCAL", "", &["no line ElementDataFile"]),
        with("mha of slices", "LOCAL", "LIST", &["slices in many files (ElementDataFile = LIST); save it as one .mha"]),
        with("mha of a pattern", "LOCAL", "s%03d.raw 1 6 1", &["slices in many files"]),
        with("mha of unknown type", "MET_UCHAR", "MET_OTHER", &["ElementType is MET_OTHER; convert it"]),
        line("mha of vectors", "ElementNumberOfChannels = 2", &["several numbers per voxel"]),
        line("mha of text", "BinaryData = False", &["as text (BinaryData = False); save it as binary"]),
        line("mha of something else", "ObjectType = Tube", &["not an image (ObjectType)"]),
        line("mha with a strange flag", "CompressedData = maybe", &["CompressedData = maybe should say True or False"]),
        line("mha with a strange offset", "HeaderSize = -7", &["HeaderSize = -7 should be -1 or more"]),
        line("mha that starts in its header", "HeaderSize = 7", &["start inside its header"]),
        line("mha of zero spacing", "ElementSpacing = 1 0 1", &["voxel size is 1, 0, 1 mm; each must be positive"]),
        line("mha of NaN origin", "Offset = 1 NaN 1", &["origin is (1, NaN, 1); it must be finite"]),
        line("mha of singular matrix", "TransformMatrix = 1 0 0 1 0 0 0 0 1", &["sheared or has no inverse"]),
        line("mha that is not zlib", "CompressedData = True", &["is damaged ("]),
    ]
}

fn nrrd() -> Vec<Bad> {
    const BASE: &str = "NRRD0004\ntype: uchar\ndimension: 3\nsizes: 4 5 6\nencoding: raw\n\n";
    let with = |what, from: &str, to: &str, expected| {
        let bytes = [BASE.replace(from, to).into_bytes(), vec![1; 120]].concat();
        Bad { what, name: "a.nrrd", bytes, expected }
    };
    let line = |what, line: &str, expected| with(what, "encoding", &format!("{line}\nencoding"), expected);
    let text = |what, text: &str, expected| {
        let header = BASE.replace("4 5 6", "2 2 2").replace("raw", "ascii");
        Bad { what, name: "a.nrrd", bytes: [header.as_bytes(), text.as_bytes()].concat(), expected }
    };
    vec![
        with("nrrd of 10^12 voxels", "4 5 6", "10000 10000 10000", &["claims 10000x10000x10000 voxels"]),
        with("nrrd truncated", "4 5 6", "4 5 7", &["claims 4x5x7 voxels (140 bytes)", "(120 bytes)", "truncated"]),
        with("nrrd without its magic", "NRRD0004", "NRRB", &["does not start like NRRD; convert it"]),
        with("nrrd without sizes", "sizes: 4 5 6\n", "", &["no field \"sizes\""]),
        with("nrrd of too few sizes", "4 5 6", "4 5", &["\"sizes: 4 5\" should hold 3 values"]),
        with("nrrd of 99 dimensions", "dimension: 3", "dimension: 99", &["claims 99 dimensions"]),
        with("nrrd of blocks", "uchar", "block", &["of type block; convert it"]),
        with("nrrd without a byte order", "uchar", "short", &["\"endian: \" should say little or big"]),
        with("nrrd of bzip2", "raw", "bzip2", &["encoded as bzip2; save it with the encoding gzip"]),
        with("nrrd that is not gzip", "raw", "gzip", &["is damaged ("]),
        with("nrrd of volumes", "3\nsizes: 4 5 6", "4\nsizes: 4 5 3 2", &["has 2 volumes; extract one"]),
        line(
            "nrrd of matrices",
            "kinds: 2D-matrix domain domain",
            &["4 numbers per voxel or volumes along axis 0 (kind 2d-matrix)"],
        ),
        with(
            "nrrd of vectors",
            "4 5 6",
            "2 10 6\nspace: LPS\nspace directions: none (1,0,0) (0,1,0)",
            &["2 numbers per voxel or volumes"],
        ),
        line("nrrd in time", "space: LAST", &["its space is last; save it in one of three dimensions"]),
        line("nrrd of a list", "data file: LIST", &["slices in many files (data file: LIST); save it as one .nrrd"]),
        line("nrrd of a pattern", "data file: s%03d.raw 1 6 1", &["slices in many files"]),
        line("nrrd by axis mins", "axis mins: 0 0 5", &["by \"axis mins\" where its voxels lie"]),
        line("nrrd in cm", "space: LPS\nspace units: \"cm\" \"cm\" \"cm\"", &["not in mm (space units:"]),
        line("nrrd with a strange vector", "space directions: (1,0,0) (0,1) oops", &["\"oops\" where a vector"]),
        line("nrrd of two vectors", "space directions: (1,0,0) (0,1,0)", &["should hold 3 vectors"]),
        line("nrrd sheared", "space directions: (1,0,0) (1,1,0) (0,0,1)", &["sheared or has no inverse"]),
        line("nrrd of zero spacing", "spacings: 1 0 1", &["voxel size is 1, 0, 1 mm"]),
        line("nrrd with a strange skip", "byte skip: -2", &["\"byte skip: -2\" should be 0 or more"]),
        line("nrrd that skips too far", "line skip: 9", &["truncated"]),
        text("nrrd of too few numbers", "1 2 3 4 5 6 7", &["claims 2x2x2 voxels but 7 numbers follow"]),
        text("nrrd of words", "1 2 3 four 5 6 7 8", &["text that is no number"]),
        text("nrrd of infinity", "1 2 3 inf 5 nan 7 8", &["1 of its voxels are infinite", "(1, 1, 0)"]),
    ]
}
