//! Reads the elements of a data set that mireg needs (PS3.5 7 and A.4), and finds its pixels.

use std::collections::BTreeMap;

use super::input::{Input, cut};
use super::tags::{self, Tag};

/// The most bytes of a value that is kept.
const MOST: u64 = 1 << 16;
/// The deepest nesting of sequences.
const DEEPEST: usize = 32;
const ITEM: Tag = (0xfffe, 0xe000);
const ITEM_END: Tag = (0xfffe, 0xe00d);
const SEQUENCE_END: Tag = (0xfffe, 0xe0dd);
/// The length of an element of undefined length.
const UNDEFINED: u32 = u32::MAX;
/// Value representations that are followed by two unused bytes and a length of four bytes.
const LONG: [&[u8; 2]; 13] =
    [b"OB", b"OD", b"OF", b"OL", b"OV", b"OW", b"SQ", b"SV", b"UC", b"UN", b"UR", b"UT", b"UV"];

/// How elements are encoded.
#[derive(Clone, Copy, Default, PartialEq)]
pub struct Encoding {
    /// Whether elements are written without their value representation.
    pub implicit: bool,
    pub big_endian: bool,
}

/// Those elements of a data set, or of an item of a sequence, that [`tags`] lists.
#[derive(Default)]
pub struct Elements {
    encoding: Encoding,
    values: BTreeMap<Tag, Vec<u8>>,
    sequences: BTreeMap<Tag, Vec<Self>>,
}

/// The position of the pixels of a data set, in bytes of the file or, if it is deflated, of the inflated data set.
pub enum Pixels {
    /// Pixels without compression. `words` says whether they are stored as 16-bit words, whatever the size of a pixel.
    Native { start: u64, length: u64, words: bool },
    /// Compressed frames: the start and length of each fragment, and the table of offsets at which frames start in the
    /// fragments.
    Fragments { offsets: Vec<u32>, fragments: Vec<(u64, u64)> },
}

/// The part of an element before its value.
struct Head {
    tag: Tag,
    /// The value representation; `None` if it is not written.
    vr: Option<[u8; 2]>,
    /// `None` if it is undefined.
    length: Option<u64>,
}

impl Elements {
    /// Reads a data set up to its pixels, or to its end if it has none.
    pub fn read(input: &mut Input, encoding: Encoding) -> Result<(Self, Option<Pixels>), String> {
        let mut elements = Self { encoding, ..Self::default() };
        while let Some(head) = Head::read(input, encoding)? {
            if head.tag == tags::PIXEL_DATA {
                let pixels = pixels(input, &head, encoding)?;
                return Ok((elements, Some(pixels)));
            }
            elements.keep(input, &head, 0)?;
        }
        Ok((elements, None))
    }

    /// Reads an item of `length` bytes, or up to its end marker.
    fn item(input: &mut Input, encoding: Encoding, length: Option<u64>, depth: usize) -> Result<Self, String> {
        let mut elements = Self { encoding, ..Self::default() };
        let end = length.map(|length| input.position() + length);
        while end.is_none_or(|end| input.position() < end) {
            let head = Head::read(input, encoding)?.ok_or_else(cut)?;
            if head.tag == ITEM_END {
                break;
            }
            elements.keep(input, &head, depth)?;
        }
        Ok(elements)
    }

    /// Reads the element whose value comes next, and keeps it if it is needed.
    fn keep(&mut self, input: &mut Input, head: &Head, depth: usize) -> Result<(), String> {
        // An icon in a sequence has pixels of its own.
        if head.tag == tags::PIXEL_DATA && head.length.is_none() {
            return pixels(input, head, self.encoding).map(drop);
        }
        let sequence = tags::SEQUENCES.contains(&head.tag);
        if head.length.is_none() || sequence {
            // The items of a sequence with the representation `UN` (unknown) are encoded as implicit.
            let unknown = head.vr == Some(*b"UN");
            let encoding = if unknown { Encoding { implicit: true, big_endian: false } } else { self.encoding };
            let items = items(input, encoding, head.length, sequence, depth + 1)?;
            if sequence {
                self.sequences.insert(head.tag, items);
            }
            return Ok(());
        }
        let length = head.length.unwrap_or(0);
        if length > MOST || !tags::VALUES.contains(&head.tag) {
            return input.skip_to(input.position() + length);
        }
        let mut value = Vec::new();
        input.append(length, &mut value)?;
        self.values.insert(head.tag, value);
        Ok(())
    }

    /// Whether there is an element with this tag.
    pub fn has(&self, tag: Tag) -> bool {
        self.values.contains_key(&tag) || self.sequences.contains_key(&tag)
    }

    /// The items of a sequence.
    pub fn items(&self, tag: Tag) -> &[Self] {
        self.sequences.get(&tag).map_or(&[], Vec::as_slice)
    }

    /// The value as text without padding; `None` if it is missing or empty.
    pub fn text(&self, tag: Tag) -> Option<String> {
        let text = String::from_utf8_lossy(self.values.get(&tag)?);
        let text = text.trim_matches(|c: char| c.is_whitespace() || c.is_control());
        (!text.is_empty()).then(|| text.replace(char::is_control, " "))
    }

    /// The `N` numbers of a decimal or integer string; `None` if it is missing or empty.
    pub fn numbers<const N: usize>(&self, tag: Tag, name: &str) -> Result<Option<[f64; N]>, String> {
        let Some(list) = self.list(tag, name)? else { return Ok(None) };
        let wrong = |list: Vec<f64>| format!("its {name} has {} numbers, not {N}; correct it", list.len());
        list.try_into().map(Some).map_err(wrong)
    }

    /// All numbers of a decimal or integer string; `None` if it is missing or empty.
    pub fn list(&self, tag: Tag, name: &str) -> Result<Option<Vec<f64>>, String> {
        let Some(text) = self.text(tag) else { return Ok(None) };
        let number = |n: &str| n.trim().parse().ok().filter(|x: &f64| x.is_finite());
        let numbers: Option<Vec<f64>> = text.split('\\').map(number).collect();
        numbers.map(Some).ok_or_else(|| format!("its {name} is \"{text}\", which should be numbers; correct it"))
    }

    /// An unsigned short; `None` if it is missing.
    pub fn short(&self, tag: Tag) -> Option<u16> {
        let bytes = self.values.get(&tag)?.first_chunk()?;
        Some(if self.encoding.big_endian { u16::from_be_bytes(*bytes) } else { u16::from_le_bytes(*bytes) })
    }

    /// An unsigned long; `None` if it is missing.
    pub fn long(&self, tag: Tag) -> Option<u32> {
        let bytes = self.values.get(&tag)?.first_chunk()?;
        Some(if self.encoding.big_endian { u32::from_be_bytes(*bytes) } else { u32::from_le_bytes(*bytes) })
    }
}

impl Head {
    /// Reads the next head; `None` at the end.
    fn read(input: &mut Input, encoding: Encoding) -> Result<Option<Self>, String> {
        let (short, long) = match encoding.big_endian {
            true => (u16::from_be_bytes as fn([u8; 2]) -> u16, u32::from_be_bytes as fn([u8; 4]) -> u32),
            false => (u16::from_le_bytes as fn([u8; 2]) -> u16, u32::from_le_bytes as fn([u8; 4]) -> u32),
        };
        let mut start = [0; 4];
        if !input.fill(&mut start)? {
            return Ok(None);
        }
        let [a, b, c, d] = start;
        let tag = (short([a, b]), short([c, d]));
        let next: [u8; 4] = input.array()?;
        let [a, b, c, d] = next;
        // Some writers leave out the representation of single elements in an explicit file.
        let has_vr = !encoding.implicit && tag.0 != ITEM.0 && a.is_ascii_uppercase() && b.is_ascii_uppercase();
        let length = match has_vr {
            true if LONG.contains(&&[a, b]) => long(input.array()?),
            true => short([c, d]).into(),
            false => long(next),
        };
        let length = (length != UNDEFINED).then(|| length.into());
        Ok(Some(Self { tag, vr: has_vr.then_some([a, b]), length }))
    }
}

/// Reads a sequence of `length` bytes, or up to its end marker. Returns its items if `keep`.
fn items(
    input: &mut Input,
    encoding: Encoding,
    length: Option<u64>,
    keep: bool,
    depth: usize,
) -> Result<Vec<Elements>, String> {
    if depth > DEEPEST {
        return Err(format!("is damaged DICOM (sequences nested more than {DEEPEST} deep); copy or download it again"));
    }
    let mut items = Vec::new();
    let end = length.map(|length| input.position() + length);
    while end.is_none_or(|end| input.position() < end) {
        let head = Head::read(input, encoding)?.ok_or_else(cut)?;
        match head.tag {
            SEQUENCE_END => break,
            ITEM => {
                let item = Elements::item(input, encoding, head.length, depth)?;
                if keep {
                    items.push(item);
                }
            }
            (group, element) => return Err(no_item(group, element)),
        }
    }
    Ok(items)
}

/// The position of the pixels, which come next.
fn pixels(input: &mut Input, head: &Head, encoding: Encoding) -> Result<Pixels, String> {
    if let Some(length) = head.length {
        return Ok(Pixels::Native { start: input.position(), length, words: head.vr != Some(*b"OB") });
    }
    let (mut offsets, mut fragments) = (None, Vec::new());
    loop {
        let head = Head::read(input, encoding)?.ok_or_else(cut)?;
        match (head.tag, head.length) {
            (SEQUENCE_END, _) => break,
            (ITEM, Some(length)) if offsets.is_none() => {
                let mut table = Vec::new();
                input.append(length, &mut table)?;
                offsets = Some(table.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect());
            }
            (ITEM, Some(length)) => {
                fragments.push((input.position(), length));
                input.skip_to(input.position() + length)?;
            }
            ((group, element), _) => return Err(no_item(group, element)),
        }
    }
    Ok(Pixels::Fragments { offsets: offsets.unwrap_or_default(), fragments })
}

fn no_item(group: u16, element: u16) -> String {
    format!(
        "is damaged DICOM (({group:04x},{element:04x}) where an item of a sequence should be); copy or download it again"
    )
}
