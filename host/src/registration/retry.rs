//! Further attempts to register the same images, if the first result fails its checks or can be improved.

use super::levels::after_search;
use super::place::{Foregrounds, Place};
use super::poses::{Pair, is_clearly_more};
use super::{Case, Elsewhere, Init, Options, Part, Registration, lead};
use crate::doubt::Check;
use crate::image::Prepared;
use crate::plane::foreground::masked_to_foreground;
use crate::plane::local_contrast::{LocalContrast, without_background};
use crate::plane::search::{ALIKE, FIXED_DETAIL, MOVING_DETAIL, SMALL, SMALL_IF_WIDE, search};
use crate::transform::{Kind, distance};
use crate::{Error, Geometry, Result};
use glam::DAffine3;
use std::ops::RangeInclusive;

/// What to try.
pub enum Retry {
    /// 2-D images by local contrast, from a [`search`] among all positions, rotations and these magnifications.
    /// `place_failed`: see [`fails_place`].
    Search { magnifications: RangeInclusive<i32>, place_failed: bool },
    /// 2-D images by intensities, from a [`search`] by wide local contrast. PET and SPECT are too blurred, and radar
    /// images too noisy, for the other one.
    WideSearch,
    /// 2-D images by local contrast, from the first result: a map of fixed points to moving points, LPS mm.
    Contrasts(DAffine3),
    /// Volumes that were cut out, by all that is inside, from an initialisation. Where both were cut out by one shape
    /// before they were aligned, such as a scanner's field of view, their outlines hold the result back.
    Inside(Init),
    /// Volumes by their foreground. A head and a brain without its skull have no more in common, and over all voxels a
    /// wrong scale has the higher metric.
    Foreground,
}

/// Whether the result failed [`Check::Place`].
pub fn fails_place(found: &Registration) -> bool {
    fails_check(found, Check::Place)
}

/// Whether the result failed a check.
pub fn fails_check(found: &Registration, check: Check) -> bool {
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

impl Retry {
    /// Returns what to try after a result, in turn; nothing if the result is good enough. `cut_out`: whether both images
    /// are volumes that were cut out.
    pub fn after(found: &Registration, fixed: &Geometry, cut_out: bool) -> Vec<Self> {
        let place_failed = fails_place(found);
        if !fixed.is_flat() {
            if !place_failed && !fails_check(found, Check::Rival) {
                return Vec::new();
            }
            // Without outlines, fewer of the many starts lead to the right pose.
            let near = Init::Among(vec![DAffine3::IDENTITY, found.transform.to_affine()]);
            let inside = [near, Init::Auto].map(Self::Inside);
            return inside.into_iter().filter(|_| cut_out).chain([Self::Foreground]).collect();
        }
        let Some(place) = found.place else { return Vec::new() };
        if !found.trusted() || !lead::any_leads_much(place) {
            let may_be_detail = !found.trusted() && found.transform.kind >= Kind::Similarity;
            // Details are searched for apart, since the pose with much more overlap would win.
            let searches = [ALIKE, FIXED_DETAIL, MOVING_DETAIL].into_iter().take(if may_be_detail { 3 } else { 1 });
            let searches = searches.map(|magnifications| Self::Search { magnifications, place_failed });
            return searches.chain(place_failed.then_some(Self::WideSearch)).collect();
        }
        let by_contrasts = lead::contrast_leads_most(place).then(|| Self::Contrasts(found.transform.to_affine()));
        by_contrasts.into_iter().collect()
    }

    /// Returns the note for the user that says why.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Search { place_failed: false, .. } => "the alignment is doubtful: searching again by local contrast",
            Self::Contrasts(_) => {
                "local contrast matches more clearly than intensities: continuing with local contrast"
            }
            Self::Search { .. } | Self::WideSearch | Self::Inside(_) | Self::Foreground => {
                "the images match as well at other positions: trying again by the foreground"
            }
        }
    }

    /// Whether the new result replaces the first one.
    pub fn accepts(&self, retried: &Registration, found: &Registration) -> bool {
        let is_convincing = |place: Place| match self {
            Self::WideSearch => {
                lead::two_lead(place, retried.transform.kind) && retried.end.total_mi() > found.end.total_mi()
            }
            Self::Inside(_) | Self::Foreground => lead::both_lead_clearly(place),
            Self::Search { .. } | Self::Contrasts(_) => {
                lead::contrast_leads(place) && information(retried) > information(found)
            }
        };
        retried.trusted() && retried.place.is_some_and(is_convincing)
    }
}

impl Case<'_> {
    /// Registers again, in another way.
    pub fn retry(
        &self,
        retry: &Retry,
        registered: &[Prepared; 2],
        options: &Options,
        foregrounds: Option<&Foregrounds>,
    ) -> Result<Registration> {
        match retry {
            Retry::Search { magnifications, .. } => {
                let search = |pair: &_| search(pair, options.dof, magnifications.clone(), SMALL);
                let init = |pair: &_| self.tally.timed(Part::Optimise, || search(pair)).map(Init::Among);
                self.by_contrast(init, options, foregrounds)
            }
            Retry::WideSearch => self.by_wide_search(registered, options, foregrounds),
            Retry::Contrasts(from) => self.by_contrast(|_| Ok(Init::Transform(*from)), options, foregrounds),
            Retry::Inside(from) => self.by_inside(from, options, foregrounds),
            Retry::Foreground => self.by_foreground(options, foregrounds),
        }
    }

    /// Whether the foreground shows that a further result is right, if the first one had rivals: of the first result and
    /// each of its rivals, it must agree clearly better than the one that is further from it.
    pub fn beats_rivals(
        &self,
        retried: &Registration,
        found: &Registration,
        foregrounds: Option<&Foregrounds>,
    ) -> bool {
        let Some((foregrounds, place)) = foregrounds.zip(retried.place).filter(|_| fails_check(found, Check::Rival))
        else {
            return true;
        };
        let (to, first) = (retried.transform.to_affine(), found.transform.to_affine());
        let off = |pose: &DAffine3| distance(&to, pose, &self.fixed.geometry);
        found.rivals.iter().all(|rival| {
            let other = if off(&first) < off(rival) { rival } else { &first };
            lead::foreground_decides(foregrounds, place, &to, other)
        })
    }

    /// Registers two 2-D images by their local contrast, for which `init` returns the initialisation.
    fn by_contrast(
        &self,
        init: impl FnOnce(&[LocalContrast; 2]) -> Result<Init>,
        options: &Options,
        foregrounds: Option<&Foregrounds>,
    ) -> Result<Registration> {
        let pair = self.tally.timed(Part::Pyramid, || LocalContrast::pair(self.read))?;
        let init = init(&pair)?;
        let levels = || after_search(pair.each_ref().map(|contrast| &contrast.picture.geometry));
        let levels = options.levels.clone().unwrap_or_else(levels);
        let [fixed, moving] = pair;
        let local_contrast = [fixed.prepared(&self.read[0].intensities), moving.prepared(&self.read[1].intensities)];
        let options = Options { init, levels: Some(levels), ..options.clone() };
        let case = Self { contrast_decides: true, ..*self };
        let mut found = case.run([&local_contrast; 2], &options, foregrounds)?;
        found.started.from = "contrast";
        Ok(found)
    }

    /// Registers two 2-D images by intensities, from a search by wide local contrast.
    fn by_wide_search(
        &self,
        registered: &[Prepared; 2],
        options: &Options,
        foregrounds: Option<&Foregrounds>,
    ) -> Result<Registration> {
        let search = |Pair(wide): &Pair| {
            let pair = wide.each_ref().map(|(picture, _)| LocalContrast::with_nan_outside(picture));
            self.tally.timed(Part::Optimise, || search(&pair, options.dof, ALIKE, SMALL_IF_WIDE))
        };
        let maps = foregrounds.and_then(Foregrounds::wide_contrast).map(search).transpose()?;
        let options = Options { init: Init::Among(maps.unwrap_or_default()), ..options.clone() };
        let case = Self { from_wide_search: true, ..*self };
        let mut found = case.run([registered, self.read], &options, foregrounds)?;
        found.started.from = "wide_contrast";
        Ok(found)
    }

    /// Registers two volumes from a better position of the smaller one in the larger one.
    pub fn starting_elsewhere(
        &self,
        place: Elsewhere,
        options: &Options,
        foregrounds: Option<&Foregrounds>,
    ) -> Result<Registration> {
        self.observer.note("the smaller image matches better elsewhere in the larger one: continuing from there");
        let options = Options { init: Init::Transform(place.to), ..options.clone() };
        let mut found = self.run([self.read; 2], &options, foregrounds)?;
        found.started.from = "elsewhere";
        Ok(found)
    }

    /// Continues from a result of volumes that were cut out and passed their checks, by what is inside, if local
    /// contrast agrees clearly better near it. Where one mask was cut out of both images before they were aligned, its
    /// outlines hold the result back.
    pub fn inside_outlines(
        &self,
        found: Registration,
        options: &Options,
        foregrounds: Option<&Foregrounds>,
    ) -> Result<Registration> {
        // A translation cannot follow the rotations that are looked at.
        let continues = |foregrounds: &&Foregrounds| foregrounds.cut_out() && options.dof >= Kind::Rigid;
        let Some(foregrounds) = foregrounds.filter(continues).filter(|_| found.trusted()) else { return Ok(found) };
        let (map, times) = foregrounds.best_contrast_near(&found.transform.to_affine())?;
        if !is_clearly_more(times, 1.0) {
            return Ok(found);
        }
        self.observer.note("structures match better nearby: continuing without the outlines");
        let inside = unless_fatal(self.by_inside(&Init::Transform(map), options, Some(foregrounds)))?;
        let better =
            |inside: &Registration| inside.trusted() && is_clearly_more(information(inside), information(&found));
        Ok(inside.filter(better).unwrap_or(found))
    }

    /// Registers two volumes by all that is inside, if they were cut out. Their background is filled, so that smoothing
    /// and interpolation next to it meet no edge.
    fn by_inside(&self, from: &Init, options: &Options, foregrounds: Option<&Foregrounds>) -> Result<Registration> {
        let inside = self.read.each_ref().map(|image| without_background(&image.image));
        let ranges = [options.fixed_range, options.moving_range];
        let prepared = [0, 1].map(|n| match &inside[n] {
            Some(inside) => Prepared::new(inside, self.read[n].mask(), ranges[n]),
            None => self.read[n].borrowed(),
        });
        self.run_foreground(&prepared, &Options { init: from.clone(), ..options.clone() }, foregrounds)
    }

    /// Registers two volumes by their foregrounds.
    fn by_foreground(&self, options: &Options, foregrounds: Option<&Foregrounds>) -> Result<Registration> {
        self.run_foreground(&self.read.each_ref().map(masked_to_foreground), options, foregrounds)
    }

    /// Registers two volumes of which only the foreground counts.
    fn run_foreground(
        &self,
        prepared: &[Prepared; 2],
        options: &Options,
        foregrounds: Option<&Foregrounds>,
    ) -> Result<Registration> {
        let mut found = self.run([prepared; 2], options, foregrounds)?;
        found.started.from = "foreground";
        Ok(found)
    }
}

/// The mutual information of local contrast at a result, nats beyond chance.
fn information(found: &Registration) -> f64 {
    found.place.map_or(0.0, |place| place.information)
}
