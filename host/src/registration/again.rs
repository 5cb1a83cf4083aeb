//! Another way to register the same images, where the first result does not stand or can be bettered.

use super::levels::after_search;
use super::place::{Insides, Place};
use super::{Case, Elsewhere, Init, Options, Registration, RegistrationSeconds, searched, timed, trust};
use crate::doubt::Check;
use crate::plane::even::{Even, foreground};
use crate::{Error, Geometry, Result};
use glam::DAffine3;

/// What is tried.
pub enum Again {
    /// Pictures by their contrasts, from a search among all places, turns and sizes.
    Search { lost: bool },
    /// Pictures by their contrasts, from where the first result places them: fixed point to moving point, LPS mm.
    Contrasts(DAffine3),
    /// Volumes by what is brighter than the surround: a head and a brain without a skull share no more.
    Foreground,
}

/// Whether what the images show does not speak for where they were placed.
pub fn lost(found: &Registration) -> bool {
    failed(found, Check::Place)
}

fn failed(found: &Registration, check: Check) -> bool {
    found.doubts.iter().any(|doubt| doubt.grave && doubt.check == check)
}

/// A result, or none where there is none.
///
/// # Errors
/// Those that end a registration whatever else might be tried.
pub fn unless_fatal<T>(found: Result<T>) -> Result<Option<T>> {
    match found {
        Err(error @ (Error::Stopped | Error::Device { .. })) => Err(error),
        other => Ok(other.ok()),
    }
}

impl Again {
    /// What to try after a result; none where it stands.
    pub fn after(found: &Registration, fixed: &Geometry) -> Option<Self> {
        let lost = lost(found);
        if !fixed.is_flat() {
            return (lost || failed(found, Check::Rival)).then_some(Self::Foreground);
        }
        let place = found.place?;
        match !found.trusted() || !trust::clear(place) {
            true => Some(Self::Search { lost }),
            false => trust::contrasts_lead_most(place).then(|| Self::Contrasts(found.transform.to_affine())),
        }
    }

    /// The same, said to the user.
    pub fn why(&self) -> &'static str {
        match self {
            Self::Search { lost: false } => {
                "little speaks for where the images were placed: searching by their contrasts"
            }
            Self::Contrasts(_) => "contrasts tell more than intensities: going on by contrasts",
            Self::Search { .. } | Self::Foreground => {
                "the images agree as well elsewhere as where they were placed: trying again"
            }
        }
    }

    /// Whether what was found again takes the place of the first result.
    pub fn takes(&self, again: &Registration, found: &Registration) -> bool {
        let told = |found: &Registration| found.place.map_or(0.0, |place| place.information);
        let agrees = |place: Place| match self {
            Self::Foreground => trust::both_agree(place),
            Self::Search { .. } | Self::Contrasts(_) => trust::contrasts_agree(place) && told(again) > told(found),
        };
        again.trusted() && again.place.is_some_and(agrees)
    }
}

impl Case<'_> {
    /// Registers in another way.
    pub fn again(
        &self,
        again: &Again,
        options: &Options,
        seconds: RegistrationSeconds,
        insides: Option<&Insides>,
    ) -> Result<Registration> {
        match again {
            Again::Search { .. } => self.by_contrast(None, options, seconds, insides),
            Again::Contrasts(from) => self.by_contrast(Some(from), options, seconds, insides),
            Again::Foreground => self.by_foreground(options, seconds, insides),
        }
    }

    /// Registers two pictures by their contrast, from a map or from where a search puts them.
    fn by_contrast(
        &self,
        from: Option<&DAffine3>,
        options: &Options,
        mut seconds: RegistrationSeconds,
        insides: Option<&Insides>,
    ) -> Result<Registration> {
        let pair = timed(&mut seconds.pyramid, || Even::pair(self.read))?;
        let (init, levels) = match from {
            Some(map) => (Init::Transform(*map), after_search(pair.each_ref().map(|even| &even.picture.geometry))),
            None => timed(&mut seconds.optimise, || searched(&pair, options.dof))?,
        };
        let levels = options.levels.clone().unwrap_or(levels);
        let [fixed, moving] = pair;
        let contrasts = [fixed.prepared(&self.read[0].intensities), moving.prepared(&self.read[1].intensities)];
        let options = Options { init, levels: Some(levels), ..options.clone() };
        let mut found = self.run([&contrasts; 2], &options, seconds, insides)?;
        found.started.from = "contrast";
        Ok(found)
    }

    /// Registers two volumes from a better place of the smaller one in the larger one.
    pub fn from(
        &self,
        place: Elsewhere,
        options: &Options,
        seconds: RegistrationSeconds,
        insides: Option<&Insides>,
    ) -> Result<Registration> {
        self.observer.note("the smaller image agrees better elsewhere in the larger one: going on from there");
        let options = Options { init: Init::Transform(place.to), ..options.clone() };
        let mut found = self.run([self.read; 2], &options, seconds, insides)?;
        found.started.from = "elsewhere";
        Ok(found)
    }

    /// Registers two volumes by what is brighter than the surround in both.
    fn by_foreground(
        &self,
        options: &Options,
        seconds: RegistrationSeconds,
        insides: Option<&Insides>,
    ) -> Result<Registration> {
        let foregrounds = self.read.each_ref().map(foreground);
        let mut found = self.run([&foregrounds; 2], options, seconds, insides)?;
        found.started.from = "foreground";
        Ok(found)
    }
}
