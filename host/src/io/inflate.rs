//! Inflates gzip streams on all threads, if their blocks do not refer to earlier blocks, as in streams made by
//! [`deflate`](super::deflate).
//!
//! Such a block ends with an empty stored block, the marker of a flush. The stream is cut at the markers, and each part
//! is inflated on its own. If a part cannot be, as in streams of other programs, one thread inflates the rest of the
//! stream from there.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Chain, Cursor, Error, ErrorKind, Read, Result};
use std::mem;

use flate2::bufread::{DeflateDecoder, GzDecoder};
use rayon::prelude::*;
use zlib_rs::{Inflate, InflateFlush, Status, crc32};

use super::deflate::{BLOCK, END, Wrap};

const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];
/// The end of a block: the length 0 of a stored block, and its complement.
const MARKER: [u8; 4] = [0x00, 0x00, 0xff, 0xff];
/// The most bytes of an inflated block, since voxels have at most 8 bytes.
const MOST: usize = 8 * BLOCK;
/// The blocks per thread that are inflated at once, and the bytes that are read for each.
const BLOCKS_A_THREAD: usize = 2;
const BYTES_A_BLOCK: usize = 1 << 20;
/// The most bytes by which a block may refer back.
const WINDOW: usize = 1 << 15;

type Packed = Box<dyn BufRead>;

/// Whether the bytes are the start of a gzip stream.
pub fn is_gzip(start: &[u8]) -> bool {
    start.starts_with(GZIP_MAGIC)
}

/// Inflates a gzip stream with all its members.
pub fn gzip(mut packed: Packed) -> Box<dyn BufRead> {
    let head = Wrap::Gzip.head();
    match packed.fill_buf() {
        Ok(start) if start.starts_with(head) => {
            packed.consume(head.len());
            Box::new(BufReader::new(Parts::new(packed)))
        }
        _ => Box::new(BufReader::new(Members(Some(GzDecoder::new(packed))))),
    }
}

/// The members of a gzip file, one after the other. Bytes after the last member are ignored, as gzip does.
struct Members(Option<GzDecoder<Packed>>);

impl Members {
    /// The members that follow the first one.
    fn after(mut packed: Packed) -> Result<Self> {
        let follows = packed.fill_buf()?.starts_with(&GZIP_MAGIC[..1]);
        Ok(Self(follows.then(|| GzDecoder::new(packed))))
    }
}

impl Read for Members {
    fn read(&mut self, bytes: &mut [u8]) -> Result<usize> {
        while let Some(decoder) = &mut self.0 {
            let count = decoder.read(bytes)?;
            if count > 0 || bytes.is_empty() {
                return Ok(count);
            }
            let rest = self.0.take().expect("matched above").into_inner();
            *self = Self::after(rest)?;
        }
        Ok(0)
    }
}

/// A gzip stream after its head.
struct Parts {
    from: From,
    /// Inflated bytes that have not been read yet.
    ready: VecDeque<Cursor<Vec<u8>>>,
    /// The checksum of all inflated bytes. `length` is their number.
    checksum: u32,
    length: u64,
}

/// The source of the next bytes.
enum From {
    /// Parts that are inflated on all threads. `begun` is what was read but not inflated, from the start of a part on;
    /// `packed` is the rest of the file; `window` holds the last inflated bytes.
    Parts { begun: Vec<u8>, packed: Packed, window: Vec<u8> },
    /// The rest of the stream, which one thread inflates.
    Rest(DeflateDecoder<Chain<Cursor<Vec<u8>>, Packed>>),
    /// The members after the first one.
    Members(Members),
    /// Nothing more: an error occurred.
    Nothing,
}

impl Parts {
    fn new(packed: Packed) -> Self {
        let from = From::Parts { begun: Vec::new(), packed, window: Vec::new() };
        Self { from, ready: VecDeque::new(), checksum: crc32::crc32(0, &[]), length: 0 }
    }

    /// Inflates as many parts as all threads can at once. If one of them cannot be inflated on its own, leaves the rest
    /// to one thread.
    fn inflate(&mut self, mut begun: Vec<u8>, mut packed: Packed, mut window: Vec<u8>) -> Result<()> {
        // The first part is the header of the image, which may be all that is needed.
        let most = if self.length == 0 { 1 } else { BLOCKS_A_THREAD * rayon::current_num_threads() };
        let missing = (most * BYTES_A_BLOCK).saturating_sub(begun.len());
        (&mut packed).take(missing as u64).read_to_end(&mut begun)?;
        let parts = cut(&begun, most);
        let inflated: Vec<_> = parts.par_iter().map(|part| inflated(part)).collect();
        let whole = inflated.iter().take_while(|part| part.is_some()).count();
        let used: usize = parts[..whole].iter().map(|part| part.len()).sum();
        let serially = whole < parts.len() || whole == 0;
        for Inflated { bytes, checksum } in inflated.into_iter().take(whole).flatten() {
            self.count(checksum, bytes.len());
            keep_last(&mut window, &bytes);
            self.ready.push_back(Cursor::new(bytes));
        }
        begun.drain(..used);
        self.from = match serially {
            true => From::Rest(rest(&window, begun, packed)?),
            false => From::Parts { begun, packed, window },
        };
        Ok(())
    }

    fn count(&mut self, checksum: u32, length: usize) {
        self.checksum = crc32::crc32_combine(self.checksum, checksum, length as u64);
        self.length += length as u64;
    }

    /// Reads inflated bytes; returns 0 when all are read.
    fn give(&mut self, bytes: &mut [u8]) -> Result<usize> {
        while let Some(first) = self.ready.front_mut() {
            let count = first.read(bytes)?;
            if count > 0 {
                return Ok(count);
            }
            self.ready.pop_front();
        }
        Ok(0)
    }

    /// Reads the end of the stream, and compares checksum and length.
    fn end(&self, mut packed: impl BufRead) -> Result<()> {
        let mut tail = [0; 8];
        packed.read_exact(&mut tail)?;
        match tail[..] == Wrap::Gzip.tail(self.checksum, self.length) {
            true => Ok(()),
            // The same message as that of `flate2`.
            false => Err(Error::new(ErrorKind::InvalidInput, "corrupt gzip stream does not have a matching checksum")),
        }
    }
}

impl Read for Parts {
    fn read(&mut self, bytes: &mut [u8]) -> Result<usize> {
        while !bytes.is_empty() {
            let given = self.give(bytes)?;
            if given > 0 {
                return Ok(given);
            }
            match mem::replace(&mut self.from, From::Nothing) {
                From::Parts { begun, packed, window } => self.inflate(begun, packed, window)?,
                From::Rest(mut decoder) => {
                    let count = decoder.read(bytes)?;
                    if count > 0 {
                        self.count(crc32::crc32(0, &bytes[..count]), count);
                        self.from = From::Rest(decoder);
                        return Ok(count);
                    }
                    let mut packed = decoder.into_inner();
                    self.end(&mut packed)?;
                    self.from = From::Members(Members::after(Box::new(packed))?);
                }
                From::Members(mut members) => {
                    let count = members.read(bytes)?;
                    self.from = From::Members(members);
                    return Ok(count);
                }
                From::Nothing => return Ok(0),
            }
        }
        Ok(0)
    }
}

/// Cuts off the first parts, at most `most`, each with its marker at the end.
fn cut(packed: &[u8], most: usize) -> Vec<&[u8]> {
    let mut parts = Vec::new();
    let mut rest = packed;
    while parts.len() < most
        && let Some(at) = rest.windows(MARKER.len()).position(|bytes| bytes == MARKER)
    {
        let (part, after) = rest.split_at(at + MARKER.len());
        parts.push(part);
        rest = after;
    }
    parts
}

/// The inflated bytes of a part.
struct Inflated {
    bytes: Vec<u8>,
    checksum: u32,
}

/// Inflates a part. Returns `None` if it refers to earlier bytes, ends inside a block, ends the stream, or is too long.
fn inflated(part: &[u8]) -> Option<Inflated> {
    let mut inflate = Inflate::new(false, 15);
    let mut bytes = vec![0; MOST + 1];
    inflate.decompress(part, &mut bytes, InflateFlush::NoFlush).ok().filter(|status| *status == Status::Ok)?;
    let written = inflate.total_out() as usize;
    if inflate.total_in() < part.len() as u64 || written > MOST {
        return None;
    }
    // `END` is a valid last block only if the part ended at the end of a block.
    let ended = inflate.decompress(&END, &mut bytes[written..], InflateFlush::Finish).ok()?;
    if ended != Status::StreamEnd || inflate.total_out() != written as u64 {
        return None;
    }
    bytes.truncate(written);
    let checksum = crc32::crc32(0, &bytes);
    Some(Inflated { bytes, checksum })
}

/// Appends bytes to the window, and keeps the last that a block may refer to.
fn keep_last(window: &mut Vec<u8>, bytes: &[u8]) {
    window.extend_from_slice(&bytes[bytes.len().saturating_sub(WINDOW)..]);
    window.drain(..window.len().saturating_sub(WINDOW));
}

/// A decoder for the rest of a stream from the end of a block on. It knows the last inflated bytes, `window`, because
/// it first reads them as a stored block.
fn rest(window: &[u8], begun: Vec<u8>, packed: Packed) -> Result<DeflateDecoder<Chain<Cursor<Vec<u8>>, Packed>>> {
    let length = (window.len() as u16).to_le_bytes();
    let stored = [&[0], &length[..], &length.map(|byte| !byte), window, &begun].concat();
    let mut decoder = DeflateDecoder::new(Cursor::new(stored).chain(packed));
    decoder.read_exact(&mut vec![0; window.len()])?;
    Ok(decoder)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::DeflateEncoder;

    use super::super::deflate::tests::{bytes, noise, stream};
    use super::*;

    /// Numbers that cannot be compressed, and some that can.
    fn voxels(count: usize) -> Vec<f32> {
        let noise = noise(count).into_iter().enumerate();
        noise.map(|(n, number)| if n / BLOCK % 3 == 1 { 7.0 } else { number.max(1.0) }).collect()
    }

    fn ours(voxels: &[f32]) -> Vec<u8> {
        stream(Wrap::Gzip, b"head", voxels)
    }

    /// A stream as of another program, with the same head, flushed after each chunk.
    fn flushed(level: Compression, bytes: &[u8], chunk: usize) -> Vec<u8> {
        let mut encoder = DeflateEncoder::new(Vec::new(), level);
        for chunk in bytes.chunks(chunk) {
            encoder.write_all(chunk).unwrap();
            encoder.flush().unwrap();
        }
        let tail = Wrap::Gzip.tail(crc32::crc32(0, bytes), bytes.len() as u64);
        [Wrap::Gzip.head(), &encoder.finish().unwrap(), &tail].concat()
    }

    fn read(stream: &[u8]) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        gzip(Box::new(Cursor::new(stream.to_vec()))).read_to_end(&mut bytes).map(|_| bytes)
    }

    /// The number of parts of a stream, after its head, that can be inflated on their own.
    fn parts(stream: &[u8]) -> usize {
        let parts = cut(&stream[Wrap::Gzip.head().len()..], usize::MAX);
        parts.iter().take_while(|part| inflated(part).is_some()).count()
    }

    #[test]
    fn streams_of_ours_are_inflated_in_parts_by_any_number_of_threads() {
        let voxels = voxels(9 * BLOCK + 5);
        let (stream, expected) = (ours(&voxels), [b"head".to_vec(), bytes(&voxels)].concat());
        assert_eq!(parts(&stream), 11);
        for threads in [1, 5] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert!(pool.install(|| read(&stream)).unwrap() == expected);
        }
    }

    #[test]
    fn streams_of_other_programs_are_inflated_too() {
        let numbers = bytes(&voxels(3 * BLOCK));
        // The fourth part refers to earlier parts.
        let repeated = [&numbers[..30_000], &numbers[..30_000], &numbers[20_000..]].concat();
        let stream = flushed(Compression::default(), &repeated, 10_000);
        assert_eq!(parts(&stream), 3);
        assert!(read(&stream).unwrap() == repeated);
    }

    #[test]
    fn what_follows_an_empty_block_is_not_overtaken() {
        let numbers = bytes(&voxels(3 * BLOCK));
        // Two parts, an empty one, another part, and then parts that refer to earlier ones.
        let repeated = numbers[..30_000].repeat(2);
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        for (number, chunk) in repeated.chunks(10_000).enumerate() {
            encoder.write_all(chunk).unwrap();
            encoder.flush().unwrap();
            if number == 1 {
                encoder.get_mut().extend_from_slice(&[0, 0, 0, 0xff, 0xff]);
            }
        }
        let tail = Wrap::Gzip.tail(crc32::crc32(0, &repeated), repeated.len() as u64);
        let stream = [Wrap::Gzip.head(), &encoder.finish().unwrap(), &tail].concat();
        assert_eq!(parts(&stream), 4);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(8).build().unwrap();
        assert!(pool.install(|| read(&stream)).unwrap() == repeated);
    }

    #[test]
    fn what_only_looks_like_the_end_of_a_block_is_none() {
        let mut numbers = bytes(&voxels(3 * BLOCK));
        for at in [1000, BLOCK / 2, 5 * BLOCK / 2] {
            numbers[at..][..MARKER.len()].copy_from_slice(&MARKER);
        }
        let voxels: Vec<f32> = numbers.iter().map(|&byte| f32::from(byte)).collect();
        let stream = ours(&voxels);
        assert_eq!((cut(&stream, usize::MAX).len(), parts(&stream)), (7, 1));
        assert!(read(&stream).unwrap() == [b"head", &numbers[..]].concat());
    }

    #[test]
    fn members_follow_and_what_is_none_is_ignored() {
        let (stream, expected) = (ours(&voxels(5)), [b"head".to_vec(), bytes(&voxels(5))].concat());
        assert!(read(&[&stream[..], &stream].concat()).unwrap() == expected.repeat(2));
        assert!(read(&[&stream[..], b"more"].concat()).unwrap() == expected);
    }

    #[test]
    fn damage_is_found() {
        let stream = ours(&voxels(3 * BLOCK));
        let kind = |stream: &[u8]| read(stream).unwrap_err().kind();
        for end in [stream.len() - 1, stream.len() - 9, stream.len() / 2, 30] {
            assert_eq!(kind(&stream[..end]), ErrorKind::UnexpectedEof, "{end} of {}", stream.len());
        }
        for at in [stream.len() - 1, stream.len() - 5, stream.len() / 2, 200] {
            let mut damaged = stream.clone();
            damaged[at] ^= 0x10;
            assert!(matches!(kind(&damaged), ErrorKind::InvalidInput | ErrorKind::InvalidData), "{at}");
        }
    }
}
