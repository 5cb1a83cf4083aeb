//! The elements of a data set that matter here (PS3.5 7 and A.4), and where its pixels are.

use std::collections::BTreeMap;

use super::input::{Input, cut};
use super::tags::{self, Tag};

/// Longest value that is kept.
const MOST: u64 = 1 << 16;
/// Sequences that may lie in each other.
const DEEPEST: usize = 32;
const ITEM: Tag = (0xfffe, 0xe000);
const ITEM_END: Tag = (0xfffe, 0xe00d);
const SEQUENCE_END: Tag = (0xfffe, 0xe0dd);
/// A length that is not told.
const UNDEFINED: u32 = u32::MAX;
/// Value representations with a length of four bytes behind two unused ones.
const LONG: [&[u8; 2]; 13] =
    [b"OB", b"OD", b"OF", b"OL", b"OV", b"OW", b"SQ", b"SV", b"UC", b"UN", b"UR", b"UT", b"UV"];

/// How elements are written.
#[derive(Clone, Copy, Default, PartialEq)]
pub struct Encoding {
    /// Whether elements do not say their value representation.
    pub implicit: bool,
    pub big_endian: bool,
}

/// The elements of a data set, or of an item of a sequence, that [`tags`] lists.
#[derive(Default)]
pub struct Elements {
    encoding: Encoding,
    values: BTreeMap<Tag, Vec<u8>>,
    sequences: BTreeMap<Tag, Vec<Self>>,
}

/// Where the pixels of a data set are: bytes of the file, or of what it is inflated to.
pub enum Pixels {
    /// `words`: whether they are words of 16 bits, whatever a pixel takes.
    Native { start: u64, length: u64, words: bool },
    /// Start and length of each fragment of compressed frames, and the table that says where in them frames start.
    Fragments { offsets: Vec<u32>, fragments: Vec<(u64, u64)> },
}

/// What stands before a value.
struct Head {
    tag: Tag,
    /// None where it is not written.
    vr: Option<[u8; 2]>,
    /// None where it is not told.
    length: Option<u64>,
}

impl Elements {
    /// Reads a data set to its pixels, or to its end where it has none.
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

    /// Reads an item of this many bytes, or up to its end.
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

    /// Adds the element whose value comes next, or passes over it.
    fn keep(&mut self, input: &mut Input, head: &Head, depth: usize) -> Result<(), String> {
        // An icon has pixels of its own.
        if head.tag == tags::PIXEL_DATA && head.length.is_none() {
            return pixels(input, head, self.encoding).map(drop);
        }
        let sequence = tags::SEQUENCES.contains(&head.tag);
        if head.length.is_none() || sequence {
            // The items of a sequence whose kind the writer did not know are implicit.
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

    /// Whether the element is there.
    pub fn has(&self, tag: Tag) -> bool {
        self.values.contains_key(&tag) || self.sequences.contains_key(&tag)
    }

    /// The items of a sequence.
    pub fn items(&self, tag: Tag) -> &[Self] {
        self.sequences.get(&tag).map_or(&[], Vec::as_slice)
    }

    /// The value as text without its padding; none where it is not there or empty.
    pub fn text(&self, tag: Tag) -> Option<String> {
        let text = String::from_utf8_lossy(self.values.get(&tag)?);
        let text = text.trim_matches(|c: char| c.is_whitespace() || c.is_control());
        (!text.is_empty()).then(|| text.replace(char::is_control, " "))
    }

    /// The `N` numbers of a decimal or integer string; none where it is not there or empty.
    pub fn numbers<const N: usize>(&self, tag: Tag, name: &str) -> Result<Option<[f64; N]>, String> {
        let Some(list) = self.list(tag, name)? else { return Ok(None) };
        let wrong = |list: Vec<f64>| format!("its {name} has {} numbers, not {N}; correct it", list.len());
        list.try_into().map(Some).map_err(wrong)
    }

    /// All numbers of a decimal or integer string; none where it is not there or empty.
    pub fn list(&self, tag: Tag, name: &str) -> Result<Option<Vec<f64>>, String> {
        let Some(text) = self.text(tag) else { return Ok(None) };
        let number = |n: &str| n.trim().parse().ok().filter(|x: &f64| x.is_finite());
        let numbers: Option<Vec<f64>> = text.split('\\').map(number).collect();
        numbers.map(Some).ok_or_else(|| format!("its {name} is \"{text}\", which should be numbers; correct it"))
    }

    /// An unsigned short; none where it is not there.
    pub fn short(&self, tag: Tag) -> Option<u16> {
        let bytes = self.values.get(&tag)?.first_chunk()?;
        Some(if self.encoding.big_endian { u16::from_be_bytes(*bytes) } else { u16::from_le_bytes(*bytes) })
    }

    /// An unsigned long; none where it is not there.
    pub fn long(&self, tag: Tag) -> Option<u32> {
        let bytes = self.values.get(&tag)?.first_chunk()?;
        Some(if self.encoding.big_endian { u32::from_be_bytes(*bytes) } else { u32::from_le_bytes(*bytes) })
    }
}

impl Head {
    /// The next; none at the end.
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
        // Some writers leave out the representation of an element in a file that says all others.
        let told = !encoding.implicit && tag.0 != ITEM.0 && a.is_ascii_uppercase() && b.is_ascii_uppercase();
        let length = match told {
            true if LONG.contains(&&[a, b]) => long(input.array()?),
            true => short([c, d]).into(),
            false => long(next),
        };
        let length = (length != UNDEFINED).then(|| length.into());
        Ok(Some(Self { tag, vr: told.then_some([a, b]), length }))
    }
}

/// Reads a sequence of this many bytes, or up to its end; returns its items if they are to be kept.
fn items(
    input: &mut Input,
    encoding: Encoding,
    length: Option<u64>,
    keep: bool,
    depth: usize,
) -> Result<Vec<Elements>, String> {
    if depth > DEEPEST {
        return Err(format!(
            "is damaged DICOM (more than {DEEPEST} sequences in each other); copy or download it again"
        ));
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

/// Where the pixels are that come next.
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
