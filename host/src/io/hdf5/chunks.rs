//! Reads one-dimensional datasets that are stored in chunks of equal length. The chunks are found by a tree (section
//! III.A.1), or there is a single chunk, consecutive chunks, or an array of chunks (sections VII.A to VII.C).

use super::cursor::Cursor;
use super::file::File;
use super::filters::Filters;
use super::{Parsed, UNDEFINED, damaged, unread};

/// The chunks of a dataset, in order.
pub struct Chunks {
    chunks: Vec<Chunk>,
    /// Bytes of each chunk without filters (`length`), and of an element (`size`).
    length: usize,
    size: usize,
}

struct Chunk {
    address: u64,
    stored: usize,
    /// The bits of filters that were not applied.
    mask: u32,
}

impl Chunks {
    /// The first `length` bytes of the dataset.
    pub fn joined(&self, file: &File, filters: &Filters, length: usize) -> Parsed<Vec<u8>> {
        let mut stored = Vec::new();
        let mut all = 0;
        for chunk in &self.chunks {
            let bytes = file.at(chunk.address)?.take(chunk.stored)?;
            all += bytes.len();
            stored.push((bytes, chunk.mask));
        }
        let chunked = self.length.checked_mul(stored.len()).ok_or_else(damaged)?;
        // In a damaged file chunks could share bytes, and so hold more than the file.
        if all > file.len() || filters.most_bytes(all) < length || chunked < length {
            return Err(damaged());
        }
        if let [(bytes, mask)] = stored[..] {
            let mut only = filters.undo(bytes, mask, self.size, self.length)?;
            only.truncate(length);
            return Ok(only);
        }
        let mut joined = Vec::new();
        for (bytes, mask) in stored {
            let part = filters.undo(bytes, mask, self.size, self.length)?;
            joined.extend_from_slice(&part[..part.len().min(length - joined.len())]);
        }
        Ok(joined)
    }
}

/// Finds the chunks of a dataset of `count` elements of `size` bytes. `layout` is its layout message after the class.
pub fn find(file: &File, version: u8, mut layout: Cursor, size: usize, count: usize) -> Parsed<Chunks> {
    let flags = if version > 3 { layout.u8()? } else { 0 };
    // The size of an element is counted as a dimension.
    let dimensions = layout.u8()?;
    if dimensions != 2 {
        return Err(unread(&format!("chunks of {} dimensions", dimensions.saturating_sub(1))));
    }
    let (tree, width) = if version > 3 { (0, layout.u8()?.into()) } else { (layout.u64()?, 4) };
    if width > 8 {
        return Err(damaged());
    }
    let elements = usize::try_from(layout.number(width)?).map_err(|_| damaged())?;
    let own = layout.number(width)?;
    let length = elements.checked_mul(size).filter(|&n| n > 0 && own == size as u64).ok_or_else(damaged)?;
    let needed = count.div_ceil(elements);
    let chunks = match (version, needed) {
        (_, 0) => Vec::new(),
        (3, _) => in_tree(file, tree, elements)?,
        _ => match layout.u8()? {
            1 => {
                let filtered = flags & 2 != 0;
                let stored = if filtered { layout.length()? } else { length };
                let mask = if filtered { layout.u32()? } else { 0 };
                vec![Chunk { address: layout.u64()?, stored, mask }]
            }
            2 => in_row(file, layout.u64()?, length, needed)?,
            3 => {
                layout.u8()?;
                in_array(file, layout.u64()?, length, needed)?
            }
            4 => return Err(unread("chunks in an extensible array")),
            _ => return Err(unread("chunks in a tree of version 2")),
        },
    };
    if chunks.len() == needed { Ok(Chunks { chunks, length, size }) } else { Err(damaged()) }
}

/// Consecutive chunks from address `first` on.
fn in_row(file: &File, first: u64, length: usize, needed: usize) -> Parsed<Vec<Chunk>> {
    let at = |n: usize| {
        file.step()?;
        let address = (n as u64).checked_mul(length as u64).and_then(|n| n.checked_add(first)).ok_or_else(damaged)?;
        Ok(Chunk { address, stored: length, mask: 0 })
    };
    (0..needed).map(at).collect()
}

/// The chunks of the tree with the root node at `root`, of this many elements each.
fn in_tree(file: &File, root: u64, elements: usize) -> Parsed<Vec<Chunk>> {
    // A stack with the last node at the bottom, so that chunks come in order.
    let mut nodes = vec![(root, None)];
    let mut chunks = Vec::new();
    while let Some((address, expected)) = nodes.pop() {
        let mut node = file.at(address)?;
        node.expect(b"TREE\x01")?;
        let level = node.u8()?;
        if expected.is_some_and(|expected| expected != level) {
            return Err(damaged());
        }
        let count = node.u16()?;
        node.take(16)?;
        let below = nodes.len();
        for _ in 0..count {
            file.step()?;
            let (stored, mask, first, _) = (node.u32()?, node.u32()?, node.length()?, node.u64()?);
            let address = node.u64()?;
            if level > 0 {
                nodes.push((address, Some(level - 1)));
            } else if chunks.len().checked_mul(elements) == Some(first) {
                chunks.push(Chunk { address, stored: stored as usize, mask });
            } else {
                return Err(damaged());
            }
        }
        nodes[below..].reverse();
    }
    Ok(chunks)
}

/// The chunks of a fixed array whose header is at `address`.
fn in_array(file: &File, address: u64, length: usize, needed: usize) -> Parsed<Vec<Chunk>> {
    let mut head = file.at(address)?;
    head.expect(b"FAHD\0")?;
    let (filtered, entry, page) = (head.u8()? == 1, usize::from(head.u8()?), head.u8()?);
    let (count, block) = (head.length()?, head.u64()?);
    if count < needed || block == UNDEFINED {
        return Err(damaged());
    }
    // Arrays with more than a page of entries are stored differently.
    if u32::from(page) < usize::BITS && count > 1 << page {
        return Err(unread("so many chunks"));
    }
    // The entry of a filtered chunk has, besides the address, its length and the filters that were not applied.
    let width = if filtered { entry.checked_sub(12).filter(|&n| n <= 8).ok_or_else(damaged)? } else { 0 };
    let mut entries = file.at(block)?;
    entries.expect(b"FADB\0")?;
    entries.take(9)?;
    let chunk = |_| {
        file.step()?;
        let address = entries.u64()?;
        let stored = if filtered { usize::try_from(entries.number(width)?).map_err(|_| damaged())? } else { length };
        Ok(Chunk { address, stored, mask: if filtered { entries.u32()? } else { 0 } })
    };
    (0..needed).map(chunk).collect()
}
