//! Checks that a device counts 16-bit numbers correctly.

use crate::support::{gpu, gpu_is_absent, random};
use libtest_mimic::{Failed, Trial};
use mireg::Result;
use mireg::backend::emulated::Emulated;

pub fn tests() -> Vec<Trial> {
    let absent = gpu_is_absent();
    let emulated = |seed| move |numbers: &[u16], bins| Emulated::with_seed(seed).count_pairs(numbers, bins);
    vec![
        Trial::test("backends::emulator_counts_numbers", move || numbers_agree(emulated(0), 70_000)),
        Trial::test("backends::emulator_counts_numbers_in_any_order", move || numbers_agree(emulated(9), 9001)),
        Trial::test("backends::emulator_counts_many_like_numbers", move || alike_agree(emulated(0), 600_000)),
        Trial::test("backends::bins_of_numbers_are_checked", || {
            let refused = [0, 65_537].map(|bins| Emulated::default().count_pairs(&[1], bins).is_err());
            (refused == [true; 2]).then_some(()).ok_or_else(|| "too few or too many bins are taken".into())
        }),
        Trial::test("backends::gpu_counts_numbers", || {
            let gpu = gpu()?;
            numbers_agree(|numbers, bins| Ok(gpu.count_pairs(numbers, bins, 0)?.0), 5_000_001)
        })
        .with_ignored_flag(absent),
        Trial::test("backends::gpu_counts_many_like_numbers", || {
            let gpu = gpu()?;
            alike_agree(|numbers, bins| Ok(gpu.count_pairs(numbers, bins, 2)?.0), 30_000_000)
        })
        .with_ignored_flag(absent),
    ]
}

/// Noise and ramps of lengths up to `most`, in tables for counters of 32 bits, of 16 bits, and in ranges.
fn numbers_agree(count: impl Fn(&[u16], u32) -> Result<Vec<u32>>, most: usize) -> std::result::Result<(), Failed> {
    let mut random = random(3);
    let noise: Vec<u16> = (0..most).map(|_| (random() * 65_536.0) as u16).collect();
    for bins in [1, 2, 2500, 10_000, 20_001, 40_000, 58_111, 65_535, 65_536] {
        let below = |number: u16| ((u32::from(number) * bins) >> 16) as u16;
        let spread: Vec<u16> = noise.iter().map(|&number| below(number)).collect();
        let ramp: Vec<u16> = (0..most).map(|i| (i / 5 % bins as usize) as u16).collect();
        for numbers in [&spread[..], &ramp, &noise, &noise[..17], &noise[..8], &noise[..7], &[]] {
            agrees(&count, numbers, bins)?;
        }
    }
    Ok(())
}

/// Counts one number more often than 16 bits can hold, and its neighbour even more often.
fn alike_agree(count: impl Fn(&[u16], u32) -> Result<Vec<u32>>, len: usize) -> std::result::Result<(), Failed> {
    for bins in [1000, 65_536] {
        let last = (bins - 1) as u16;
        agrees(&count, &vec![last; len], bins)?;
        let two: Vec<u16> = (0..len).map(|i| last - u16::from(i % 3 == 0)).collect();
        agrees(&count, &two, bins)?;
    }
    Ok(())
}

fn agrees(
    count: &impl Fn(&[u16], u32) -> Result<Vec<u32>>,
    numbers: &[u16],
    bins: u32,
) -> std::result::Result<(), Failed> {
    let mut expected = vec![0; bins as usize];
    for &number in numbers {
        if let Some(counter) = expected.get_mut(usize::from(number)) {
            *counter += 1;
        }
    }
    if count(numbers, bins)? != expected {
        return Err(format!("{} numbers in {bins} bins: the counts differ", numbers.len()).into());
    }
    Ok(())
}
