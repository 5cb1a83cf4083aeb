//! Search for displacements: what is around a voxel as bits (Heinrich et al. 2013).

/// Numbers that an intensity may have in a [`descriptor`]: 10 bits.
pub const LEVELS: u32 = 1 << 10;

/// Pairs of neighbours on different axes: the axis and the side, 0 or 1, of both.
const PAIRS: [[(usize, u32); 2]; 12] = {
    let axes = [[0, 1], [0, 2], [1, 2]];
    let mut pairs = [[(0, 0); 2]; 12];
    let mut i = 0;
    while i < 12 {
        let [a, b] = axes[i / 4];
        pairs[i] = [(a, (i & 1) as u32), (b, (i >> 1 & 1) as u32)];
        i += 1;
    }
    pairs
};

/// How alike two patches are, as bits that are set: the limits of their difference, in thousandths of the mean one. -ln(k / 6).
const LIMITS: [u64; 5] = [1792, 1099, 693, 405, 182];

/// The self-similarity context of a voxel as 60 bits.
#[inline(always)]
pub fn descriptor(value: impl Fn([i32; 3]) -> i32, dilation: i32, noise: u64) -> u64 {
    let offset = |(axis, side): (usize, u32)| {
        let mut offset = [0; 3];
        offset[axis] = if side == 0 { -dilation } else { dilation };
        offset
    };
    let mut differences = [0_u64; 12];
    let (mut least, mut sum) = (u64::MAX, 0);
    for pair in 0..12 {
        let [a, b] = [offset(PAIRS[pair][0]), offset(PAIRS[pair][1])];
        let mut squares = 0;
        for z in -1..2 {
            for y in -1..2 {
                for x in -1..2 {
                    let d = value([a[0] + x, a[1] + y, a[2] + z]) - value([b[0] + x, b[1] + y, b[2] + z]);
                    squares += (d * d) as u32;
                }
            }
        }
        let difference = u64::from(squares);
        differences[pair] = difference;
        sum += difference;
        least = if difference < least { difference } else { least };
    }
    let scale = sum - 12 * least + 12 * noise;
    let mut bits = 0;
    for difference in differences {
        for limit in LIMITS {
            bits = bits << 1 | u64::from((difference - least) * 12_000 < limit * scale);
        }
    }
    bits
}
