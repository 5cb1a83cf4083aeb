//! Random numbers that depend only on a seed and an index, so that threads can compute them in any order.

/// The increment of SplitMix64.
pub const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// SplitMix64's scrambler: 64 well-mixed bits.
pub fn mix(value: u64) -> u64 {
    let a = value.wrapping_add(GOLDEN);
    let b = (a ^ (a >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let c = (b ^ (b >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    c ^ (c >> 31)
}

/// Number `index` of the stream `seed`: uniform in 0 to 1.
pub fn uniform(seed: u64, index: u64) -> f64 {
    (mix(mix(seed) ^ index) >> 11) as f64 / (1u64 << 53) as f64
}

/// Number `index` of the stream `seed`: approximately normal, with mean 0 and standard deviation 1. It is the sum of
/// four uniform numbers, which is the same on every machine because it needs only additions.
pub fn normal(seed: u64, index: u64) -> f32 {
    let bits = mix(mix(seed) ^ index);
    let sum: u64 = (0..4).map(|part| (bits >> (16 * part)) & 0xFFFF).sum();
    // Four uniform numbers of 16 bits have the variance 4/12.
    (sum as f32 / 65536.0 - 2.0) * 1.732_050_8
}

/// Iterates over the indices of so many samples among `voxels` voxels; none if there are no voxels. Samples are the same
/// on every machine, and scattered, so that they cannot coincide with a pattern in the image. Where voxels are few, they
/// are repeated.
pub fn scattered(samples: usize, voxels: usize) -> impl Iterator<Item = usize> {
    let samples = if voxels == 0 { 0 } else { samples };
    (0..samples).map(move |n| ((u128::from(mix(n as u64)) * voxels as u128) >> 64) as usize)
}

#[cfg(test)]
mod tests {
    #[test]
    fn normal_numbers_have_mean_0_and_deviation_1() {
        let numbers: Vec<f64> = (0..100_000).map(|i| super::normal(7, i) as f64).collect();
        let mean = numbers.iter().sum::<f64>() / 1e5;
        let variance = numbers.iter().map(|n| (n - mean) * (n - mean)).sum::<f64>() / 1e5;
        assert!(mean.abs() < 0.02 && (variance - 1.0).abs() < 0.02, "mean {mean}, variance {variance}");
    }
}
