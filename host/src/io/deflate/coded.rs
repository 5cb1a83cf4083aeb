//! Voxels as blocks of deflate (RFC 1951). Noise repeats nothing that a search would find, and what else there is in images, background
//! and labels, is runs of equal voxels: so voxels are compared with the one before, and all else is left to Huffman's code. Files are
//! as small as with zlib's usual levels, at ten times their speed.

use super::codes::{codes, lengths};

/// Bytes with a code of their own.
const PART: usize = 1 << 16;
/// Bytes of a run that is worth a symbol, and those that a symbol can stand for.
const LEAST: usize = 4;
const MOST: usize = 258;
/// The symbol that ends a block, and the number of symbols.
const END: usize = 256;
const SYMBOLS: usize = 286;
/// The order in which a block begins with the lengths of the codes of lengths.
const ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/// Bits, of which the lowest comes first, and how many.
type Written = (u32, u32);

/// `bytes` of voxels of 1, 2, 4 or 8 bytes, deflated so that anything can follow.
pub fn deflated(bytes: &[u8], voxel: usize) -> Vec<u8> {
    let mut bits = Bits { bytes: Vec::with_capacity(bytes.len() + 64), held: 0, count: 0 };
    let mut tokens = Vec::with_capacity(PART);
    for start in (0..bytes.len()).step_by(PART) {
        tokens.clear();
        tokenise(&bytes[..bytes.len().min(start + PART)], start, voxel, &mut tokens);
        block(&tokens, voxel, &mut bits);
    }
    bits.aligned()
}

/// Bytes from `start` on: themselves, or [`END`] and the length of a run beyond three bytes.
fn tokenise(bytes: &[u8], start: usize, voxel: usize, tokens: &mut Vec<u16>) {
    let mut at = start;
    while at < bytes.len() {
        let (before, here) = (&bytes[at.saturating_sub(voxel)..], &bytes[at..]);
        let repeats = here.first_chunk::<LEAST>().is_some_and(|here| before.starts_with(here));
        if repeats && at >= voxel {
            let length = before.iter().zip(here).take(MOST).take_while(|(before, here)| before == here).count();
            tokens.push((END + length - 3) as u16);
            at += length;
        } else {
            tokens.push(u16::from(here[0]));
            at += 1;
        }
    }
}

/// Writes a block with codes of its own.
fn block(tokens: &[u16], voxel: usize, bits: &mut Bits) {
    let mut counts = [0; 2 * END];
    tokens.iter().for_each(|&token| counts[token as usize] += 1);
    let mut symbols = [0; SYMBOLS];
    symbols[..END].copy_from_slice(&counts[..END]);
    symbols[END] = 1;
    (0..END).for_each(|beyond| symbols[length_symbol(beyond).0] += counts[END + beyond]);

    let lengths = lengths(&symbols, 15);
    let (distances, distance) = distance(voxel);
    begin(&lengths, &distances, bits);
    let codes = codes(&lengths);
    let code = |symbol: usize| (codes[symbol], u32::from(lengths[symbol]));
    let written: Vec<Written> = (0..2 * END)
        .map(|token| match token.checked_sub(END) {
            None => code(token),
            Some(beyond) => {
                let (symbol, extra) = length_symbol(beyond);
                joined(joined(code(symbol), extra), distance)
            }
        })
        .collect();
    tokens.iter().for_each(|&token| bits.put(written[token as usize]));
    bits.put(code(END));
}

fn joined((first, count): Written, (second, more): Written) -> Written {
    (first | second << count, count + more)
}

/// The symbol of a run of three bytes and so many `beyond`, and the bits that tell it from others of the symbol.
fn length_symbol(beyond: usize) -> (usize, Written) {
    match beyond {
        0..8 => (257 + beyond, (0, 0)),
        255 => (285, (0, 0)),
        _ => {
            let more = beyond.ilog2() - 2;
            (257 + 4 * more as usize + (beyond >> more), ((beyond & ((1 << more) - 1)) as u32, more))
        }
    }
}

/// The lengths of the codes of distances, and how the distance of a voxel is written. There are always two codes: some readers take no
/// fewer.
fn distance(voxel: usize) -> (Vec<u8>, Written) {
    let (symbol, written): (usize, Written) = match voxel {
        1 => (0, (0, 1)),
        2 => (1, (1, 1)),
        4 => (3, (1, 1)),
        // Seven or eight.
        _ => (5, (0b11, 2)),
    };
    let mut lengths = vec![0; symbol.max(1) + 1];
    lengths[0] = 1;
    lengths[symbol.max(1)] = 1;
    (lengths, written)
}

/// Begins a block that another one follows: says which codes it has.
fn begin(lengths_of_symbols: &[u8], lengths_of_distances: &[u8], bits: &mut Bits) {
    let last = lengths_of_symbols.iter().rposition(|&length| length > 0).unwrap_or(END);
    let all = [&lengths_of_symbols[..=last], lengths_of_distances].concat();
    let runs = zeros_together(&all);
    let mut counts = [0; ORDER.len()];
    runs.iter().for_each(|&(symbol, _)| counts[symbol] += 1);
    let lengths = lengths(&counts, 7);
    let codes = codes(&lengths);
    bits.put((0b100, 3));
    bits.put((last as u32 + 1 - 257, 5));
    bits.put((lengths_of_distances.len() as u32 - 1, 5));
    bits.put((ORDER.len() as u32 - 4, 4));
    ORDER.iter().for_each(|&symbol| bits.put((lengths[symbol].into(), 3)));
    for (symbol, extra) in runs {
        bits.put(joined((codes[symbol], lengths[symbol].into()), extra));
    }
}

/// Lengths of codes as a block begins with them: themselves, or 17 and 18 for so many zeros.
fn zeros_together(lengths: &[u8]) -> Vec<(usize, Written)> {
    let mut together = Vec::new();
    for run in lengths.chunk_by(|a, b| a == b) {
        let mut left = run.len() as u32;
        while run[0] == 0 && left >= 3 {
            let zeros = left.min(138);
            together.push(if zeros > 10 { (18, (zeros - 11, 7)) } else { (17, (zeros - 3, 3)) });
            left -= zeros;
        }
        together.extend((0..left).map(|_| (run[0].into(), (0, 0))));
    }
    together
}

/// Bytes, and bits that are not a byte yet.
struct Bits {
    bytes: Vec<u8>,
    held: u64,
    count: u32,
}

impl Bits {
    fn put(&mut self, (bits, count): Written) {
        self.held |= u64::from(bits) << self.count;
        self.count += count;
        if self.count >= 32 {
            self.bytes.extend_from_slice(&(self.held as u32).to_le_bytes());
            self.held >>= 32;
            self.count -= 32;
        }
    }

    /// The bytes, after an empty block that is stored as it is and so ends with a byte.
    fn aligned(mut self) -> Vec<u8> {
        self.put((0, 3));
        let held = self.held.to_le_bytes();
        self.bytes.extend_from_slice(&held[..self.count.div_ceil(8) as usize]);
        self.bytes.extend_from_slice(&[0, 0, 0xff, 0xff]);
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    /// What another implementation makes of it, followed by an empty last block.
    fn inflated(bytes: &[u8], voxel: usize) -> Vec<u8> {
        let stream = [deflated(bytes, voxel), vec![0x03, 0x00]].concat();
        let mut back = Vec::new();
        flate2::read::DeflateDecoder::new(&stream[..]).read_to_end(&mut back).unwrap();
        back
    }

    fn random(count: usize) -> impl Iterator<Item = u32> {
        std::iter::successors(Some(1_u32), |state| Some(state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223)))
            .map(|state| state >> 8)
            .take(count)
    }

    #[test]
    fn runs_of_every_length_come_back() {
        for voxel in [1, 2, 4, 8] {
            let run = |length: usize| [vec![length as u8; voxel * length], vec![1, 2, 3]].concat();
            let bytes: Vec<u8> = (1..400).flat_map(run).collect();
            assert!(bytes.len() > PART && inflated(&bytes, voxel) == bytes, "{voxel}");
            assert!(deflated(&bytes, voxel).len() < bytes.len() / 20, "{voxel}");
        }
    }

    #[test]
    fn a_run_is_of_equal_voxels() {
        let voxels: Vec<u8> = random(200).flat_map(|n| [n; 500]).flat_map(u32::to_le_bytes).collect();
        assert_eq!(inflated(&voxels, 4), voxels);
        assert!(deflated(&voxels, 4).len() < voxels.len() / 50);
    }

    #[test]
    fn anything_comes_back() {
        let noise: Vec<u8> = random(PART + 77).map(|n| n as u8).collect();
        // Half of all bytes are 0, a quarter 1: the rare ones would have codes of more than 15 bits.
        let steep: Vec<u8> = random(3 * PART).map(|n| n.trailing_zeros() as u8).collect();
        for bytes in [&noise[..], &steep, &noise[..1], &[0; 9], &[7; 3 * PART], &[]] {
            for voxel in [1, 2, 4, 8] {
                assert!(inflated(bytes, voxel) == bytes, "{} bytes of {voxel}", bytes.len());
            }
        }
        assert!(deflated(&noise, 1).len() < noise.len() + noise.len() / 200);
        assert!(deflated(&steep, 1).len() < steep.len() * 27 / 100);
    }
}
