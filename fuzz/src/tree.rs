//! A file as a tree of its parts, so that a part can be damaged while all around it stays right: lengths, checksums,
//! compression.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

use crate::checksum::checksum;

#[derive(Clone)]
pub enum Node {
    Bytes(Vec<u8>),
    /// Parts that follow each other.
    List(Vec<Self>),
    /// A part with its length before it.
    Counted {
        head: Vec<u8>,
        length: Length,
        body: Box<Self>,
    },
    Packed(Packing, Box<Self>),
    /// A part with its checksum after it.
    Summed(Sum, Box<Self>),
}

/// How the length of a part is written.
#[derive(Clone, Copy)]
pub struct Length {
    /// Bytes.
    pub width: usize,
    pub big_endian: bool,
    /// What is added to the number of the part's bytes.
    pub plus: i64,
    /// A wrong length that is written instead.
    pub lie: Option<u64>,
}

#[derive(Clone, Copy)]
pub enum Packing {
    Gzip,
    Zlib,
    Deflate,
}

#[derive(Clone, Copy)]
pub enum Sum {
    /// Of PNG.
    Crc32,
    /// Of HDF5.
    Lookup3,
}

impl Node {
    pub fn counted(head: &[u8], length: Length, body: Self) -> Self {
        Self::Counted { head: head.to_vec(), length, body: body.into() }
    }

    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.write(&mut bytes);
        bytes
    }

    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Bytes(bytes) => out.extend(bytes),
            Self::List(parts) => parts.iter().for_each(|part| part.write(out)),
            Self::Counted { head, length, body } => {
                let body = body.bytes();
                out.extend(head);
                out.extend(length.written(body.len()));
                out.extend(body);
            }
            Self::Packed(packing, body) => out.extend(packing.pack(&body.bytes())),
            Self::Summed(sum, body) => {
                let body = body.bytes();
                let sum = match sum {
                    Sum::Crc32 => {
                        let mut crc = flate2::Crc::new();
                        crc.update(&body);
                        crc.sum().to_be_bytes()
                    }
                    Sum::Lookup3 => checksum(&body).to_le_bytes(),
                };
                out.extend(body);
                out.extend(sum);
            }
        }
    }

    /// Returns the number of nodes, including this one.
    pub fn count(&self) -> usize {
        1 + match self {
            Self::Bytes(_) => 0,
            Self::List(parts) => parts.iter().map(Self::count).sum(),
            Self::Counted { body, .. } | Self::Packed(_, body) | Self::Summed(_, body) => body.count(),
        }
    }

    /// Returns the node of this number; this one has number 0.
    pub fn nth(&mut self, number: usize) -> Option<&mut Self> {
        let Some(mut left) = number.checked_sub(1) else { return Some(self) };
        match self {
            Self::Bytes(_) => None,
            Self::List(parts) => {
                for part in parts {
                    let count = part.count();
                    if left < count {
                        return part.nth(left);
                    }
                    left -= count;
                }
                None
            }
            Self::Counted { body, .. } | Self::Packed(_, body) | Self::Summed(_, body) => body.nth(left),
        }
    }
}

impl Length {
    pub fn new(width: usize, big_endian: bool) -> Self {
        Self { width, big_endian, plus: 0, lie: None }
    }

    fn written(&self, body: usize) -> Vec<u8> {
        let claimed = self.lie.unwrap_or((body as i64 + self.plus) as u64);
        let mut bytes = claimed.to_le_bytes()[..self.width].to_vec();
        if self.big_endian {
            bytes.reverse();
        }
        bytes
    }
}

impl Packing {
    pub fn unpack(self, bytes: &[u8]) -> Vec<u8> {
        let mut unpacked = Vec::new();
        let read = match self {
            Self::Gzip => MultiGzDecoder::new(bytes).read_to_end(&mut unpacked),
            Self::Zlib => ZlibDecoder::new(bytes).read_to_end(&mut unpacked),
            Self::Deflate => DeflateDecoder::new(bytes).read_to_end(&mut unpacked),
        };
        read.expect("the stream is whole");
        unpacked
    }

    pub fn pack(self, bytes: &[u8]) -> Vec<u8> {
        let fast = Compression::fast();
        let packed = match self {
            Self::Gzip => through(GzEncoder::new(Vec::new(), fast), bytes, GzEncoder::finish),
            Self::Zlib => through(ZlibEncoder::new(Vec::new(), fast), bytes, ZlibEncoder::finish),
            Self::Deflate => through(DeflateEncoder::new(Vec::new(), fast), bytes, DeflateEncoder::finish),
        };
        packed.expect("memory takes what is written")
    }
}

fn through<W: Write>(
    mut encoder: W,
    bytes: &[u8],
    finish: impl FnOnce(W) -> std::io::Result<Vec<u8>>,
) -> std::io::Result<Vec<u8>> {
    encoder.write_all(bytes)?;
    finish(encoder)
}
