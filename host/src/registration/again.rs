//! Further attempts to register the same images, if the first result fails its checks or can be improved.

use super::levels::after_search;
use super::place::{Insides, Place};
use super::{Case, Elsewhere, Init, Options, Registration, RegistrationSeconds, searched, timed, trust};
use crate::doubt::Check;
use crate::plane::even::{Even, foreground};
use crate::{Error, Geometry, Result};
use glam::DAffine3;

/// What to try.
pub enum Again {
    /// 2-D images by local contrast, from a search among all positions, rotations and scales. `lost`: see [`lost`].
    Search { lost: bool },
    /// 2-D images by local contrast, from the first result: a map of fixed points to moving points, LPS mm.
    Contrasts(DAffine3),
    /// Volumes by their foreground. A head and a brain without its skull have no more in common, and over all voxels a
    /// wrong scale has the higher metric.
    Foreground,
}

/// Whether the result failed [`Check::Place`].
pub fn lost(found: &Registration) -> bool {
    failed(found, Check::Place)
}

fn failed(found: &Registration, check: Check) -> bool {
    found.doubts.iter().any(|doubt| doubt.grave && doubt.check == check)
}

/// Turns an error of an attempt into `None`.
///
/// # Errors
/// Those that end the whole registration: [`Error::Stopped`] and [`Error::Device`].
pub fn unless_fatal<T>(found: Result<T>) -> Result<Option<T>> {
    match found {
        Err(error @ (Error::Stopped | Error::Device { .. })) => Err(error),
        other => Ok(other.ok()),
    }
}

impl Again {
    /// Returns what to try after a result; `None` if the result is good enough.
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

    /// Returns the note for the user that says why.
    pub fn why(&self) -> &'static str {
        match self {
            Self::Search { lost: false } => "the alignment is doubtful: searching again by local contrast",
            Self::Contrasts(_) => {
                "local contrast matches more clearly than intensities: continuing with local contrast"
            }
            Self::Search { .. } | Self::Foreground => {
                "the images match as well at other positions: trying again by the foreground"
            }
        }
    }

    /// Whether the new result replaces the first one.
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
    /// Registers again, in another way.
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

    /// Registers two 2-D images by their local contrast, from a map or, without one, from the poses that a search
    /// finds.
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

    /// Registers two volumes from a better position of the smaller one in the larger one.
    pub fn from(
        &self,
        place: Elsewhere,
        options: &Options,
        seconds: RegistrationSeconds,
        insides: Option<&Insides>,
    ) -> Result<Registration> {
        self.observer.note("the smaller image matches better elsewhere in the larger one: continuing from there");
        let options = Options { init: Init::Transform(place.to), ..options.clone() };
        let mut found = self.run([self.read; 2], &options, seconds, insides)?;
        found.started.from = "elsewhere";
        Ok(found)
    }

    /// Registers two volumes by their foregrounds.
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
