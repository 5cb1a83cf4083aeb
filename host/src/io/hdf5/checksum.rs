//! The checksum of HDF5's metadata: Bob Jenkins' lookup3, `hashlittle` with a seed of 0.

/// Bytes that are mixed in at a time.
const BLOCK: usize = 12;

pub fn checksum(bytes: &[u8]) -> u32 {
    let mut state = [0xdead_beef_u32.wrapping_add(bytes.len() as u32); 3];
    // The last block, even if it is complete, is mixed differently.
    let last = bytes.len().saturating_sub(1) / BLOCK * BLOCK;
    for block in bytes[..last].chunks_exact(BLOCK) {
        add(&mut state, block);
        mix(&mut state);
    }
    if !bytes.is_empty() {
        add(&mut state, &bytes[last..]);
        finish(&mut state);
    }
    state[2]
}

/// Adds up to twelve bytes. Missing bytes count as 0.
fn add(state: &mut [u32; 3], block: &[u8]) {
    for (n, &byte) in block.iter().enumerate() {
        state[n / 4] = state[n / 4].wrapping_add(u32::from(byte) << (8 * (n % 4)));
    }
}

fn mix([a, b, c]: &mut [u32; 3]) {
    *a = a.wrapping_sub(*c) ^ c.rotate_left(4);
    *c = c.wrapping_add(*b);
    *b = b.wrapping_sub(*a) ^ a.rotate_left(6);
    *a = a.wrapping_add(*c);
    *c = c.wrapping_sub(*b) ^ b.rotate_left(8);
    *b = b.wrapping_add(*a);
    *a = a.wrapping_sub(*c) ^ c.rotate_left(16);
    *c = c.wrapping_add(*b);
    *b = b.wrapping_sub(*a) ^ a.rotate_left(19);
    *a = a.wrapping_add(*c);
    *c = c.wrapping_sub(*b) ^ b.rotate_left(4);
    *b = b.wrapping_add(*a);
}

fn finish([a, b, c]: &mut [u32; 3]) {
    *c = (*c ^ *b).wrapping_sub(b.rotate_left(14));
    *a = (*a ^ *c).wrapping_sub(c.rotate_left(11));
    *b = (*b ^ *a).wrapping_sub(a.rotate_left(25));
    *c = (*c ^ *b).wrapping_sub(b.rotate_left(16));
    *a = (*a ^ *c).wrapping_sub(c.rotate_left(4));
    *b = (*b ^ *a).wrapping_sub(a.rotate_left(14));
    *c = (*c ^ *b).wrapping_sub(b.rotate_left(24));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_that_lookup3_prints() {
        assert_eq!(checksum(b""), 0xdead_beef);
        assert_eq!(checksum(b"Four score and seven years ago"), 0x1777_0551);
        // A superblock that HDF5 1.12 wrote, and its checksum.
        let superblock = b"\x89HDF\r\n\x1a\n\x02\x08\x08\0\0\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\xf0\x26\0\0\0\0\0\0\x30\0\0\0\0\0\0\0";
        assert_eq!(superblock.len(), 44);
        assert_eq!(checksum(superblock), 0x1bd6_139b);
    }
}
