//! Reads heaps: the global heap of strings (section III.E), and the fractal heap of links (section III.G).

use super::cursor::Cursor;
use super::file::File;
use super::{Parsed, damaged, unread};

/// The string in the global heap to which the 16 bytes of an element of variable length refer.
pub fn string(file: &File, mut reference: Cursor) -> Parsed<String> {
    let (length, address, wanted) = (reference.u32()? as usize, reference.u64()?, reference.u32()?);
    let mut heap = file.at(address)?;
    heap.expect(b"GCOL\x01\0\0\0")?;
    let size = heap.length()?.checked_sub(16).ok_or_else(damaged)?;
    let mut heap = Cursor(heap.take(size)?);
    loop {
        file.step()?;
        let number = heap.u16()?;
        heap.take(6)?;
        let size = heap.length()?;
        if number == 0 {
            return Err(damaged());
        }
        let object = heap.take(size)?;
        if u32::from(number) == wanted {
            return Ok(String::from_utf8_lossy(object.get(..length).ok_or_else(damaged)?).into_owned());
        }
        heap.take(size.next_multiple_of(8) - size)?;
    }
}

/// A heap of objects, which are consecutive in blocks. The block of an offset follows from the sizes of the blocks.
pub struct Fractal {
    /// The number of bytes of an offset into the heap, and of a length.
    offset: usize,
    length: usize,
    /// The blocks per row (`width`), and the size of a block in the first two rows (`start`).
    width: u64,
    start: u64,
    root: u64,
    /// The rows of the root; 0 if the root itself is a block of objects.
    rows: u16,
}

impl Fractal {
    pub fn read(file: &File, address: u64) -> Parsed<Self> {
        let mut head = file.at(address)?;
        head.expect(b"FRHP\0")?;
        let (_id, filters, _flags, longest) = (head.u16()?, head.u16()?, head.u8()?, head.u32()?);
        head.take(12 * 8)?;
        let (width, start, largest) = (head.u16()?.into(), head.u64()?, head.u64()?);
        let bits = head.u16()?;
        head.take(2)?;
        let (root, rows) = (head.u64()?, head.u16()?);
        if filters != 0 {
            return Err(unread("compressed links"));
        }
        let offset = usize::from(bits.div_ceil(8));
        let [largest, longest] = [largest, longest.into()].map(|n: u64| n.checked_ilog2().ok_or_else(damaged));
        let length = largest?.div_ceil(8).min(longest? / 8 + 1) as usize;
        match offset <= 8 && width > 0 && start > 0 {
            true => Ok(Self { offset, length, width, start, root, rows }),
            false => Err(damaged()),
        }
    }

    /// The object with this heap ID.
    pub fn get<'a>(&self, file: &File<'a>, id: &[u8]) -> Parsed<Cursor<'a>> {
        let mut id = Cursor(id);
        if id.u8()? != 0 {
            return Err(unread("links of long names"));
        }
        let (offset, length) = (id.number(self.offset)?, id.number(self.length)?);
        let (block, offset) = if self.rows == 0 { (self.root, offset) } else { self.block(file, offset)? };
        let mut block = file.at(block)?;
        block.0.starts_with(b"FHDB").then_some(()).ok_or_else(damaged)?;
        block.take(usize::try_from(offset).map_err(|_| damaged())?)?;
        Ok(Cursor(block.take(usize::try_from(length).map_err(|_| damaged())?)?))
    }

    /// The address of the block that holds an offset of the heap, and the offset in the block.
    fn block(&self, file: &File, offset: u64) -> Parsed<(u64, u64)> {
        let (mut first, mut size) = (0, self.start);
        for row in 0..u64::from(self.rows) {
            // From the third row on, block sizes double.
            size = if row > 1 { size.checked_mul(2).ok_or_else(damaged)? } else { size };
            let all = size.checked_mul(self.width).ok_or_else(damaged)?;
            if offset - first < all {
                let column = (offset - first) / size;
                let mut root = file.at(self.root)?;
                root.expect(b"FHIB\0")?;
                root.take(8 + self.offset)?;
                let before = (row * self.width + column).checked_mul(8).ok_or_else(damaged)?;
                root.take(usize::try_from(before).map_err(|_| damaged())?)?;
                return Ok((root.u64()?, (offset - first) % size));
            }
            first = first.checked_add(all).ok_or_else(damaged)?;
        }
        Err(damaged())
    }
}
