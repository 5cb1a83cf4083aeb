//! Entropies, what is computed from them, and correlation ratios, from given counts.

use super::agree;
use crate::support::random;
use gpu::math::entropy::Entropies;
use libtest_mimic::{Failed, Trial};
use mireg::Result;
use mireg::backend::emulated::Emulated;
use mireg::backend::{Wanted, cpu};
use mireg::reference::Similarity;
use ndarray::Array2;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

pub fn tests() -> Vec<Trial> {
    let cpu = |table: &Table| Ok(cpu::entropies(&table.counts, table.bins, Wanted::Ratios));
    vec![
        Trial::test("reference::counts::cpu", move || typical_tables_agree(cpu)),
        Trial::test("reference::counts::emulator", emulator_agrees_with_the_cpu),
        Trial::test("reference::counts::known ratios", move || known_ratios(cpu)),
        Trial::test("reference::counts::one pair", move || one_pair_says_nothing(cpu)),
        Trial::test("reference::counts::any table", move || any_table_agrees(cpu)),
    ]
}

const TOLERANCE: f64 = 1e-12;

/// A joint histogram: the pair (f, m) is at `f + bins[0] * m`.
#[derive(Debug, Clone)]
struct Table {
    bins: [u32; 2],
    counts: Vec<u32>,
}

impl Table {
    fn new(bins: [u32; 2], count: impl FnMut(u32) -> u32) -> Self {
        Self { bins, counts: (0..bins[0] * bins[1]).map(count).collect() }
    }

    /// Returns a random histogram in which every pair occurs with this probability, up to `most` times.
    fn random(bins: [u32; 2], likelihood: f32, most: u32, seed: u64) -> Self {
        let mut random = random(seed);
        Self::new(bins, |_| if random() < likelihood { (random() * most as f32) as u32 } else { 0 })
    }

    fn check(&self, found: Entropies) -> std::result::Result<(), String> {
        let [fixed, moving] = self.bins.map(|n| n as usize);
        let counts = Array2::from_shape_fn((fixed, moving), |(f, m)| u64::from(self.counts[f + fixed * m]));
        agree(&found, &Similarity::of(&counts), TOLERANCE, 0)
    }
}

/// Returns constant, random, sparse and very large counts, and histograms of images one of which is constant.
fn typical_tables(bins: [u32; 2]) -> Vec<(&'static str, Table)> {
    let pairs = bins[0] * bins[1];
    let most = u32::MAX / pairs;
    vec![
        ("none", Table::new(bins, |_| 0)),
        ("all alike", Table::new(bins, |_| 5)),
        ("all alike and as large as can be", Table::new(bins, |_| most)),
        ("random", Table::random(bins, 1.0, 1000, 1)),
        ("random and very large", Table::random(bins, 1.0, most, 2)),
        ("sparse", Table::random(bins, 0.01, 100, 3)),
        ("one pair", Table::new(bins, |i| if i == pairs - 1 { 43 } else { 0 })),
        ("one pair as often as can be", Table::new(bins, |i| if i == 1 { u32::MAX } else { 0 })),
        ("one of 2^32 is another", Table::new(bins, |i| [u32::MAX - 1, 0, 1, 0][i.min(3) as usize])),
        ("the fixed image is constant", Table::new(bins, |i| if i % bins[0] == 1 { 7 + i } else { 0 })),
        ("the moving image is constant", Table::new(bins, |i| if i / bins[0] == 1 { 7 + i } else { 0 })),
        ("both say the same", Table::new(bins, |i| if i % bins[0] == i / bins[0] { 1000 } else { 0 })),
    ]
}

const BINS: [[u32; 2]; 9] =
    [[1, 1], [2, 2], [50, 50], [64, 64], [100, 100], [256, 256], [3, 200], [3, 1000], [1024, 1024]];

fn typical_tables_agree(measure: impl Fn(&Table) -> Result<Entropies>) -> std::result::Result<(), Failed> {
    for bins in BINS {
        for (name, table) in typical_tables(bins) {
            table.check(measure(&table)?).map_err(|wrong| format!("{bins:?} bins, {name}: {wrong}"))?;
        }
    }
    Ok(())
}

/// Compares to the last bit, with each table twice in a launch. Of the large tables, which take long, only the sparse
/// one is used, and once.
fn emulator_agrees_with_the_cpu() -> std::result::Result<(), Failed> {
    for bins in BINS {
        let large = bins[0] * bins[1] > 10_000;
        let chosen = |name: &str| !large || name == "sparse";
        for (name, table) in typical_tables(bins).into_iter().filter(|(name, _)| chosen(name)) {
            for wanted in [Wanted::Ratios, Wanted::Entropies] {
                let times = if large { 1 } else { 2 };
                let found = Emulated::with_seed(3).entropies(table.counts.repeat(times), bins, wanted)?;
                let expected = cpu::entropies(&table.counts, bins, wanted);
                if found != vec![expected; times] {
                    return Err(format!("{bins:?} bins, {name}: {found:?} is not {expected:?}").into());
                }
            }
        }
    }
    Ok(())
}

/// Worked out by hand: the mean moving bins for the fixed bins 0, 1 and 2 are 0, 1/2 and 1, and the mean fixed bins for
/// the two moving bins are 1/2 and 5/3.
fn known_ratios(measure: impl Fn(&Table) -> Result<Entropies>) -> std::result::Result<(), Failed> {
    let found = measure(&Table { bins: [3, 2], counts: vec![1, 1, 0, 0, 1, 2] })?;
    // Sums of squares within the bins, of those in all: 2 * 1/4 of 5 * 6/25, and 2 * 1/4 + 3 * 2/9 of 5 * 14/25.
    let expected = [1.0 - 0.5 / 1.2, 1.0 - (0.5 + 2.0 / 3.0) / 2.8];
    if (0..2).any(|i| (found.ratios[i] - expected[i]).abs() > 1e-15) {
        return Err(format!("{:?} is not {expected:?}", found.ratios).into());
    }
    Ok(())
}

/// If there is only a single pair of bins, with any count, all entropies are 0, and the NMI is 1 as for independent
/// images.
fn one_pair_says_nothing(measure: impl Fn(&Table) -> Result<Entropies>) -> std::result::Result<(), Failed> {
    for n in (1..5000).chain((1..5000).map(|n| 858_000 * n + 7)) {
        let table = Table { bins: [2, 2], counts: vec![0, 0, n, 0] };
        table.check(measure(&table)?).map_err(|wrong| format!("{n} times: {wrong}"))?;
    }
    Ok(())
}

fn any_table_agrees(measure: impl Fn(&Table) -> Result<Entropies>) -> std::result::Result<(), Failed> {
    let tables =
        ([2..=1024_u32, 2..=256_u32], 0..=10, 0..=32_u32, any::<u64>()).prop_map(|(bins, rare, bits, seed)| {
            let most = (1_u64 << bits).min(u64::from(u32::MAX / (bins[0] * bins[1]))) as u32;
            Table::random(bins, 0.5_f32.powi(rare), most, seed)
        });
    let config = Config { cases: 300, failure_persistence: None, ..Config::default() };
    let run = TestRunner::new(config).run(&tables, |table| {
        let found = measure(&table).map_err(|error| TestCaseError::fail(error.to_string()))?;
        table.check(found).map_err(|wrong| TestCaseError::fail(format!("{:?} bins: {wrong}", table.bins)))
    });
    run.map_err(|failure| failure.to_string().chars().take(2000).collect::<String>().into())
}
