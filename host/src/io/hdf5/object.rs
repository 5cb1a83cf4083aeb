//! Reads objects (groups and datasets), which consist of the messages in their headers (section IV.A).

use super::checksum::checksum;
use super::cursor::Cursor;
use super::file::File;
use super::{Parsed, damaged, unread};

/// The kind of messages that point to further messages.
const CONTINUATION: u8 = 0x10;
/// The flag of a message that is shared, and so stored elsewhere.
const SHARED: u8 = 2;

/// A group or a dataset, as its messages.
pub struct Object<'a>(Vec<Message<'a>>);

struct Message<'a> {
    kind: u8,
    shared: bool,
    body: &'a [u8],
}

impl<'a> Object<'a> {
    /// Reads the root group.
    pub fn root(file: &File<'a>) -> Parsed<Self> {
        Self::read(file, file.root())
    }

    /// Reads the object whose header is at `address`.
    pub fn read(file: &File<'a>, address: u64) -> Parsed<Self> {
        let start = file.at(address)?;
        let mut object = Self(Vec::new());
        if start.0.starts_with(b"OHDR") {
            object.second(file, start)?
        } else {
            object.first(file, start)?
        }
        Ok(object)
    }

    /// Reads a header of version 1.
    fn first(&mut self, file: &File<'a>, mut head: Cursor<'a>) -> Parsed<()> {
        head.expect(&[1, 0])?;
        head.take(6)?;
        let length = head.u32()? as usize;
        head.take(4)?;
        let mut blocks = vec![Cursor(head.take(length)?)];
        while let Some(mut block) = blocks.pop() {
            while block.0.len() >= 8 {
                file.step()?;
                let (kind, length) = (block.u16()?, block.u16()?);
                let flags = block.u8()?;
                block.take(3)?;
                let body = block.take(length.into())?;
                if kind == u16::from(CONTINUATION) {
                    blocks.push(continued(file, body)?);
                } else {
                    // No kind that is needed has a number above one byte.
                    self.add(kind.try_into().unwrap_or(u8::MAX), flags, body);
                }
            }
        }
        Ok(())
    }

    /// Reads a header of version 2.
    fn second(&mut self, file: &File<'a>, start: Cursor<'a>) -> Parsed<()> {
        let mut head = start;
        head.expect(b"OHDR\x02")?;
        let flags = head.u8()?;
        head.take(if flags & 0x20 != 0 { 16 } else { 0 })?;
        head.take(if flags & 0x10 != 0 { 4 } else { 0 })?;
        let length = usize::try_from(head.number(1 << (flags & 3))?).map_err(|_| damaged())?;
        let before = start.0.len() - head.0.len();
        let whole = before.checked_add(length).and_then(|n| n.checked_add(4)).ok_or_else(damaged)?;
        let mut blocks = vec![(Cursor(checked(start.0.get(..whole).ok_or_else(damaged)?)?), before)];
        while let Some((mut block, before)) = blocks.pop() {
            block.take(before)?;
            let head = if flags & 4 != 0 { 6 } else { 4 };
            while block.0.len() >= head {
                file.step()?;
                let (kind, length) = (block.u8()?, block.u16()?);
                let message = block.u8()?;
                block.take(head - 4)?;
                let body = block.take(length.into())?;
                if kind == CONTINUATION {
                    let next = continued(file, body)?;
                    if !next.0.starts_with(b"OCHK") {
                        return Err(damaged());
                    }
                    blocks.push((Cursor(checked(next.0)?), 4));
                } else {
                    self.add(kind, message, body);
                }
            }
        }
        Ok(())
    }

    fn add(&mut self, kind: u8, flags: u8, body: &'a [u8]) {
        self.0.push(Message { kind, shared: flags & SHARED != 0, body });
    }

    /// All messages of a kind, except shared ones.
    pub fn all(&self, kind: u8) -> impl Iterator<Item = Cursor<'a>> {
        self.0.iter().filter(move |message| message.kind == kind && !message.shared).map(|message| Cursor(message.body))
    }

    /// The first message of a kind; `None` if there is none, and an error if it is shared.
    pub fn find(&self, kind: u8) -> Parsed<Option<Cursor<'a>>> {
        match self.0.iter().find(|message| message.kind == kind) {
            Some(message) if message.shared => Err(unread("messages that objects share")),
            found => Ok(found.map(|message| Cursor(message.body))),
        }
    }

    /// The first message of a kind; an error if there is none.
    pub fn need(&self, kind: u8) -> Parsed<Cursor<'a>> {
        self.find(kind)?.ok_or_else(damaged)
    }
}

/// The block that a continuation message points to.
fn continued<'a>(file: &File<'a>, body: &'a [u8]) -> Parsed<Cursor<'a>> {
    let mut body = Cursor(body);
    let (address, length) = (body.u64()?, body.length()?);
    Ok(Cursor(file.at(address)?.take(length)?))
}

/// The bytes before their checksum; an error if the checksum is wrong.
fn checked(bytes: &[u8]) -> Parsed<&[u8]> {
    let (content, sum) = bytes.split_last_chunk().ok_or_else(damaged)?;
    if u32::from_le_bytes(*sum) == checksum(content) { Ok(content) } else { Err(damaged()) }
}
