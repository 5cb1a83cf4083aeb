//! Run-length encoding (PS3.5 G).

use super::{DecodedFrame, Order};

/// Decompresses `count` pixels of `samples` numbers of `width` bytes. There is a segment for each byte of each sample,
/// the most significant byte first.
pub fn unpack(packed: &[u8], count: usize, width: usize, samples: usize) -> Result<DecodedFrame<'static>, String> {
    let damaged = || "its RLE pixels are damaged; copy or download it again".to_owned();
    let word = |n: usize| packed.get(4 * n..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes) as usize);
    if word(0) != Some(width * samples) {
        return Err(damaged());
    }
    let mut bytes = vec![0; count * width * samples];
    for (sample, plane) in bytes.chunks_exact_mut(count * width).enumerate() {
        for byte in 0..width {
            let start = word(1 + sample * width + byte).ok_or_else(damaged)?;
            let unpacked = unpack_bits(packed.get(start..).ok_or_else(damaged)?, count);
            if unpacked.len() < count {
                return Err(damaged());
            }
            plane.iter_mut().skip(byte).step_by(width).zip(unpacked).for_each(|(byte, value)| *byte = value);
        }
    }
    Ok(DecodedFrame { big_endian: true, order: Order::Planes, ..DecodedFrame::of(bytes, width) })
}

/// The first `count` bytes of a PackBits stream, or fewer if it ends before.
fn unpack_bits(mut packed: &[u8], count: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while bytes.len() < count
        && let Some((&code, rest)) = packed.split_first()
    {
        let (taken, run) = match code {
            0..128 => (usize::from(code) + 1, None),
            128 => (0, None),
            129.. => (1, Some(257 - usize::from(code))),
        };
        let Some((literal, after)) = rest.split_at_checked(taken) else { break };
        match run {
            Some(run) => bytes.resize(bytes.len() + run, literal[0]),
            None => bytes.extend(literal),
        }
        packed = after;
    }
    bytes.truncate(count);
    bytes
}
