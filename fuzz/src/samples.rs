//! Small, good files of every format.

use std::path::Path;

use glam::{DVec2, DVec3};
use mireg::io::transform::{Format, Grids};
use mireg::transform::{Dimension, Field, Kind, Linear, Mesh, Transform};
use mireg::{Geometry, PixelType, Volume, io};
use strum::VariantArray;

use crate::dicom_file::{DicomFile, Frame};
use crate::landmarks;
use crate::nifti_file::NiftiFile;
use crate::parse;
use crate::tiff_file::{self, Page};
use crate::tree::{Node, Packing};

/// Files of one folder, of which the first is read.
pub struct Sample {
    pub name: String,
    pub files: Vec<(String, Node)>,
    pub reader: Reader,
}

/// The function that reads a sample.
#[derive(Clone, Copy)]
pub enum Reader {
    Image,
    Field,
    /// A transform, of this format if one is given.
    Transform(Option<Format>),
    Points,
    Mesh,
}

/// Makes all samples. Some files are written to `folder` and read again.
pub fn all(folder: &Path) -> Vec<Sample> {
    let maker = Maker { folder };
    [maker.images(), maker.dicom(), maker.transforms(), maker.points_and_meshes()].into_iter().flatten().collect()
}

/// Returns the grids of two images, for the formats of transforms that need them.
pub fn grids() -> [Geometry; 2] {
    let grid = |size, spacing| Geometry::axis_aligned(size, DVec3::splat(spacing), DVec3::new(-20.0, 10.0, 5.0));
    [grid([20, 30, 10], 1.5), grid([30, 20, 15], 2.0)]
}

type File = (&'static str, Vec<u8>);

fn sample(name: &str, reader: Reader, files: impl IntoIterator<Item = File>) -> Sample {
    let files = files.into_iter().map(|(name, bytes)| (name.to_owned(), parse::any(&bytes)));
    Sample { name: name.to_owned(), files: files.collect(), reader }
}

/// Reads a file in `tests/fixtures`.
fn fixture(name: &'static str) -> File {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures").join(name);
    let own = name.rsplit('/').next().unwrap_or(name);
    (own, std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display())))
}

struct Maker<'a> {
    folder: &'a Path,
}

impl Maker<'_> {
    /// Returns the file of this name that `write` writes.
    fn file(&self, name: &'static str, write: impl FnOnce(&Path)) -> File {
        let path = self.folder.join(name);
        write(&path);
        (name, std::fs::read(path).expect("it was written"))
    }

    /// Returns a volume as mireg writes it.
    fn volume(&self, name: &'static str, size: [usize; 3], pixel: PixelType) -> File {
        let geometry = Geometry::axis_aligned(size, DVec3::new(1.0, 2.0, 3.0), DVec3::new(4.0, -5.0, 6.0));
        let voxels = (0..geometry.voxels()).map(|v| (v * 7 % 251) as f32).collect();
        self.file(name, |path| io::write(path, &Volume { geometry, voxels, pixel }).expect("it can be written"))
    }

    fn images(&self) -> Vec<Sample> {
        const SOLID: [usize; 3] = [5, 4, 3];
        const FLAT: [usize; 3] = [12, 10, 1];
        let nifti = NiftiFile { qform_code: 1, sform_code: 1, ..NiftiFile::default() };
        let many = NiftiFile { dim: vec![4, 5, 3, 2], slope: 0.5, intercept: 3.0, ..nifti.clone() };
        let colours = NiftiFile { datatype: 128, dim: vec![4, 5, 2], ..nifti.clone() };
        let pair = NiftiFile { pair: true, big_endian: true, ..nifti.clone() };
        let text = "NRRD0004\ntype: short\ndimension: 3\nspace: right-anterior-superior\nsizes: 2 2 2\n\
                    space directions: (1,0,0) (0,2,0) (0,0,3)\nspace origin: (1,2,3)\nkinds: domain domain domain\n\
                    encoding: ascii\nkey:=value\n\n1 2 3 4 5 6 7 8\n";
        let detached = "NRRD0004\ntype: uint16\ndimension: 3\nsizes: 5 4 3\nspacings: 1 2 3\nencoding: raw\n\
                        endian: big\nline skip: 1\nbyte skip: 2\ndata file: a.raw\n";
        let mha = "ObjectType = Image\nNDims = 3\nDimSize = 2 2 2\nElementSpacing = 1 2 3\nOffset = 4 5 6\n\
                   TransformMatrix = 1 0 0 0 1 0 0 0 1\nElementNumberOfChannels = 3\nElementType = MET_UCHAR\n\
                   HeaderSize = -1\nElementDataFile = LOCAL\n";
        let image = |name: &str, file: File| sample(name, Reader::Image, [file]);
        let raw = |count: usize| ("a.raw", (0..count).map(|n| b"\n1"[n % 2]).collect());
        vec![
            image("nifti", self.volume("a.nii", SOLID, PixelType::I16)),
            image("nifti-2", ("a.nii", NiftiFile { version: 2, ..nifti.clone() }.bytes())),
            image("nifti-gz", self.volume("a.nii.gz", SOLID, PixelType::F32)),
            image("nifti-4d", ("a.nii", many.bytes())),
            image("nifti-colours", ("a.nii", colours.bytes())),
            sample("nifti-pair", Reader::Image, [("a.hdr", pair.header()), ("a.img", pair.voxels.clone())]),
            image("metaimage", self.volume("a.mha", SOLID, PixelType::U16)),
            sample("metaimage-pair", Reader::Image, [self.volume("b.mhd", SOLID, PixelType::F64), self.read("b.raw")]),
            image("metaimage-colours", ("a.mha", [mha.as_bytes(), &[7; 24]].concat())),
            image("nrrd", self.volume("a.nrrd", SOLID, PixelType::I8)),
            image("nrrd-oblique", fixture("oblique.nrrd")),
            image("nrrd-text", ("a.nrrd", text.into())),
            sample("nrrd-pair", Reader::Image, [("a.nhdr", detached.into()), raw(124)]),
            image("mgh", self.volume("a.mgh", SOLID, PixelType::I16)),
            image("mgz", self.volume("a.mgz", SOLID, PixelType::F32)),
            image("mgz-4d", fixture("oblique.mgz")),
            image("png", self.volume("a.png", FLAT, PixelType::U8)),
            image("png-16", self.volume("a.png", FLAT, PixelType::U16)),
            image("png-colours", fixture("colour.png")),
            image("jpeg", self.volume("a.jpg", FLAT, PixelType::U8)),
            image("jpeg-ramp", fixture("ramp.jpg")),
            image("tiff", self.volume("a.tif", FLAT, PixelType::U16)),
            image("tiff-itk", fixture("flat.tif")),
            image("tiff-packbits", ("a.tif", tiff(32773, &[11, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12].repeat(10)))),
            image("tiff-lzw", ("a.tif", tiff(5, &lzw(&[9; 120])))),
            image("tiff-deflate", ("a.tif", tiff(8, &Packing::Zlib.pack(&[9; 120])))),
            image(
                "tiff-tiles",
                ("a.tif", pages(&Page { unit: [16, 16], channels: 3, photometric: 2, ..Page::default() })),
            ),
            image(
                "tiff-planes",
                ("a.tif", pages(&Page { channels: 3, photometric: 2, planar: true, bits: 16, ..Page::default() })),
            ),
            image("tiff-inks", ("a.tif", pages(&Page { channels: 4, photometric: 5, ..Page::default() }))),
        ]
    }

    /// Returns a file that was written together with the one before.
    fn read(&self, name: &'static str) -> File {
        self.file(name, |_| ())
    }

    fn dicom(&self) -> Vec<Sample> {
        let file = |name: &'static str, slice: &DicomFile| self.file(name, |path| drop(slice.write(path)));
        let one = |name: &str, slice: DicomFile| sample(name, Reader::Image, [file("a.dcm", &slice)]);
        let plain = DicomFile::default;
        let syntax = |syntax| DicomFile { syntax, ..plain() };
        let frames = [0.0, 1.0, 2.0].map(|height| Frame { height, slope: 1.0, time: 1 }).to_vec();
        let frames = DicomFile { frames, pixels: (0..36).collect(), ..plain() };
        let doses = DicomFile { pixels: (0..36).collect(), ..plain() }
            .with(dicom_core::Tag(0x0028, 0x0008), dicom_core::VR::IS, "3")
            .with(dicom_core::Tag(0x3004, 0x000c), dicom_core::VR::DS, "0\\1\\2");
        let colours = DicomFile { samples: 3, bits: [8, 8, 7, 0], pixels: (0..36).collect(), ..plain() }.with(
            dicom_core::Tag(0x0028, 0x0004),
            dicom_core::VR::CS,
            "YBR_FULL",
        );
        let jpeg = DicomFile {
            columns: 12,
            rows: 10,
            bits: [8, 8, 7, 0],
            fragments: vec![self.volume("a.jpg", [12, 10, 1], PixelType::U8).1],
            ..syntax("1.2.840.10008.1.2.4.50")
        };
        let series = [("0.dcm", 0.0), ("1.dcm", 1.0), ("2.dcm", 2.0)].map(|(name, z)| file(name, &DicomFile::at(z, 0)));
        let beside = ["dicom/a.dcm", "dicom/b.dcm", "dicom/c.dcm", "dicom/d.dcm"];
        let middle = |name: &str, middle| {
            sample(name, Reader::Image, std::iter::once(middle).chain(beside).map(fixture).collect::<Vec<_>>())
        };
        vec![
            one("dicom", plain()),
            one("dicom-implicit", syntax("1.2.840.10008.1.2")),
            one("dicom-big-endian", syntax("1.2.840.10008.1.2.2")),
            one("dicom-frames", frames),
            one("dicom-doses", doses),
            one("dicom-colours", colours),
            one("dicom-jpeg", jpeg),
            sample("dicom-series", Reader::Image, series),
            middle("dicom-lossless-jpeg", "lossless.dcm"),
            middle("dicom-jpeg-2000", "jpeg2000.dcm"),
            middle("dicom-rle", "rle.dcm"),
            middle("dicom-deflated", "deflated.dcm"),
        ]
    }

    fn transforms(&self) -> Vec<Sample> {
        let [fixed, moving] = grids();
        let parameters = vec![0.1, -0.2, 0.3, 4.5, -5.25, 6.125, 1.25];
        let linear = Linear { kind: Kind::Similarity, dimension: Dimension::Three, parameters, centre: DVec3::ONE };
        let written = |&format: &Format| {
            let name = written_name(format);
            let write = |path: &Path| {
                io::transform::write_linear(path, Some(format), &linear, &Grids::of(&fixed, &moving)).expect("written")
            };
            sample(&format!("transform-{format}"), Reader::Transform(Some(format)), [self.file(name, write)])
        };
        let grid = Geometry::axis_aligned([3, 4, 2], DVec3::splat(2.0), DVec3::ZERO);
        let field = Field::of(&grid, |p| p + DVec3::new(0.5, 0.25, -1.0));
        let chain = Transform::from(field).then(linear.clone());
        let chain = self.file("c.h5", |path| {
            io::transform::write(path, None, &chain, &Grids::default()).expect("it can be written");
        });
        let fields = [
            "fields/ants.nii.gz",
            "fields/double.nii.gz",
            "fields/plane.mha",
            "fields/plane.nrrd",
            "fields/space.mha",
            "fields/space.nrrd",
        ];
        let fields = fields.map(|name| sample(name, Reader::Field, [fixture(name)]));
        let others = [
            "fields/chain.h5",
            "fields/old.h5",
            "fields/latest.h5",
            "fields/chain.tfm",
            "transforms/composite.tfm",
            "transforms/ants_euler.mat",
            "transforms/ants_plane.mat",
            "transforms/similarity2.0.txt",
        ];
        let others = others.map(|name| sample(&format!("transform-{name}"), Reader::Transform(None), [fixture(name)]));
        let names = ["transforms/chain3.1.txt", "transforms/chain3.0.txt"];
        let elastix = sample("transform-elastix-chain", Reader::Transform(None), names.map(fixture));
        let own = sample("transform-h5-chain", Reader::Transform(None), [chain]);
        Format::VARIANTS.iter().map(written).chain(fields).chain(others).chain([elastix, own]).collect()
    }

    fn points_and_meshes(&self) -> Vec<Sample> {
        let markups = landmarks::MARKUPS.replace("SYSTEM", "RAS").replace("POSITION", "[1, 2, 3]");
        let points = landmarks::FILES.iter().map(|&(name, text)| (name, text.into()));
        let points = points.chain([("a.mrk.json", markups.into())]);
        let points = points.map(|file| sample(&format!("points-{}", file.0), Reader::Points, [file]));
        let corners = [[0.0, 0.0], [9.0, 0.0], [0.0, 9.0], [9.0, 9.0]].map(DVec2::from).to_vec();
        let moving = corners.iter().map(|&corner| corner + 0.5).collect();
        let mesh = Mesh { fixed: corners, moving, triangles: vec![[0, 1, 2], [1, 3, 2]] };
        let mesh = self.file("mesh.json", |path| io::mesh::write(path, &mesh).expect("it can be written"));
        points.chain([sample("mesh", Reader::Mesh, [mesh])]).collect()
    }
}

/// Returns the name of a file of a format.
fn written_name(format: Format) -> &'static str {
    match format {
        Format::Itk => "a.tfm",
        Format::ItkHdf5 => "a.h5",
        Format::Ants | Format::Fsl => "a.mat",
        Format::Rire => "a.standard",
        Format::Lta => "a.lta",
        Format::Afni => "a.aff12.1D",
        Format::Minc => "a.xfm",
        Format::Json => "a.json",
        _ => "a.txt",
    }
}

/// Returns a TIFF file of 12 x 10 pixels of 8 bits in one strip.
fn tiff(compression: u32, strip: &[u8]) -> Vec<u8> {
    tiff_file::bytes(&[(Page { compression, ..Page::default() }, vec![strip.to_vec()])])
}

/// Returns a TIFF file that has this page twice.
fn pages(page: &Page) -> Vec<u8> {
    let units = page.units(|[x, y, channel]| (x + 7 * y + 40 * channel) as u16);
    tiff_file::bytes(&[(page.clone(), units.clone()), (page.clone(), units)])
}

/// Compresses by the LZW of TIFF. There are so few bytes that all codes have 9 bits: the clear code, the bytes as they
/// are, the end code.
fn lzw(bytes: &[u8]) -> Vec<u8> {
    let codes = std::iter::once(256).chain(bytes.iter().map(|&byte| u32::from(byte))).chain([257]);
    let bits: Vec<u32> = codes.flat_map(|code| (0..9).rev().map(move |bit| code >> bit & 1)).collect();
    bits.chunks(8).map(|bits| (0..8).fold(0, |byte, n| byte << 1 | bits.get(n).copied().unwrap_or(0)) as u8).collect()
}
