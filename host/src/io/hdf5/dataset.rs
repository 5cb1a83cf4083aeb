//! Reads the contents of datasets: one-dimensional numbers, and strings (sections IV.A.2.b, d and i).

use std::borrow::Cow;

use super::chunks;
use super::cursor::Cursor;
use super::file::File;
use super::filters::Filters;
use super::heap;
use super::object::Object;
use super::{Parsed, UNDEFINED, damaged, unread};

const DATASPACE: u8 = 0x01;
const DATATYPE: u8 = 0x03;
const LAYOUT: u8 = 0x08;
const FILTERS: u8 = 0x0b;

/// Bytes of a reference to a string on the heap.
const REFERENCE: usize = 16;

/// The numbers of a dataset, as they are stored.
pub struct Numbers<'a> {
    bytes: Cow<'a, [u8]>,
    double: bool,
    big_endian: bool,
}

/// The type of an element.
enum Kind {
    Float { big_endian: bool },
    Text,
    TextOnHeap,
}

impl Numbers<'_> {
    pub fn len(&self) -> usize {
        self.bytes.len() / if self.double { 8 } else { 4 }
    }

    pub fn iter(&self) -> Box<dyn Iterator<Item = f64> + '_> {
        let (singles, doubles) = (self.bytes.as_chunks().0.iter(), self.bytes.as_chunks().0.iter());
        match (self.double, self.big_endian) {
            (true, false) => Box::new(doubles.map(|&b| f64::from_le_bytes(b))),
            (true, true) => Box::new(doubles.map(|&b| f64::from_be_bytes(b))),
            (false, false) => Box::new(singles.map(|&b| f32::from_le_bytes(b).into())),
            (false, true) => Box::new(singles.map(|&b| f32::from_be_bytes(b).into())),
        }
    }
}

impl<'a> Object<'a> {
    /// Reads a dataset of floating-point numbers.
    pub fn numbers(&self, file: &File<'a>) -> Parsed<Numbers<'a>> {
        match self.kind()? {
            (Kind::Float { big_endian }, size) => {
                Ok(Numbers { bytes: self.bytes(file, size)?, double: size == 8, big_endian })
            }
            _ => Err(unread("strings in place of numbers")),
        }
    }

    /// Reads the first string of a dataset of strings.
    pub fn text(&self, file: &File<'a>) -> Parsed<String> {
        let (kind, size) = self.kind()?;
        let bytes = self.bytes(file, size)?;
        let mut first = Cursor(&bytes);
        let first = Cursor(first.take(size)?);
        match kind {
            Kind::TextOnHeap => heap::string(file, first),
            Kind::Text => {
                let text = String::from_utf8_lossy(first.0);
                Ok(text.trim_end_matches(['\0', ' ']).to_owned())
            }
            Kind::Float { .. } => Err(unread("numbers in place of strings")),
        }
    }

    /// The type of an element, and its size in bytes.
    fn kind(&self) -> Parsed<(Kind, usize)> {
        let mut kind = self.need(DATATYPE)?;
        // The upper bits are the version, which does not matter for these classes.
        let class = kind.u8()? & 15;
        let bits = kind.number(3)?;
        let size = kind.u32()? as usize;
        let ieee = |rest: &[u8]| match size {
            4 => rest.starts_with(&[0, 0, 32, 0, 23, 8, 0, 23, 127, 0, 0, 0]),
            8 => rest.starts_with(&[0, 0, 64, 0, 52, 11, 0, 52, 255, 3, 0, 0]),
            _ => false,
        };
        match class {
            1 if ieee(kind.0) && bits & 0x40 == 0 => Ok((Kind::Float { big_endian: bits & 1 != 0 }, size)),
            3 if size > 0 => Ok((Kind::Text, size)),
            9 if bits & 15 == 1 && size == REFERENCE => Ok((Kind::TextOnHeap, size)),
            _ => Err(unread("numbers that are neither f32 nor f64, nor strings")),
        }
    }

    /// The bytes of all elements, which have `size` bytes each.
    fn bytes(&self, file: &File<'a>, size: usize) -> Parsed<Cow<'a, [u8]>> {
        let count = self.count()?;
        let length = count.checked_mul(size).ok_or_else(damaged)?;
        let mut layout = self.need(LAYOUT)?;
        let version = layout.u8()?;
        if !(3..=5).contains(&version) {
            return Err(unread(&format!("a data layout of version {version}")));
        }
        let stored = match layout.u8()? {
            0 => {
                let inside = layout.u16()?;
                Cow::from(layout.take(inside.into())?)
            }
            1 => match layout.u64()? {
                UNDEFINED if length > 0 => return Err(unread("numbers that were never written")),
                UNDEFINED => Cow::default(),
                address => Cow::from(file.at(address)?.take(length)?),
            },
            2 => {
                let filters = self.find(FILTERS)?.map_or_else(|| Ok(Filters::default()), Filters::read)?;
                let chunks = chunks::find(file, version, layout, size, count)?;
                Cow::from(chunks.joined(file, &filters, length)?)
            }
            _ => return Err(unread("numbers in other files")),
        };
        if stored.len() == length { Ok(stored) } else { Err(damaged()) }
    }

    /// The number of elements.
    fn count(&self) -> Parsed<usize> {
        let mut space = self.need(DATASPACE)?;
        let (version, rank, _flags) = (space.u8()?, space.u8()?, space.u8()?);
        let simple = match version {
            1 => space.take(5).map(|_| true)?,
            2 => space.u8()? != 2,
            _ => return Err(damaged()),
        };
        match rank {
            0 => Ok(usize::from(simple)),
            1 => space.length(),
            _ => Err(unread(&format!("tables of {rank} dimensions"))),
        }
    }
}
