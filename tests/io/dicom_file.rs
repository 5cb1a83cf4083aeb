//! Makes DICOM files of one slice.

use std::path::{Path, PathBuf};

use dicom_core::value::{DataSetSequence, PixelFragmentSequence};
use dicom_core::{DataElement, PrimitiveValue, Tag, VR};
use dicom_object::{FileMetaTableBuilder, InMemDicomObject};

/// A slice of 16-bit pixels.
#[derive(Clone)]
pub struct DicomFile {
    pub syntax: &'static str,
    pub series: &'static str,
    pub description: &'static str,
    pub columns: u16,
    pub rows: u16,
    pub position: Option<[f64; 3]>,
    pub orientation: Option<[f64; 6]>,
    /// Of rows, then of columns.
    pub spacing: Option<[f64; 2]>,
    /// Bits allocated, bits stored, high bit, pixel representation.
    pub bits: [u16; 4],
    pub pixels: Vec<u16>,
    /// Fragments of a compressed frame, instead of the pixels.
    pub fragments: Vec<Vec<u8>>,
    /// Tag and text of other elements.
    pub more: Vec<(Tag, VR, String)>,
}

impl Default for DicomFile {
    /// 4x3 pixels that count up, 0.5 x 2 mm, at the origin, in x and y.
    fn default() -> Self {
        Self {
            syntax: "1.2.840.10008.1.2.1",
            series: "1.2.3",
            description: "a description",
            columns: 4,
            rows: 3,
            position: Some([0.0; 3]),
            orientation: Some([1.0, 0.0, 0.0, 0.0, 1.0, 0.0]),
            spacing: Some([2.0, 0.5]),
            bits: [16, 16, 15, 0],
            pixels: (0..12).collect(),
            fragments: Vec::new(),
            more: Vec::new(),
        }
    }
}

impl DicomFile {
    /// The default at a height of `z` mm, its pixels those of slice `k` of a volume that counts up.
    pub fn at(z: f64, k: u16) -> Self {
        Self { position: Some([0.0, 0.0, z]), pixels: (12 * k..12 * k + 12).collect(), ..Self::default() }
    }

    /// The same with another element.
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
        put(0x0008, 0x0060, VR::CS, PrimitiveValue::from("MR"));
        put(0x0008, 0x103e, VR::LO, PrimitiveValue::from(self.description));
        put(0x0020, 0x000e, VR::UI, PrimitiveValue::from(self.series));
        for (element, numbers) in [(0x0032, self.position.map(Vec::from)), (0x0037, self.orientation.map(Vec::from))] {
            if let Some(numbers) = numbers {
                put(0x0020, element, VR::DS, text(&numbers));
            }
        }
        if let Some(spacing) = self.spacing {
            put(0x0028, 0x0030, VR::DS, text(&spacing));
        }
        put(0x0028, 0x0010, VR::US, self.rows.into());
        put(0x0028, 0x0011, VR::US, self.columns.into());
        for (n, &value) in self.bits.iter().enumerate() {
            put(0x0028, 0x0100 + n as u16, VR::US, value.into());
        }
        for (tag, vr, text) in &self.more {
            put(tag.0, tag.1, *vr, PrimitiveValue::from(text.as_str()));
        }
        // Icons have pixels of their own, which are not those of the image.
        let icon = InMemDicomObject::from_element_iter([
            DataElement::new(Tag(0x0028, 0x0010), VR::US, PrimitiveValue::from(1u16)),
            DataElement::new(Tag(0x7fe0, 0x0010), VR::OW, PrimitiveValue::U16([7u16; 2].as_slice().into())),
        ]);
        object.put(DataElement::new(Tag(0x0088, 0x0200), VR::SQ, DataSetSequence::from(vec![icon])));
        if self.fragments.is_empty() {
            let pixels = if self.bits[0] == 8 {
                PrimitiveValue::U8(self.pixels.iter().map(|&p| p as u8).collect())
            } else {
                PrimitiveValue::U16(self.pixels.as_slice().into())
            };
            object.put(DataElement::new(Tag(0x7fe0, 0x0010), VR::OW, pixels));
        } else {
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

fn text(numbers: &[f64]) -> PrimitiveValue {
    PrimitiveValue::from(numbers.iter().map(f64::to_string).collect::<Vec<_>>().join("\\"))
}
