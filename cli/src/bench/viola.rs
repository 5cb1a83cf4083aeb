//! Viola's mutual information: how many pairs of samples a second.

use gpu::math::bin::FULL;
use gpu::params::Affine;
use mireg::backend::{Backend, Exponentials, Group, Sample, Sigmas, ViolaEvaluator, ViolaPair, cpu::Cpu};
use mireg::{Error, Result, threads};
use serde::Serialize;

use super::arguments::Bench;
use super::cases;
use super::choices::Data;
use super::measure::{median, repeat};
use super::subject::Subject;
use crate::progress::Progress;

/// Voxels a side of the images: as many in the middle half as the largest two sets have samples.
const SIDE: usize = 128;
/// Standard deviation of all windows, stored values.
const SIGMA: f64 = 0.05 * FULL as f64;
/// More samples of each set keep one core for too long.
const MOST_ON_A_CORE: u32 = 10_000;
const MODES: [Exponentials; 3] = [Exponentials::Exact, Exponentials::Fast, Exponentials::Quantised];

/// Evaluations of two sets of samples of one size in one way.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// A backend's name, or `one core` of the CPU.
    pub place: &'static str,
    pub exponentials: Exponentials,
    /// Whether the derivative by the map is computed too.
    pub derivative: bool,
    /// Of each set; all lie inside the moving image.
    pub samples: u32,
    /// By the wall clock: the median.
    pub seconds: f64,
    /// By the device's own clock, where it has one: the mean.
    pub device_seconds: Option<f64>,
}

impl Row {
    /// Pairs of samples a second, for either clock's seconds.
    pub fn rate(&self, seconds: f64) -> f64 {
        f64::from(self.samples) * f64::from(self.samples) / seconds
    }
}

/// Measures a backend, and one core of the CPU beside it.
///
/// # Errors
/// Of the device. What it cannot do has no rows.
pub fn measure(backend: &dyn Backend, arguments: &Bench, progress: &Progress) -> Result<Vec<Row>> {
    let images = Images::new(arguments)?;
    let sizes = if arguments.samples.is_empty() { sizes(backend.name()) } else { &arguments.samples };
    let mut rows = Vec::new();
    for (number, &samples) in sizes.iter().enumerate() {
        for mode in MODES {
            let step = format!("Viola's mutual information of {samples} samples, {}", name(mode));
            progress.row(number, sizes.len(), &step);
            // The CPU has no fast mode of its own.
            if samples <= MOST_ON_A_CORE && mode != Exponentials::Fast {
                let on_a_core = || images.measure(&Cpu, "one core", samples, mode, arguments.seconds);
                rows.extend(threads::with(1, on_a_core)?);
            }
            if backend.name() != "cpu" || mode != Exponentials::Fast {
                rows.extend(images.measure(backend, backend.name(), samples, mode, arguments.seconds)?);
            }
        }
    }
    Ok(rows)
}

/// Samples of each set where none are asked for: up to what takes about a second.
fn sizes(backend: &str) -> &'static [u32] {
    match backend {
        "cuda" => &[1_000, 10_000, 100_000],
        "cpu" => &[1_000, 10_000],
        _ => &[64],
    }
}

/// The mode as a table calls it.
pub fn name(mode: Exponentials) -> &'static str {
    match mode {
        Exponentials::Exact => "exact",
        Exponentials::Fast => "fast",
        Exponentials::Quantised => "quantised",
    }
}

/// Random images, of whose voxels in the middle none leaves the other by a rotation.
struct Images {
    subject: Subject,
    map: Affine,
}

impl Images {
    fn new(arguments: &Bench) -> Result<Self> {
        let subject = Subject::new(&cases::Group { data: Data::Random, side: SIDE, bins: Vec::new() }, arguments)?;
        let map = subject.transforms(arguments.axis)[0];
        Ok(Self { subject, map })
    }

    /// Samples of both sets, from all over the middle half.
    fn samples(&self, count: u32) -> Vec<Sample> {
        let half = SIDE as u32 / 2;
        let sample = |i: u32| {
            // An odd factor and a power of two: no voxel comes twice.
            let number = i.wrapping_mul(0x9E37_79B9) % (half * half * half);
            let voxel = [number % half, number / half % half, number / half / half].map(|n| half / 2 + n);
            let [x, y, z] = voxel.map(|n| n as usize);
            Sample { voxel, value: f32::from(self.subject.fixed.voxels()[x + SIDE * (y + SIDE * z)]) }
        };
        (0..2 * count).map(sample).collect()
    }

    /// Value, and value with derivative; none where the backend does not have the mode.
    fn measure(
        &self,
        backend: &dyn Backend,
        place: &'static str,
        samples: u32,
        exponentials: Exponentials,
        budget: f64,
    ) -> Result<Vec<Row>> {
        let mut sets = self.samples(samples);
        let groups = [Group { a: 0..samples, b: samples..2 * samples }];
        groups[0].sort(&mut sets);
        let sigmas = Sigmas { fixed: SIGMA, moving: SIGMA, joint: None };
        let moving = &self.subject.moving;
        let loaded = backend.load_viola(ViolaPair { samples: &sets, groups: &groups, moving, sigmas, exponentials });
        let mut evaluator = match loaded {
            Err(Error::Option { .. }) => return Ok(Vec::new()),
            loaded => loaded?,
        };
        let row = |derivative| {
            let seconds = median(&repeat(0.5 * budget, 3, || self.evaluate(&mut *evaluator, derivative))?);
            let times = (0.5 * budget / seconds).clamp(1.0, 1000.0) as u32;
            let device_seconds = evaluator.seconds(&[self.map], derivative, times)?;
            Ok(Row { place, exponentials, derivative, samples, seconds, device_seconds })
        };
        [false, true].into_iter().map(row).collect()
    }

    fn evaluate(&self, evaluator: &mut dyn ViolaEvaluator, derivative: bool) -> Result<()> {
        match derivative {
            false => evaluator.values(&[self.map]).map(drop),
            true => evaluator.slopes(&[self.map]).map(drop),
        }
    }
}

/// A line a place, mode and clock, a column a number of samples.
pub fn table(rows: &[Row]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut sizes: Vec<u32> = rows.iter().map(|row| row.samples).collect();
    sizes.dedup();
    let mut text = "Viola's mutual information: 10^9 pairs of samples a second\n".to_owned();
    text += &line("samples each", "", sizes.iter().map(|size| size.to_string()));
    for (derivative, title) in [(false, "value"), (true, "and derivative")] {
        let mut title = title;
        for (clock, read) in CLOCKS {
            for of in super::table::groups(rows.iter(), |row| (row.place, row.exponentials)) {
                let found = |&size: &u32| {
                    let row = of.iter().find(|row| row.samples == size && row.derivative == derivative)?;
                    Some(row.rate(read(row)?) * 1e-9)
                };
                let rates: Vec<Option<f64>> = sizes.iter().map(found).collect();
                if rates.iter().any(Option::is_some) {
                    let how = format!("{}{clock}, {}", of[0].place, name(of[0].exponentials));
                    let shown = |rate: Option<f64>| rate.map_or("-".into(), |rate| format!("{rate:.3}"));
                    text += &line(title, &how, rates.into_iter().map(shown));
                    title = "";
                }
            }
        }
    }
    text
}

/// How lines by a clock are marked, and how its seconds are read.
type Clock = (&'static str, fn(&Row) -> Option<f64>);

const CLOCKS: [Clock; 2] = [("", |row| Some(row.seconds)), (" itself", |row| row.device_seconds)];

fn line(title: &str, how: &str, values: impl Iterator<Item = String>) -> String {
    let values: String = values.map(|value| format!(" {value:>8}")).collect();
    format!("  {title:<14} {how:<22}{values}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_the_pairs_a_second_of_each_size_and_a_dash_where_there_are_none() {
        let row = |place, samples, derivative, device_seconds| {
            let exponentials = Exponentials::Exact;
            Row { place, exponentials, derivative, samples, seconds: 1e-3, device_seconds }
        };
        let rows = [
            row("one core", 1000, false, None),
            row("cuda", 1000, false, Some(1e-5)),
            row("cuda", 1000, true, None),
            row("cuda", 100_000, false, Some(5e-4)),
        ];
        let expected = "\
Viola's mutual information: 10^9 pairs of samples a second
  samples each                              1000   100000
  value          one core, exact           1.000        -
                 cuda, exact               1.000 10000.000
                 cuda itself, exact      100.000 20000.000
  and derivative cuda, exact               1.000        -
";
        assert_eq!(table(&rows), expected);
    }

    #[test]
    fn all_samples_are_different_voxels_that_the_rotation_leaves_inside() {
        use clap::Parser;
        let arguments = crate::commands::Arguments::try_parse_from(["mireg", "bench"]).unwrap();
        let crate::commands::Command::Bench(arguments) = arguments.command else { unreachable!() };
        let images = Images::new(&arguments).unwrap();
        let samples = images.samples(100_000);
        let mut voxels: Vec<[u32; 3]> = samples.iter().map(|sample| sample.voxel).collect();
        voxels.sort_unstable();
        voxels.dedup();
        assert_eq!(voxels.len(), 200_000);
        let inside = |voxel: &[u32; 3]| {
            images.map.rows.iter().all(|row| {
                let at = (0..3).map(|n| row[n] * voxel[n] as f32).sum::<f32>() + row[3];
                (0.0..=(SIDE - 1) as f32).contains(&at)
            })
        };
        assert!(voxels.iter().all(inside));
    }
}
