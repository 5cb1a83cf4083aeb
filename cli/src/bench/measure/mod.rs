//! Measures what was asked for.

mod clock;
mod gaussian;
mod histogram;
mod mattes;
pub mod registration;
mod subject;
mod viola;

use mireg::Result;
use mireg::backend::{Backend, Pair};

use super::arguments::Bench;
use super::cases::{Group, Plan};
use super::choices::{BATCH, Estimator, TURN};
use super::results::Results;
use super::rows::{HistogramRow, Mattes};
use super::{compare, papers};
use crate::progress::Progress;
use subject::Subject;

/// Measures all that `plan` has on `backend`.
///
/// # Errors
/// Of the images and of the device. A method that cannot do a case is a row without timing.
pub fn all(plan: &Plan, backend: &dyn Backend, arguments: &Bench, progress: &Progress) -> Result<Results> {
    let mut session =
        Session { plan, backend, arguments, progress, rows: Vec::with_capacity(plan.rows()), mattes: Vec::new() };
    let histograms = arguments.measures(Estimator::Histogram);
    if histograms {
        plan.groups.iter().try_for_each(|group| session.group(group))?;
    }
    let (rows, mattes) = (session.rows, session.mattes);
    let overview = arguments.overview();
    let counts = histograms && !overview && backend.name() == "cuda";
    let viola = arguments.measures(Estimator::Viola);
    let smoothing = arguments.measures(Estimator::Gaussian);
    Ok(Results {
        version: env!("CARGO_PKG_VERSION"),
        backend: backend.name(),
        device: backend.device(),
        threads: rayon::current_num_threads(),
        axis: arguments.axis,
        radians: TURN,
        batch: BATCH,
        numbers: if counts { histogram::numbers(backend)? } else { None },
        viola: if viola { viola::measure(backend, arguments, progress)? } else { Vec::new() },
        gaussian: if smoothing { gaussian::measure(backend, arguments)? } else { Vec::new() },
        registration: None,
        reductions: arguments.paper.map_or(Vec::new(), |_| compare::reductions(&rows)),
        papers: arguments.paper.map_or(Vec::new(), papers::quotes),
        overview,
        rows,
        mattes,
    })
}

/// A measurement under way.
struct Session<'a> {
    plan: &'a Plan,
    backend: &'a dyn Backend,
    arguments: &'a Bench,
    progress: &'a Progress,
    rows: Vec<HistogramRow>,
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
                let pair =
                    Pair { fixed: fixed.into(), moving: (&subject.moving).into(), bins: [bins; 2], interpolator };
                let first = self.rows.len();
                for &method in &self.plan.methods {
                    let row = histogram::row(method, group.data, interpolation, &pair);
                    self.show(&format!("{}, {}, {bins} bins, {}", row.data.name(), interpolation.name(), row.method));
                    let row = histogram::measure(row, self.backend, pair, method, &transforms, self.arguments.seconds)?;
                    self.rows.push(row);
                }
                histogram::agree(&self.rows[first..], self.backend.name())?;
            }
        }
        // A paper's comparison is of histograms.
        let both = match self.arguments.paper {
            Some(_) => &[][..],
            None if self.arguments.overview() => &[false],
            None => &[false, true],
        };
        for (&both, &bins) in both.iter().flat_map(|both| group.bins.iter().map(move |bins| (both, bins))) {
            self.show(&format!("{}, {bins} bins, Mattes windows", group.data.name()));
            let case = (group.data, bins, both);
            let row = mattes::measure(self.backend, &subject, case, &transforms[0], self.arguments.seconds)?;
            self.mattes.extend(row);
        }
        Ok(())
    }

    fn show(&self, text: &str) {
        self.progress.row(self.rows.len(), self.plan.rows(), text);
    }
}
