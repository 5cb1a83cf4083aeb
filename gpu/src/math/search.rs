//! Discrete search for displacements (Heinrich et al. 2013): a binary descriptor of a voxel's surroundings that is
//! comparable between different kinds of images, the cost of a displacement as the number of bits that differ, and the
//! coupling of neighbouring cells.

/// Bits of an intensity that the descriptors use.
pub const BITS: u32 = 10;

/// The sum of 27 squared differences, of intensities of [`BITS`] bits, that noise alone is assumed to give.
const NOISE: u64 = 100;

/// The pairs of neighbours on different axes. Each neighbour is given by its axis and its direction.
const PAIRS: [[(usize, i32); 2]; 12] = [
    [(0, -1), (1, -1)],
    [(0, -1), (1, 1)],
    [(0, 1), (1, -1)],
    [(0, 1), (1, 1)],
    [(0, -1), (2, -1)],
    [(0, -1), (2, 1)],
    [(0, 1), (2, -1)],
    [(0, 1), (2, 1)],
    [(1, -1), (2, -1)],
    [(1, -1), (2, 1)],
    [(1, 1), (2, -1)],
    [(1, 1), (2, 1)],
];

/// Thresholds for the difference of a pair's patches, in thousandths of the mean difference of all pairs. A pair has a
/// bit for each threshold, set if its difference is below. At the thresholds, exp(-difference) is 1/6 to 5/6.
const LIMITS: [u64; 5] = [1792, 1099, 693, 405, 182];

/// Returns the self-similarity context of a voxel: for each of 12 pairs of its neighbours, how much the patches around
/// the two differ, as a thermometer code of 5 bits. It does not depend on the contrast of the image, even if that is
/// inverted. `value` returns the intensity, of [`BITS`] bits, at an offset from the voxel.
#[inline(always)]
pub fn descriptor(value: impl Fn([i32; 3]) -> i32) -> u64 {
    let mut differences = [0; 12];
    let (mut least, mut sum) = (u64::MAX, 0);
    let mut pair = 0;
    while pair < 12 {
        let difference = u64::from(difference(&value, PAIRS[pair]));
        differences[pair] = difference;
        sum += difference;
        least = if difference < least { difference } else { least };
        pair += 1;
    }
    // Twelve times the mean difference of all pairs, less the smallest difference, plus noise.
    let scale = sum - 12 * least + 12 * NOISE;
    let mut bits = 0;
    let mut pair = 0;
    while pair < 12 {
        let difference = 12_000 * (differences[pair] - least);
        let mut limit = 0;
        while limit < 5 {
            bits = bits << 1 | u64::from(difference < LIMITS[limit] * scale);
            limit += 1;
        }
        pair += 1;
    }
    bits
}

/// Returns the sum of squared differences of two patches of 3 x 3 x 3 voxels, around two neighbours of the voxel.
#[inline(always)]
fn difference(value: &impl Fn([i32; 3]) -> i32, [a, b]: [(usize, i32); 2]) -> u32 {
    let offset = |(axis, way): (usize, i32)| {
        [if axis == 0 { way } else { 0 }, if axis == 1 { way } else { 0 }, if axis == 2 { way } else { 0 }]
    };
    let (a, b) = (offset(a), offset(b));
    let (mut sum, mut n) = (0, 0);
    while n < 27 {
        let at = |[x, y, z]: [i32; 3]| value([x + n % 3 - 1, y + n / 3 % 3 - 1, z + n / 9 - 1]);
        let difference = at(a) - at(b);
        sum += (difference * difference) as u32;
        n += 1;
    }
    sum
}

/// Returns the cost, along one axis, of the difference of a displacement from the smoothed displacement of the cells
/// around, both in voxels.
#[inline(always)]
pub fn coupling_cost(weight: f32, displacement: i32, near: f32) -> f32 {
    let away = displacement as f32 - near;
    weight * away * away
}

/// Returns the displacement on which searches in both directions agree: the mean of `there`, which is u(x), and of the
/// negative of `back`, which is v(x + u(x)).
#[inline(always)]
pub fn consistent(there: [f32; 3], back: [f32; 3]) -> [f32; 3] {
    [0.5 * (there[0] - back[0]), 0.5 * (there[1] - back[1]), 0.5 * (there[2] - back[2])]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise([x, y, z]: [i32; 3]) -> i32 {
        let mut bits = (x * 7919 + y * 104_729 + z * 1_299_709) as u32;
        bits = (bits ^ bits >> 16).wrapping_mul(0x7feb_352d);
        bits = (bits ^ bits >> 15).wrapping_mul(0x846c_a68b);
        (bits >> 22) as i32
    }

    #[test]
    fn contrast_does_not_count_and_structure_does() {
        let here = descriptor(noise);
        assert_eq!(here, descriptor(|at| 1023 - noise(at)));
        let elsewhere = descriptor(|[x, y, z]| noise([x + 3, y, z]));
        assert!((here ^ elsewhere).count_ones() > 8, "{here:x} {elsewhere:x}");
        assert_eq!(descriptor(|_| 500), (1 << 60) - 1);
    }

    #[test]
    fn a_pair_that_differs_more_has_fewer_bits() {
        // An edge across x: only pairs with a neighbour along x differ.
        let edge = descriptor(|[x, _, _]| 400 * x.signum());
        assert_eq!(edge & ((1 << 20) - 1), (1 << 20) - 1);
        assert!((edge >> 20).count_ones() < 20);
    }
}
