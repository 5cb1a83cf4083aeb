//! What was measured, as `--json` prints it.

use crate::flags;
use gpu::params::Affine;
use mireg::backend::{Backend, HistogramMethod, Pair};
use mireg::{Error, Result};
use serde::Serialize;

use super::arguments::Bench;
use super::cases::{Group, Plan};
use super::choices::{Axis, Data, Estimator, Interpolation};
use super::compare::{self, Reduction};
use super::gaussian;
use super::measure::{BATCH, Timing};
use super::papers::{self, Quote};
use super::subject::{Subject, TURN};
use super::viola;
use super::windows::Mattes;
use crate::progress::Progress;

/// Everything.
#[derive(Debug, Serialize)]
pub struct Results {
    pub version: &'static str,
    pub backend: &'static str,
    pub device: String,
    /// Of the CPU.
    pub threads: usize,
    pub axis: Axis,
    /// The rotation about it.
    pub radians: f64,
    /// Transforms of a batch.
    pub batch: usize,
    pub rows: Vec<Row>,
    pub mattes: Vec<Mattes>,
    /// Counting alone, where the device has a clock.
    pub numbers: Option<Numbers>,
    pub viola: Vec<viola::Row>,
    pub gaussian: Vec<gaussian::Row>,
    pub reductions: Vec<Reduction>,
    pub papers: Vec<Quote>,
}

/// A joint histogram from uniform random 16-bit numbers of pairs of bins.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Numbers {
    pub numbers: usize,
    /// Bins a side.
    pub bins: u32,
    pub seconds: f64,
}

impl Numbers {
    fn measure(backend: &dyn Backend) -> Result<Option<Self>> {
        const BINS: u32 = 100;
        let mut state = 1_u32;
        let mut number = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            ((state >> 8) % (BINS * BINS)) as u16
        };
        let numbers: Vec<u16> = (0..256 * 256 * 256).map(|_| number()).collect();
        let seconds = backend.numbers_seconds(&numbers, BINS * BINS, 100)?;
        Ok(seconds.map(|seconds| Self { numbers: numbers.len(), bins: BINS, seconds }))
    }
}

/// One method on one pair of images.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// As asked for.
    pub method: &'static str,
    /// What counted: another where `auto` chose; none where the method cannot do this.
    pub counted_by: Option<&'static str>,
    pub bins: u32,
    pub interpolation: Interpolation,
    pub data: Data,
    /// Voxels of the fixed and of the moving image.
    pub fixed_size: [usize; 3],
    pub moving_size: [usize; 3],
    #[serde(flatten)]
    pub timing: Option<Timing>,
    /// Why there is no timing.
    pub reason: Option<String>,
}

impl Results {
    /// Measures all that `plan` has on `backend`.
    ///
    /// # Errors
    /// Of the images and of the device. A method that cannot do a case is a row without timing.
    pub fn measure(plan: &Plan, backend: &dyn Backend, arguments: &Bench, progress: &Progress) -> Result<Self> {
        let mut session =
            Session { plan, backend, arguments, progress, rows: Vec::with_capacity(plan.rows()), mattes: Vec::new() };
        let histograms = arguments.measures(Estimator::Histogram);
        if histograms {
            plan.groups.iter().try_for_each(|group| session.group(group))?;
        }
        let (rows, mattes) = (session.rows, session.mattes);
        let counts = histograms && backend.name() == "cuda";
        let viola = arguments.measures(Estimator::Viola);
        let smoothing = arguments.measures(Estimator::Gaussian);
        Ok(Self {
            version: env!("CARGO_PKG_VERSION"),
            backend: backend.name(),
            device: backend.device(),
            threads: rayon::current_num_threads(),
            axis: arguments.axis,
            radians: TURN,
            batch: BATCH,
            numbers: if counts { Numbers::measure(backend)? } else { None },
            viola: if viola { viola::measure(backend, arguments, progress)? } else { Vec::new() },
            gaussian: if smoothing { gaussian::measure(backend, arguments)? } else { Vec::new() },
            reductions: compare::reductions(&rows),
            papers: papers::quotes(arguments.paper),
            rows,
            mattes,
        })
    }
}

/// A measurement under way.
struct Session<'a> {
    plan: &'a Plan,
    backend: &'a dyn Backend,
    arguments: &'a Bench,
    progress: &'a Progress,
    rows: Vec<Row>,
    mattes: Vec<Mattes>,
}

impl Session<'_> {
    fn group(&mut self, group: &Group) -> Result<()> {
        self.show(&format!("making {} images", group.data.name()));
        let subject = Subject::new(group, self.arguments)?;
        let transforms = subject.transforms(self.arguments.axis);
        for &interpolation in &self.plan.interpolations {
            for &bins in &group.bins {
                let (fixed, interpolator) = (&subject.fixed.bins(bins), interpolation.into());
                let pair = Pair { fixed, moving: &subject.moving, bins: [bins; 2], interpolator };
                let first = self.rows.len();
                for &method in &self.plan.methods {
                    let row = Row::new(method, group.data, interpolation, &pair);
                    self.show(&format!("{}, {}, {bins} bins, {}", row.data.name(), interpolation.name(), row.method));
                    let row = row.measure(self.backend, pair, method, &transforms, self.arguments.seconds)?;
                    self.rows.push(row);
                }
                agree(&self.rows[first..], self.backend.name())?;
            }
        }
        // A paper's comparison is of histograms.
        let both = if self.arguments.paper.is_none() { &[false, true][..] } else { &[] };
        for (&both, &bins) in both.iter().flat_map(|both| group.bins.iter().map(move |bins| (both, bins))) {
            self.show(&format!("{}, {bins} bins, Mattes windows", group.data.name()));
            let case = (group.data, bins, both);
            let row = Mattes::measure(self.backend, &subject, case, &transforms[0], self.arguments.seconds)?;
            self.mattes.extend(row);
        }
        Ok(())
    }

    fn show(&self, text: &str) {
        self.progress.row(self.rows.len(), self.plan.rows(), text);
    }
}

/// Checks that all methods that counted a pair gave the same bits.
fn agree(rows: &[Row], backend: &'static str) -> Result<()> {
    let mut timed = rows.iter().filter_map(|row| Some((row, row.timing?.nmi)));
    let Some((first, nmi)) = timed.next() else { return Ok(()) };
    match timed.find(|(_, other)| other.to_bits() != nmi.to_bits()) {
        None => Ok(()),
        Some((other, _)) => Err(Error::device(
            backend,
            format!(
                "a kernel is wrong: {} and {} disagree on {} images with {} bins, {}; please report it",
                first.label(),
                other.label(),
                first.data.name(),
                first.bins,
                first.interpolation.name()
            ),
        )),
    }
}

impl Row {
    fn new(method: HistogramMethod, data: Data, interpolation: Interpolation, pair: &Pair) -> Self {
        Self {
            method: method.name(),
            counted_by: None,
            bins: pair.bins[0],
            interpolation,
            data,
            fixed_size: pair.fixed.size,
            moving_size: pair.moving.size,
            timing: None,
            reason: None,
        }
    }

    fn measure(
        self,
        backend: &dyn Backend,
        pair: Pair,
        method: HistogramMethod,
        transforms: &[Affine],
        budget: f64,
    ) -> Result<Self> {
        match backend.load(pair, method) {
            Ok(mut evaluator) => Ok(Self {
                counted_by: Some(evaluator.method()),
                timing: Some(Timing::new(&mut *evaluator, transforms, budget)?),
                ..self
            }),
            Err(Error::Option { message, .. }) => Ok(Self { reason: Some(flags::message(&message)), ..self }),
            Err(error) => Err(error),
        }
    }

    /// What a table calls the method: the CPU, which has but one, by its name.
    pub fn label(&self) -> &'static str {
        self.counted_by.filter(|&name| name == "rows").unwrap_or(self.method)
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A row of random data, linear, as if it had been measured.
    pub fn row(method: &'static str, bins: u32, seconds: Option<f64>) -> Row {
        let timing = |seconds| Timing {
            seconds,
            repeats: 3,
            batch_seconds: 0.5 * seconds,
            histogram_seconds: (method != "rows").then_some(0.25 * seconds),
            nmi: 1.0,
        };
        Row {
            method,
            counted_by: seconds.map(|_| method),
            bins,
            interpolation: Interpolation::Linear,
            data: Data::Random,
            fixed_size: [8; 3],
            moving_size: [8; 3],
            timing: seconds.map(timing),
            reason: seconds.is_none().then(|| "it cannot".into()),
        }
    }

    #[test]
    fn methods_that_disagree_are_found() {
        let mut rows = vec![row("mbe", 64, None), row("tiled", 64, Some(1.0)), row("mbe-bc", 64, Some(2.0))];
        assert!(agree(&rows, "emulated").is_ok());
        rows[2].timing.as_mut().unwrap().nmi += f64::EPSILON;
        assert!(agree(&rows, "emulated").unwrap_err().to_string().contains("tiled and mbe-bc disagree"));
    }

    pub fn results(rows: Vec<Row>) -> Results {
        Results {
            version: "0",
            backend: "cpu",
            device: "2 threads".into(),
            threads: 2,
            axis: Axis::Oblique,
            radians: TURN,
            batch: BATCH,
            numbers: None,
            viola: Vec::new(),
            gaussian: Vec::new(),
            reductions: compare::reductions(&rows),
            papers: papers::quotes(None),
            rows,
            mattes: Vec::new(),
        }
    }
}
