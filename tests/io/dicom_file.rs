//! Makes DICOM files of one slice.

use std::path::{Path, PathBuf};

use dicom_core::value::{DataSetSequence, PixelFragmentSequence};
use dicom_core::{DataElement, PrimitiveValue, Tag, VR};
use dicom_object::{FileMetaTableBuilder, InMemDicomObject};

/// The content of a DICOM file: by default, a slice of 16-bit pixels.
#[derive(Clone)]
pub struct DicomFile {
    pub syntax: &'static str,
    pub series: &'static str,
    pub description: &'static str,
    pub modality: &'static str,
    /// Whether there are pixels, and rows and columns of them.
    pub image: bool,
    /// Numbers per pixel, and whether they are in planes.
    pub samples: u16,
    pub planar: u16,
    pub columns: u16,
    pub rows: u16,
    pub position: Option<[f64; 3]>,
    pub orientation: Option<[f64; 6]>,
    /// The distances of rows, then of columns, mm.
    pub spacing: Option<[f64; 2]>,
    /// Bits allocated, bits stored, high bit, pixel representation.
    pub bits: [u16; 4],
    pub pixels: Vec<u16>,
    /// Fragments of a compressed frame, instead of the pixels.
    pub fragments: Vec<Vec<u8>>,
    /// Other elements, as tag, type and text.
    pub more: Vec<(Tag, VR, String)>,
    /// The functional groups of each frame, instead of the position and the orientation of a slice.
    pub frames: Vec<Frame>,
}

/// The functional groups of a frame.
#[derive(Clone)]
pub struct Frame {
    pub height: f64,
    pub slope: f64,
    /// Its place in time.
    pub time: u32,
}

impl Default for DicomFile {
    /// 4x3 pixels that count up, 0.5 x 2 mm, at the origin, in x and y.
    fn default() -> Self {
        Self {
            syntax: "1.2.840.10008.1.2.1",
            series: "1.2.3",
            description: "a description",
            modality: "MR",
            image: true,
            samples: 1,
            planar: 0,
            columns: 4,
            rows: 3,
            position: Some([0.0; 3]),
            orientation: Some([1.0, 0.0, 0.0, 0.0, 1.0, 0.0]),
            spacing: Some([2.0, 0.5]),
            bits: [16, 16, 15, 0],
            pixels: (0..12).collect(),
            fragments: Vec::new(),
            more: Vec::new(),
            frames: Vec::new(),
        }
    }
}

impl DicomFile {
    /// Returns the default at a height of `z` mm, with the pixels of slice `k` of a volume that counts up.
    pub fn at(z: f64, k: u16) -> Self {
        Self { position: Some([0.0, 0.0, z]), pixels: (12 * k..12 * k + 12).collect(), ..Self::default() }
    }

    /// Adds an element.
    pub fn with(mut self, tag: Tag, vr: VR, text: &str) -> Self {
        self.more.push((tag, vr, text.to_owned()));
        self
    }

    /// Writes it.
    pub fn write(&self, path: &Path) -> PathBuf {
        let mut object = InMemDicomObject::new_empty();
        let mut put = |group, element, vr, value: PrimitiveValue| {
            object.put(DataElement::new(Tag(group, element), vr, value));
        };
        put(0x0008, 0x0060, VR::CS, PrimitiveValue::from(self.modality));
        put(0x0008, 0x103e, VR::LO, PrimitiveValue::from(self.description));
        put(0x0020, 0x000e, VR::UI, PrimitiveValue::from(self.series));
        if !self.frames.is_empty() {
            self.put_groups(&mut object);
        }
        let slice = self.frames.is_empty().then_some(());
        let mut put = |group, element, vr, value: PrimitiveValue| {
            object.put(DataElement::new(Tag(group, element), vr, value));
        };
        for (element, numbers) in [(0x0032, self.position.map(Vec::from)), (0x0037, self.orientation.map(Vec::from))] {
            if let Some(numbers) = numbers.filter(|_| slice.is_some()) {
                put(0x0020, element, VR::DS, text(&numbers));
            }
        }
        if let Some(spacing) = self.spacing.filter(|_| slice.is_some()) {
            put(0x0028, 0x0030, VR::DS, text(&spacing));
        }
        if self.image {
            put(0x0028, 0x0010, VR::US, self.rows.into());
            put(0x0028, 0x0011, VR::US, self.columns.into());
        }
        put(0x0028, 0x0002, VR::US, self.samples.into());
        put(0x0028, 0x0006, VR::US, self.planar.into());
        for (n, &value) in self.bits.iter().enumerate() {
            put(0x0028, 0x0100 + n as u16, VR::US, value.into());
        }
        for (tag, vr, text) in &self.more {
            put(tag.0, tag.1, *vr, PrimitiveValue::from(text.as_str()));
        }
        // An icon has its own pixels, which must not be taken for those of the image.
        let icon = InMemDicomObject::from_element_iter([
            DataElement::new(Tag(0x0028, 0x0010), VR::US, PrimitiveValue::from(1u16)),
            DataElement::new(Tag(0x7fe0, 0x0010), VR::OW, PrimitiveValue::U16([7u16; 2].as_slice().into())),
        ]);
        object.put(DataElement::new(Tag(0x0088, 0x0200), VR::SQ, DataSetSequence::from(vec![icon])));
        if self.image && self.fragments.is_empty() {
            let pixels = if self.bits[0] == 8 {
                PrimitiveValue::U8(self.pixels.iter().map(|&p| p as u8).collect())
            } else {
                PrimitiveValue::U16(self.pixels.as_slice().into())
            };
            object.put(DataElement::new(Tag(0x7fe0, 0x0010), VR::OW, pixels));
        } else if self.image {
            let fragments = PixelFragmentSequence::new_fragments(self.fragments.clone());
            object.put(DataElement::new(Tag(0x7fe0, 0x0010), VR::OB, fragments));
        }
        let meta = FileMetaTableBuilder::new()
            .transfer_syntax(self.syntax)
            .media_storage_sop_class_uid("1.2.840.10008.5.1.4.1.1.4")
            .media_storage_sop_instance_uid("1.2.3.4");
        object.with_meta(meta).unwrap().write_to_file(path).unwrap();
        path.to_owned()
    }
}

impl DicomFile {
    /// The functional groups: orientation and spacing of all frames, position, rescale and time of each.
    fn put_groups(&self, object: &mut InMemDicomObject) {
        let items = |items| DataSetSequence::from(items);
        let item = |elements: Vec<(Tag, VR, PrimitiveValue)>| {
            let elements = elements.into_iter().map(|(tag, vr, value)| DataElement::new(tag, vr, value));
            InMemDicomObject::from_element_iter(elements)
        };
        let group = |tag, elements| DataElement::new(tag, VR::SQ, items(vec![item(elements)]));
        let orientation = text(&self.orientation.unwrap());
        let shared = InMemDicomObject::from_element_iter([
            group(Tag(0x0020, 0x9116), vec![(Tag(0x0020, 0x0037), VR::DS, orientation)]),
            group(Tag(0x0028, 0x9110), vec![(Tag(0x0028, 0x0030), VR::DS, text(&self.spacing.unwrap()))]),
        ]);
        let frame = |frame: &Frame| {
            let rescale = |tag, value| (tag, VR::DS, text(&[value]));
            InMemDicomObject::from_element_iter([
                group(Tag(0x0020, 0x9113), vec![(Tag(0x0020, 0x0032), VR::DS, text(&[0.0, 0.0, frame.height]))]),
                group(Tag(0x0020, 0x9111), vec![(Tag(0x0020, 0x9128), VR::UL, frame.time.into())]),
                group(
                    Tag(0x0028, 0x9145),
                    vec![rescale(Tag(0x0028, 0x1052), 0.0), rescale(Tag(0x0028, 0x1053), frame.slope)],
                ),
            ])
        };
        let count = PrimitiveValue::from(self.frames.len().to_string());
        object.put(DataElement::new(Tag(0x0028, 0x0008), VR::IS, count));
        object.put(DataElement::new(Tag(0x5200, 0x9229), VR::SQ, items(vec![shared])));
        let frames = self.frames.iter().map(frame).collect();
        object.put(DataElement::new(Tag(0x5200, 0x9230), VR::SQ, items(frames)));
    }
}

fn text(numbers: &[f64]) -> PrimitiveValue {
    PrimitiveValue::from(numbers.iter().map(f64::to_string).collect::<Vec<_>>().join("\\"))
}
