//! Undoes the filters of chunks: shuffling of bytes, and deflate (section IV.A.2.l).

use std::borrow::Cow;
use std::io::Read;

use flate2::read::ZlibDecoder;

use super::super::source::MOST_DEFLATED;
use super::cursor::Cursor;
use super::{Parsed, damaged, unread};

const DEFLATE: u16 = 1;
const SHUFFLE: u16 = 2;

/// Filters in the order in which they were applied.
#[derive(Default)]
pub struct Filters(Vec<u16>);

impl Filters {
    pub fn read(mut message: Cursor) -> Parsed<Self> {
        let (version, count) = (message.u8()?, message.u8()?);
        message.take(if version == 1 { 6 } else { 0 })?;
        let filters = (0..count).map(|_| {
            let kind = message.u16()?;
            let name = if version == 1 || kind >= 256 { message.u16()? } else { 0 };
            let (_flags, values) = (message.u16()?, message.u16()?);
            message.take(name.into())?;
            // Version 1 pads to a multiple of 8 bytes.
            let values = usize::from(values);
            message.take(4 * if version == 1 { values.next_multiple_of(2) } else { values })?;
            match kind {
                DEFLATE | SHUFFLE => Ok(kind),
                _ => Err(unread(&format!("numbers compressed by HDF5's filter {kind}"))),
            }
        });
        let filters: Vec<_> = filters.collect::<Parsed<_>>()?;
        match filters.iter().filter(|&&kind| kind == DEFLATE).count() {
            0 | 1 => Ok(Self(filters)),
            _ => Err(unread("numbers compressed twice")),
        }
    }

    /// The most bytes that this many stored bytes can hold.
    pub fn most_bytes(&self, stored: usize) -> usize {
        if self.0.contains(&DEFLATE) { stored.saturating_mul(MOST_DEFLATED as usize) } else { stored }
    }

    /// Restores the `length` bytes that were stored as `bytes`, in elements of `size` bytes. The bits of `mask` say
    /// which filters were not applied.
    pub fn undo(&self, bytes: &[u8], mask: u32, size: usize, length: usize) -> Parsed<Vec<u8>> {
        let applied = (0..32).zip(&self.0).filter(|(n, _)| mask >> n & 1 == 0).map(|(_, &kind)| kind);
        let applied: Vec<_> = applied.collect();
        let mut bytes = Cow::from(bytes);
        for kind in applied.into_iter().rev() {
            bytes = Cow::from(if kind == DEFLATE { inflated(&bytes, length)? } else { unshuffled(&bytes, size) });
        }
        if bytes.len() == length { Ok(bytes.into_owned()) } else { Err(damaged()) }
    }
}

fn inflated(bytes: &[u8], length: usize) -> Parsed<Vec<u8>> {
    // The vector grows if bytes were compressed to less than a quarter, so that memory is not allocated for a claimed
    // length alone.
    let mut inflated = Vec::with_capacity(length.min(bytes.len().saturating_mul(4)));
    let limit = (length as u64).saturating_add(1);
    ZlibDecoder::new(bytes).take(limit).read_to_end(&mut inflated).map_err(|_| damaged())?;
    Ok(inflated)
}

/// Reverses shuffling, which puts the first bytes of all elements first, then the second bytes, and so on.
fn unshuffled(bytes: &[u8], size: usize) -> Vec<u8> {
    let count = bytes.len() / size;
    let whole = count * size;
    let unshuffled = (0..whole).map(|at| bytes[at % size * count + at / size]);
    unshuffled.chain(bytes[whole..].iter().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shuffled_bytes_go_back_and_what_is_over_stays() {
        assert_eq!(unshuffled(&[1, 4, 2, 5, 3, 6, 7], 3), [1, 2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn what_was_left_out_is_not_undone_and_lengths_are_held() {
        let filters = Filters(vec![SHUFFLE, DEFLATE]);
        let mut stream = Vec::new();
        flate2::read::ZlibEncoder::new(&[1, 3, 2, 4][..], flate2::Compression::fast())
            .read_to_end(&mut stream)
            .unwrap();
        assert_eq!(filters.undo(&stream, 0, 2, 4).unwrap(), [1, 2, 3, 4]);
        assert_eq!(filters.undo(&stream, 1, 2, 4).unwrap(), [1, 3, 2, 4]);
        assert_eq!(filters.undo(&[5; 4], 3, 2, 4).unwrap(), [5; 4]);
        assert!(filters.undo(&stream, 0, 2, 5).is_err() && filters.undo(&stream, 0, 2, 3).is_err());
    }
}
