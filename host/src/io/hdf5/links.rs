//! Finds the members of groups by name. Their links are in the group's header, in symbol tables (sections III.A to
//! III.C) or in heaps.

use super::cursor::Cursor;
use super::file::File;
use super::heap::Fractal;
use super::object::Object;
use super::{Parsed, UNDEFINED, damaged, unread};

const LINK_INFO: u8 = 0x02;
const LINK: u8 = 0x06;
const SYMBOL_TABLE: u8 = 0x11;

/// The most bytes of a name that is kept. Names in ITK's files are not longer.
const LONGEST_NAME: usize = 64;

/// A name, and the address of its object.
type Link = (String, u64);

impl<'a> Object<'a> {
    /// The links to all members of a group.
    pub fn children(&self, file: &File<'a>) -> Parsed<Vec<Link>> {
        let mut links = Vec::new();
        if let Some(mut table) = self.find(SYMBOL_TABLE)? {
            let (tree, heap) = (table.u64()?, table.u64()?);
            let names = local_heap(file, heap)?;
            symbols(file, tree, names, &mut links)?;
        }
        for link in self.all(LINK) {
            links.extend(hard_link(link)?);
        }
        if let Some(mut info) = self.find(LINK_INFO)? {
            info.expect(&[0])?;
            let flags = info.u8()?;
            info.take(if flags & 1 != 0 { 8 } else { 0 })?;
            let (heap, tree) = (info.u64()?, info.u64()?);
            if heap != UNDEFINED {
                let heap = Fractal::read(file, heap)?;
                for id in name_records(file, tree)? {
                    links.extend(hard_link(heap.get(file, id)?)?);
                }
            }
        }
        Ok(links)
    }

    /// The member of a group with this name.
    pub fn child(&self, file: &File<'a>, name: &str) -> Parsed<Option<Object<'a>>> {
        let address = self.children(file)?.into_iter().find(|(own, _)| own == name).map(|(_, address)| address);
        address.map(|address| Object::read(file, address)).transpose()
    }
}

/// Reads a link message. Returns `None` for a soft or external link, and for a name longer than those of ITK.
fn hard_link(mut link: Cursor) -> Parsed<Option<Link>> {
    link.expect(&[1])?;
    let flags = link.u8()?;
    let kind = if flags & 8 != 0 { link.u8()? } else { 0 };
    link.take(if flags & 4 != 0 { 8 } else { 0 })?;
    link.take(if flags & 0x10 != 0 { 1 } else { 0 })?;
    let length = usize::try_from(link.number(1 << (flags & 3))?).map_err(|_| damaged())?;
    let name = link.take(length)?;
    if kind != 0 || length > LONGEST_NAME {
        return Ok(None);
    }
    Ok(Some((String::from_utf8_lossy(name).into_owned(), link.u64()?)))
}

/// The local heap of names, which a symbol table refers to by offset.
fn local_heap<'a>(file: &File<'a>, address: u64) -> Parsed<&'a [u8]> {
    let mut heap = file.at(address)?;
    heap.expect(b"HEAP\0\0\0\0")?;
    let (length, _, data) = (heap.length()?, heap.u64()?, heap.u64()?);
    file.at(data)?.take(length)
}

/// Reads all links below a node of a symbol table's tree.
fn symbols(file: &File, tree: u64, names: &[u8], links: &mut Vec<Link>) -> Parsed<()> {
    let mut nodes = vec![(tree, None)];
    while let Some((address, expected)) = nodes.pop() {
        let mut node = file.at(address)?;
        if expected == Some(0) {
            table(file, node, names, links)?;
            continue;
        }
        node.expect(b"TREE\0")?;
        // Levels are counted from 1 here, because the nodes of level 0 point to tables, which are level 0 here.
        let level = usize::from(node.u8()?) + 1;
        if expected.is_some_and(|expected| expected != level) {
            return Err(damaged());
        }
        let count = node.u16()?;
        node.take(16)?;
        for _ in 0..count {
            file.step()?;
            let _name = node.u64()?;
            nodes.push((node.u64()?, Some(level - 1)));
        }
    }
    Ok(())
}

/// Reads the links of a table, a leaf of the tree.
fn table(file: &File, mut node: Cursor, names: &[u8], links: &mut Vec<Link>) -> Parsed<()> {
    node.expect(b"SNOD\x01\0")?;
    for _ in 0..node.u16()? {
        file.step()?;
        let (name, address, cache) = (node.length()?, node.u64()?, node.u32()?);
        node.take(20)?;
        let name = names.get(name..).and_then(|name| name.split(|&byte| byte == 0).next()).ok_or_else(damaged)?;
        // 2 is a soft link.
        if cache != 2 && name.len() <= LONGEST_NAME {
            links.push((String::from_utf8_lossy(name).into_owned(), address));
        }
    }
    Ok(())
}

/// The heap IDs of the links of a group, from its tree of names (section III.A.2).
fn name_records<'a>(file: &File<'a>, address: u64) -> Parsed<Vec<&'a [u8]>> {
    let mut head = file.at(address)?;
    head.expect(b"BTHD\0\x05")?;
    let _node = head.u32()?;
    let (record, depth) = (head.u16()?, head.u16()?);
    head.take(2)?;
    let (root, count) = (head.u64()?, head.u16()?);
    if count == 0 {
        return Ok(Vec::new());
    }
    if depth > 0 {
        return Err(unread("so many links in one group"));
    }
    let mut leaf = file.at(root)?;
    leaf.expect(b"BTLF\0\x05")?;
    let records = (0..count).map(|_| {
        file.step()?;
        // Skips a hash of the name.
        leaf.take(record.into())?.get(4..).ok_or_else(damaged)
    });
    records.collect()
}
