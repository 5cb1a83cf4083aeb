//! Where a file starts (section II), and what it takes to reach any place in it.

use std::cell::Cell;

use super::checksum::checksum;
use super::cursor::Cursor;
use super::{Parsed, damaged, unread};

/// How a file starts.
pub const MAGIC: &[u8] = b"\x89HDF\r\n\x1a\n";

/// Bytes of a superblock of version 2 or 3 before its checksum.
const SUPERBLOCK: usize = 44;

/// A whole file in memory.
pub struct File<'a> {
    bytes: &'a [u8],
    /// Steps that may still be taken, so that addresses in a circle have an end.
    steps: Cell<usize>,
    root: u64,
}

impl<'a> File<'a> {
    /// The file that these bytes are.
    pub fn open(bytes: &'a [u8]) -> Parsed<Self> {
        let mut head = Cursor(bytes);
        head.expect(MAGIC).map_err(|_| "is not HDF5; name another format")?;
        let version = head.u8()?;
        let (base, end, root) = match version {
            0 | 1 => {
                let [_, _, _, _, offset, length, _] = [(); 7].map(|()| head.u8());
                eight(offset?, length?)?;
                // Sizes of nodes and flags.
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
        // What is walked has 8 bytes at least, and only small things are walked more than once.
        Ok(Self { bytes, steps: Cell::new(bytes.len() / 8 + 10_000), root })
    }

    /// Bytes of all of it.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// The address of the group that holds all else.
    pub fn root(&self) -> u64 {
        self.root
    }

    /// The file from an address on.
    pub fn at(&self, address: u64) -> Parsed<Cursor<'a>> {
        self.step()?;
        let start = usize::try_from(address).map_err(|_| damaged())?;
        Ok(Cursor(self.bytes.get(start..).ok_or_else(damaged)?))
    }

    /// Counts one more thing that is walked.
    pub fn step(&self) -> Parsed<()> {
        self.steps.set(self.steps.get().checked_sub(1).ok_or_else(damaged)?);
        Ok(())
    }
}

fn eight(offset: u8, length: u8) -> Parsed<()> {
    if (offset, length) == (8, 8) { Ok(()) } else { Err(unread(&format!("addresses of {offset} bytes"))) }
}
