//! Partial volume interpolation (Shams 2009, section 3.4, eq. 9): no value is interpolated. Instead, a sample is
//! counted in the bin of each of its eight neighbours, with that neighbour's trilinear weight.
//!
//! Weights are integers that sum to a unit, so that counters are integers and the order of the samples does not matter.
//! The unit is split between the lower and the upper plane, `upper = round(unit * z)`, halves up, and `lower = unit -
//! upper`. Each part is then split between its rows by y, and each of these between its voxels by x. A weight differs
//! from the unit times the product of eq. 9 by at most 1.5. Entropies do not depend on the unit. The number of samples
//! is the sum of the counters divided by the unit.

use super::{bin, whole};
#[cfg(target_arch = "nvptx64")]
use cuda_std::GpuFloat;

/// log2 of the greatest unit.
const MOST_BITS: u32 = 12;

/// log2 of the least unit, below which weights would be too coarse.
const LEAST_BITS: u32 = 4;

/// Returns the unit for an image of this many voxels: the largest power of two, at most 2^12, with which 32-bit
/// counters cannot overflow. Returns `None` if it would be below 2^4.
pub fn unit(voxels: u64) -> Option<u32> {
    let fits = |&unit: &u32| voxels < (1_u64 << 32) / u64::from(unit);
    (LEAST_BITS..=MOST_BITS).rev().map(|bits| 1 << bits).find(fits)
}

/// The number of rows along x of the eight neighbours: (y, z), (y + 1, z), (y, z + 1), (y + 1, z + 1).
pub const ROWS: u32 = 4;

/// Returns the weights, which are parts of `unit`, of the two neighbours along x in row `row` of [`ROWS`]. The
/// fractions along x, y and z are 0 to below 1.
#[inline(always)]
pub fn weights(fraction: [f32; 3], unit: u32, row: u32) -> [u32; 2] {
    let [x, y, z] = fraction;
    let part = pick(split(unit as f32, z), row & 2 != 0);
    let part = pick(split(part, y), row & 1 != 0);
    let [low, high] = split(part, x);
    // SAFETY: from 0 to the unit.
    unsafe { [whole::bits(whole::of(low)), whole::bits(whole::of(high))] }
}

/// Returns the joint indices, minus `first`, of a fixed bin and the stored values of two neighbours, one in each half
/// of a word.
#[inline(always)]
pub fn pairs(fixed: u32, fixed_bins: u32, word: u32, scale: f32, first: u32) -> [u32; 2] {
    // SAFETY: stored values are in range.
    let pair = |value: u32| unsafe { bin::pair(fixed, fixed_bins, value as f32, scale, first) };
    [pair(word & 0xFFFF), pair(word >> 16)]
}

/// Splits an integer between the lower and the upper neighbour, in integers.
#[inline(always)]
fn split(part: f32, fraction: f32) -> [f32; 2] {
    // SAFETY: from 0.5 to half more than the unit.
    let upper = whole::float(unsafe { whole::of(part.mul_add(fraction, 0.5)) });
    [part - upper, upper]
}

#[inline(always)]
fn pick([low, high]: [f32; 2], upper: bool) -> f32 {
    if upper { high } else { low }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(fraction: [f32; 3], unit: u32) -> Vec<u32> {
        (0..ROWS).flat_map(|row| weights(fraction, unit, row)).collect()
    }

    #[test]
    fn weights_are_those_of_equation_9_and_add_up() {
        for unit in [16, 128, 4096] {
            for step in 0..20_000_u32 {
                let fraction = [7919, 104_729, 1_299_709].map(|n| step.wrapping_mul(n) as u16 as f32 / 65_536.0);
                let found = all(fraction, unit);
                assert_eq!(found.iter().sum::<u32>(), unit, "{fraction:?}");
                for (i, &weight) in found.iter().enumerate() {
                    let near = |axis: usize| [1.0 - fraction[axis], fraction[axis]][i >> axis & 1];
                    let exact = unit as f32 * near(0) * near(1) * near(2);
                    assert!((weight as f32 - exact).abs() <= 1.5, "{weight} is not {exact} at {fraction:?}");
                }
            }
        }
    }

    #[test]
    fn a_voxel_has_the_whole_unit() {
        assert_eq!(all([0.0; 3], 4096), [4096, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(all([0.5, 0.0, 0.25], 16), [6, 6, 0, 0, 2, 2, 0, 0]);
    }

    #[test]
    fn units_fit_the_counters() {
        assert_eq!([1, (1 << 20) - 1, 1 << 20, 1 << 24].map(unit), [4096, 4096, 2048, 128].map(Some));
        assert_eq!([(1 << 28) - 1, 1 << 28].map(unit), [Some(16), None]);
    }
}
