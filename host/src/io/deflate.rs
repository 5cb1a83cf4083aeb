//! Compresses on all threads into one gzip or zlib stream. Its bytes do not depend on the number of threads.

use std::cell::RefCell;
use std::io::{self, Write};

use rayon::prelude::*;
use zlib_rs::{Deflate, DeflateConfig, DeflateFlush, Strategy, adler32, crc32};

/// Voxels per task.
pub const BLOCK: usize = 1 << 18;
/// Blocks per thread that are compressed in memory before they are written.
const BLOCKS_A_THREAD: usize = 4;
/// An empty final deflate block.
pub const END: [u8; 2] = [0x03, 0x00];

/// The format around the deflate blocks.
#[derive(Clone, Copy, PartialEq)]
pub enum Wrap {
    Gzip,
    Zlib,
}

impl Wrap {
    pub fn head(self) -> &'static [u8] {
        match self {
            // Method deflate, no name, time 0, operating system unknown.
            Self::Gzip => &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255],
            Self::Zlib => &[0x78, 0x5e],
        }
    }

    fn checksum(self, bytes: &[u8]) -> u32 {
        match self {
            Self::Gzip => crc32::crc32(0, bytes),
            Self::Zlib => adler32::adler32(1, bytes),
        }
    }

    fn combine(self, first: u32, second: u32, second_length: u64) -> u32 {
        match self {
            Self::Gzip => crc32::crc32_combine(first, second, second_length),
            Self::Zlib => adler32::adler32_combine(first, second, second_length),
        }
    }

    pub fn tail(self, checksum: u32, length: u64) -> Vec<u8> {
        match self {
            Self::Gzip => [checksum.to_le_bytes(), (length as u32).to_le_bytes()].concat(),
            Self::Zlib => checksum.to_be_bytes().into(),
        }
    }
}

/// Writes `head`, then `voxels` as `encode` stores them, as one compressed stream.
pub fn compress(
    wrap: Wrap,
    head: &[u8],
    voxels: &[f32],
    encode: impl Fn(&[f32]) -> Vec<u8> + Sync,
    out: &mut dyn Write,
) -> io::Result<()> {
    out.write_all(wrap.head())?;
    let (mut checksum, mut length) = (wrap.checksum(&[]), 0);
    let mut put = |block: Block| {
        checksum = wrap.combine(checksum, block.checksum, block.length);
        length += block.length;
        out.write_all(&block.deflated)
    };
    put(Block::new(wrap, head))?;
    for voxels in voxels.chunks(BLOCK * BLOCKS_A_THREAD * rayon::current_num_threads()) {
        let blocks: Vec<_> = voxels.par_chunks(BLOCK).map(|part| Block::new(wrap, &encode(part))).collect();
        blocks.into_iter().try_for_each(&mut put)?;
    }
    out.write_all(&END)?;
    out.write_all(&wrap.tail(checksum, length))
}

/// A part of the stream that ends at a byte boundary and does not refer to other parts.
struct Block {
    deflated: Vec<u8>,
    checksum: u32,
    length: u64,
}

thread_local! {
    /// Reused for all blocks of a thread. Allocating a new one for each block would fragment memory without limit.
    static COMPRESSOR: RefCell<Deflate> = {
        // Only runs are compressed. Noise has no repetitions that a longer search would find, and the rest of images,
        // background and labels, is runs.
        let runs = DeflateConfig { strategy: Strategy::Rle, window_bits: -15, ..DeflateConfig::default() };
        RefCell::new(Deflate::new_with_config(runs))
    };
}

impl Block {
    fn new(wrap: Wrap, bytes: &[u8]) -> Self {
        let deflated = COMPRESSOR.with_borrow_mut(|compressor| deflated(compressor, bytes));
        Self { deflated, checksum: wrap.checksum(bytes), length: bytes.len() as u64 }
    }
}

/// Compresses bytes to a part of a deflate stream.
fn deflated(compressor: &mut Deflate, bytes: &[u8]) -> Vec<u8> {
    compressor.reset();
    let mut deflated = vec![0; bytes.len() + 64];
    // The flush is complete when it leaves room in the output.
    loop {
        let [read, written] = [compressor.total_in(), compressor.total_out()].map(|count| count as usize);
        let status = compressor.compress(&bytes[read..], &mut deflated[written..], DeflateFlush::SyncFlush);
        status.expect("deflate takes any bytes and its state is intact");
        let written = compressor.total_out() as usize;
        if written < deflated.len() {
            deflated.truncate(written);
            return deflated;
        }
        deflated.resize(deflated.len() + bytes.len() / 8 + 64, 0);
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::io::Read;

    use super::*;
    use crate::PixelType;
    use crate::io::coding::encode;

    /// Voxels that cannot be compressed.
    pub fn noise(count: usize) -> Vec<f32> {
        let mut state = 1u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as f32
        };
        (0..count).map(|_| next()).collect()
    }

    pub fn bytes(voxels: &[f32]) -> Vec<u8> {
        encode(voxels, PixelType::U8)
    }

    pub fn stream(wrap: Wrap, head: &[u8], voxels: &[f32]) -> Vec<u8> {
        let mut stream = Vec::new();
        compress(wrap, head, voxels, bytes, &mut stream).unwrap();
        stream
    }

    #[test]
    fn both_wraps_decompress_to_what_went_in() {
        let voxels = [noise(BLOCK + 5), vec![7.0; BLOCK]].concat();
        let expected = [b"head".to_vec(), bytes(&voxels)].concat();
        let [mut gzip, mut zlib] = [Vec::new(), Vec::new()];
        flate2::read::GzDecoder::new(&stream(Wrap::Gzip, b"head", &voxels)[..]).read_to_end(&mut gzip).unwrap();
        flate2::read::ZlibDecoder::new(&stream(Wrap::Zlib, b"head", &voxels)[..]).read_to_end(&mut zlib).unwrap();
        assert!(gzip == expected && zlib == expected);
    }

    #[test]
    fn the_number_of_threads_changes_no_byte() {
        let voxels = noise((BLOCKS_A_THREAD + 3) * BLOCK);
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| stream(Wrap::Gzip, &[], &voxels))
        };
        assert!(with(1) == with(5));
    }
}
