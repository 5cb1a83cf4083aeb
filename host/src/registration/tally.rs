//! Adds up the seconds of all attempts to register a pair of images, also of those whose results are discarded.

use super::{Registration, RegistrationSeconds};
use crate::Result;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// The parts of a registration: see [`RegistrationSeconds`].
#[derive(Debug, Clone, Copy)]
pub enum Part {
    Upload,
    Pyramid,
    Optimise,
    Compare,
    Resample,
}

/// The seconds that were spent in each part so far.
#[derive(Debug, Default)]
pub struct Tally(Mutex<RegistrationSeconds>);

impl Tally {
    /// Registers images with a new tally. The result gets the seconds of all attempts that `register` makes. What is
    /// none of the other parts is a comparison.
    pub fn around(register: impl FnOnce(&Self) -> Result<Registration>) -> Result<Registration> {
        let tally = Self::default();
        let found = tally.timed(Part::Compare, || register(&tally))?;
        Ok(Registration { seconds: tally.0.into_inner().unwrap_or_else(PoisonError::into_inner), ..found })
    }

    /// Runs `work` and adds the time that it takes to a part, less what `work` itself adds to the tally. No two threads
    /// may do so at the same time.
    pub fn timed<T>(&self, part: Part, work: impl FnOnce() -> T) -> T {
        let (clock, before) = (Instant::now(), self.sum());
        let out = work();
        let within = self.sum() - before;
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *match part {
            Part::Upload => &mut all.upload,
            Part::Pyramid => &mut all.pyramid,
            Part::Optimise => &mut all.optimise,
            Part::Compare => &mut all.compare,
            Part::Resample => &mut all.resample,
        } += clock.elapsed().as_secs_f64() - within;
        out
    }

    fn sum(&self) -> f64 {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.upload + all.pyramid + all.optimise + all.compare + all.resample
    }
}
