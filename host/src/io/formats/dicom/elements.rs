//! The elements of a DICOM file that matter here (PS3.10 7, PS3.5 7 and A). Lengths that the file claims are only ever read up to,
//! never allocated.

use std::collections::HashMap;
use std::fmt::Display;
use std::fs::File;
use std::io::{BufReader, Cursor, Read, Seek};
use std::path::Path;

use dicom_parser::StatefulDecode;
use dicom_parser::dataset::LazyDataToken;
use dicom_parser::dataset::lazy_read::LazyDataSetReader;
use dicom_transfer_syntax_registry::{TransferSyntax, entries};

use crate::Error;
use crate::io::source::reason;

/// Group and element.
pub type Tag = (u16, u16);

const PIXEL_DATA: Tag = (0x7fe0, 0x0010);
const TRANSFER_SYNTAX: Tag = (0x0002, 0x0010);
const DEFLATED: &str = "1.2.840.10008.1.2.1.99";
/// Longest value that is kept, except for pixels.
const MOST: usize = 1 << 10;

/// The top-level elements of a data set by tag. Sequences and long values are there but empty.
#[derive(Default)]
pub struct Elements {
    /// UID of the transfer syntax.
    pub syntax: String,
    pub big_endian: bool,
    /// Length of the file.
    pub length: u64,
    values: HashMap<Tag, Vec<u8>>,
    /// The pixel data, those of a compressed frame without its offset table; empty unless asked for.
    pub pixels: Vec<u8>,
}

impl Elements {
    /// Reads the file at `path`, as far as the pixels or with them; none where it does not start like DICOM.
    pub fn read(path: &Path, with_pixels: bool) -> crate::Result<Option<Self>> {
        let unreadable = |e: std::io::Error| Error::file(path, reason(&e));
        let file = File::open(path).map_err(unreadable)?;
        let length = file.metadata().map_err(unreadable)?.len();
        let mut source = BufReader::new(file);
        let mut start = Vec::new();
        (&mut source).take(144).read_to_end(&mut start).map_err(unreadable)?;
        if start.get(128..132) != Some(b"DICM") {
            return Ok(None);
        }
        let wrong = |message: String| Error::file(path, message);
        // The first element says how long the others of its group are together.
        let Some([2, 0, 0, 0, b'U', b'L', 4, 0, a, b, c, d]) = start.get(132..) else {
            return Err(wrong("does not say how long its file meta information is; save it again as DICOM".into()));
        };
        let mut group = Vec::new();
        let group_length = u64::from(u32::from_le_bytes([*a, *b, *c, *d]));
        (&mut source).take(group_length).read_to_end(&mut group).map_err(unreadable)?;
        let mut elements = Self { length, ..Self::default() };
        elements.walk(Cursor::new(group), false).map_err(wrong)?;
        elements.syntax = elements.text(TRANSFER_SYNTAX).unwrap_or_default();
        elements.big_endian = elements.syntax == entries::EXPLICIT_VR_BIG_ENDIAN.uid();
        if elements.syntax == DEFLATED {
            return Err(wrong(
                "is deflated DICOM, which mireg does not read; decompress it, or convert it to NIfTI".into(),
            ));
        }
        elements.walk(source, with_pixels).map_err(wrong)?;
        Ok(Some(elements))
    }

    /// Adds the elements in `source` up to the pixels, or with them.
    fn walk(&mut self, source: impl Read + Seek, with_pixels: bool) -> Result<(), String> {
        let mut reader = LazyDataSetReader::new_with_ts(source, &self.encoding()).map_err(damaged)?;
        // How deep in sequences, whether in that of compressed pixels, and the number of items of it.
        let (mut depth, mut frame, mut items) = (0, false, 0);
        while let Some(token) = reader.advance() {
            let token = token.map_err(damaged)?;
            match &token {
                LazyDataToken::SequenceStart { tag, .. } => {
                    if depth == 0 {
                        self.values.insert((tag.group(), tag.element()), Vec::new());
                    }
                    depth += 1;
                }
                LazyDataToken::PixelSequenceStart => {
                    if depth == 0 && !with_pixels {
                        return Ok(());
                    }
                    (frame, items) = (depth == 0, 0);
                    depth += 1;
                }
                LazyDataToken::SequenceEnd => depth -= 1,
                LazyDataToken::ItemStart { .. } => items += 1,
                // The first item is the offset table.
                LazyDataToken::LazyItemValue { .. } if frame && depth == 1 && items > 1 => {
                    token.read_value_into(&mut self.pixels).map_err(damaged)?;
                }
                LazyDataToken::LazyValue { header, .. } if depth == 0 => {
                    let tag = (header.tag.group(), header.tag.element());
                    if tag == PIXEL_DATA {
                        return if with_pixels {
                            token.read_value_into(&mut self.pixels).map_err(damaged)
                        } else {
                            Ok(())
                        };
                    }
                    let length = header.len.0 as usize;
                    self.keep(tag, length, token)?;
                }
                LazyDataToken::LazyValue { .. } | LazyDataToken::LazyItemValue { .. } => {
                    token.skip().map_err(damaged)?
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Adds the element whose value, of `length` bytes, comes next; only that it is there if the value is long.
    fn keep(&mut self, tag: Tag, length: usize, value: LazyDataToken<impl StatefulDecode>) -> Result<(), String> {
        let mut bytes = Vec::new();
        if length > MOST {
            value.skip().map_err(damaged)?;
        } else {
            value.read_value_into(&mut bytes).map_err(damaged)?;
            if bytes.len() < length {
                return Err("ends too early, so it is truncated; copy or download it again".into());
            }
        }
        self.values.insert(tag, bytes);
        Ok(())
    }

    /// How the data set is written; that of compressed pixels is explicit little-endian.
    fn encoding(&self) -> TransferSyntax {
        if self.syntax == entries::IMPLICIT_VR_LITTLE_ENDIAN.uid() {
            entries::IMPLICIT_VR_LITTLE_ENDIAN.erased()
        } else if self.big_endian {
            entries::EXPLICIT_VR_BIG_ENDIAN.erased()
        } else {
            entries::EXPLICIT_VR_LITTLE_ENDIAN.erased()
        }
    }

    /// The last element before the pixels.
    pub fn last(&self) -> Option<Tag> {
        self.values.keys().copied().max()
    }

    /// Whether the element is there.
    pub fn has(&self, tag: Tag) -> bool {
        self.values.contains_key(&tag)
    }

    /// The value as text without its padding; none where it is not there or empty.
    pub fn text(&self, tag: Tag) -> Option<String> {
        let text = String::from_utf8_lossy(self.values.get(&tag)?);
        let text = text.trim_matches(|c: char| c.is_whitespace() || c.is_control());
        (!text.is_empty()).then(|| text.replace(char::is_control, " "))
    }

    /// The `N` numbers of a decimal or integer string; none where it is not there or empty.
    pub fn numbers<const N: usize>(&self, tag: Tag, name: &str) -> Result<Option<[f64; N]>, String> {
        let Some(text) = self.text(tag) else { return Ok(None) };
        let numbers: Option<Vec<f64>> = text.split('\\').map(|n| n.trim().parse().ok()).collect();
        let numbers = numbers.and_then(|n| <[f64; N]>::try_from(n).ok()).filter(|n| n.iter().all(|x| x.is_finite()));
        numbers.map(Some).ok_or_else(|| format!("its {name} is \"{text}\", which should be {N} numbers; correct it"))
    }

    /// An unsigned short; none where it is not there.
    pub fn short(&self, tag: Tag) -> Option<u16> {
        let bytes = self.values.get(&tag)?.first_chunk()?;
        Some(if self.big_endian { u16::from_be_bytes(*bytes) } else { u16::from_le_bytes(*bytes) })
    }
}

fn damaged(error: impl Display) -> String {
    format!("is damaged DICOM ({error}); copy or download it again")
}
