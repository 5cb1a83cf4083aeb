//! Opens a file by its superblock (section II), and gives access to its addresses.

use std::cell::Cell;

use super::checksum::checksum;
use super::cursor::Cursor;
use super::{Parsed, damaged, unread};

/// The bytes at the start of a file.
pub const MAGIC: &[u8] = b"\x89HDF\r\n\x1a\n";

/// Bytes of a superblock of version 2 or 3 before its checksum.
const SUPERBLOCK: usize = 44;

/// A whole file in memory.
pub struct File<'a> {
    bytes: &'a [u8],
    /// The steps that may still be taken. The limit ends the traversal of a file with circular addresses.
    steps: Cell<usize>,
    root: u64,
}

impl<'a> File<'a> {
    /// Opens the file with these bytes.
    pub fn open(bytes: &'a [u8]) -> Parsed<Self> {
        let mut head = Cursor(bytes);
        head.expect(MAGIC).map_err(|_| "is not HDF5; name another format")?;
        let version = head.u8()?;
        let (base, end, root) = match version {
            0 | 1 => {
                let [_, _, _, _, offset, length, _] = [(); 7].map(|()| head.u8());
                eight(offset?, length?)?;
                // Skips the sizes of nodes, and flags.
                head.take(if version == 0 { 8 } else { 12 })?;
                let [base, _, end, _, _, root] = [(); 6].map(|()| head.u64());
                (base?, end?, root?)
            }
            2 | 3 => {
                let [offset, length, _] = [(); 3].map(|()| head.u8());
                eight(offset?, length?)?;
                let [base, _, end, root] = [(); 4].map(|()| head.u64());
                let addresses = (base?, end?, root?);
                if head.u32()? != checksum(&bytes[..SUPERBLOCK]) {
                    return Err(damaged());
                }
                addresses
            }
            _ => return Err(unread(&format!("a superblock of version {version}"))),
        };
        if base != 0 {
            return Err(unread("a user block"));
        }
        if end > bytes.len() as u64 {
            return Err("is truncated HDF5; copy it again".into());
        }
        // Everything that is traversed has at least 8 bytes, and only small structures are traversed more than once.
        Ok(Self { bytes, steps: Cell::new(bytes.len() / 8 + 10_000), root })
    }

    /// The length of the file in bytes.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// The address of the root group.
    pub fn root(&self) -> u64 {
        self.root
    }

    /// A cursor at an address.
    pub fn at(&self, address: u64) -> Parsed<Cursor<'a>> {
        self.step()?;
        let start = usize::try_from(address).map_err(|_| damaged())?;
        Ok(Cursor(self.bytes.get(start..).ok_or_else(damaged)?))
    }

    /// Counts a step of the traversal; an error if there were too many.
    pub fn step(&self) -> Parsed<()> {
        self.steps.set(self.steps.get().checked_sub(1).ok_or_else(damaged)?);
        Ok(())
    }
}

fn eight(offset: u8, length: u8) -> Parsed<()> {
    if (offset, length) == (8, 8) { Ok(()) } else { Err(unread(&format!("addresses of {offset} bytes"))) }
}
