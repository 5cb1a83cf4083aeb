//! A position in a file, from which little-endian numbers are read.

use super::{Parsed, damaged};

/// The bytes that are left to read.
#[derive(Clone, Copy)]
pub struct Cursor<'a>(pub &'a [u8]);

impl<'a> Cursor<'a> {
    pub fn take(&mut self, count: usize) -> Parsed<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or_else(damaged)?;
        self.0 = rest;
        Ok(taken)
    }

    /// Reads a number of `bytes` bytes, at most 8.
    pub fn number(&mut self, bytes: usize) -> Parsed<u64> {
        let taken = self.take(bytes)?;
        Ok(taken.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    pub fn u8(&mut self) -> Parsed<u8> {
        Ok(self.take(1)?[0])
    }

    pub fn u16(&mut self) -> Parsed<u16> {
        Ok(self.number(2)? as u16)
    }

    pub fn u32(&mut self) -> Parsed<u32> {
        Ok(self.number(4)? as u32)
    }

    pub fn u64(&mut self) -> Parsed<u64> {
        self.number(8)
    }

    /// Reads a number of 8 bytes that must fit into `usize`.
    pub fn length(&mut self) -> Parsed<usize> {
        usize::try_from(self.u64()?).map_err(|_| damaged())
    }

    /// Skips the given bytes; an error if others are there.
    pub fn expect(&mut self, bytes: &[u8]) -> Parsed<()> {
        if self.take(bytes.len())? == bytes { Ok(()) } else { Err(damaged()) }
    }
}
