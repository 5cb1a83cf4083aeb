//! Falls back on an affine registration if a transform with fewer degrees of freedom fails its checks.
//!
//! Heads of two people differ in size and shape. A rigid transform then aligns their outlines rather than what is
//! inside, or aligns nothing clearly, while an affine transform fits. The result is then the transform of the requested
//! kind that is nearest to the affine one.

use super::levels::Levels;
use super::place::Foregrounds;
use super::race::Race;
use super::retry::unless_fatal;
use super::structures::Structures;
use super::{Case, Init, Options, Part, Place, Registration, Run, lead};
use crate::Result;
use crate::doubt::{Check, Doubt};
use crate::error::message;
use crate::transform::Kind;

impl Case<'_> {
    /// Returns the transform nearest to an affine registration in place of a result that fails its checks; `None` if
    /// the result need not be replaced, or if its replacement or the affine registration fails its checks, too.
    ///
    /// # Errors
    /// Those of [`unless_fatal`].
    pub fn nearest(
        &self,
        found: &Registration,
        options: &Options,
        foregrounds: Option<&Foregrounds>,
    ) -> Result<Option<Registration>> {
        let Some(foregrounds) = foregrounds else { return Ok(None) };
        let flat = self.fixed.geometry.is_flat();
        if flat || options.dof == Kind::Affine || options.init != Init::Auto || !is_replaceable(&found.doubts) {
            return Ok(None);
        }
        let name = options.dof.name();
        self.observer.note(&format!("the {name} registration failed its checks: trying an affine one"));
        let init = found.better_affine.map_or(Init::Auto, Init::Transform);
        let as_affine = Options { dof: Kind::Affine, init, moved: false, ..options.clone() };
        let affine = unless_fatal(self.on_common_lattice().register_kind(&as_affine))?.map(|(affine, _)| affine);
        let Some(affine) = affine.filter(Registration::trusted) else { return Ok(None) };
        if !is_certain(&affine, foregrounds)? {
            return Ok(None);
        }
        let near = unless_fatal(self.near(affine, options, foregrounds))?.flatten();
        if near.is_some() {
            self.observer.note(&format!("the result is the {name} transform nearest to the affine one"));
        }
        Ok(near)
    }

    /// Finds the nearest transform and runs the checks; `None` if it fails them.
    fn near(&self, affine: Registration, options: &Options, foregrounds: &Foregrounds) -> Result<Option<Registration>> {
        let Self { read, tally, backend, .. } = *self;
        let map = affine.transform.to_affine();
        let Some(to) = foregrounds.nearest(options.dof, |point| map.transform_point3(point)) else { return Ok(None) };
        let mut run = Run::new(*self, read, options);
        // Others are evaluated at full resolution at the end.
        if options.metric.has_gradient() {
            let levels = tally.timed(Part::Pyramid, || Levels::new(read, options, self.lattice, backend))?;
            tally.timed(Part::Optimise, || run.evaluate_on_finest(&levels, &to))?;
        }
        run.levels = affine.levels;
        let race = Race::decided("affine", map, to, affine.started.candidates);
        let mut near = run.finish(&race, None, None)?;
        // The affine registration has passed the check of the place, and its change of volume shows how much sizes
        // differ.
        near.doubts.retain(|doubt| doubt.check != Check::Place);
        near.doubts.push(misfit_doubt(foregrounds.distance(&to, &map)));
        near.doubts.extend(affine.doubts.iter().filter(|doubt| doubt.check == Check::Volume).map(by_affine));
        (near.place, near.elsewhere) = (affine.place, affine.elsewhere);
        Ok(Some(near).filter(Registration::trusted))
    }
}

/// Whether an affine registration that passed does so clearly. After a wrong result, another wrong one must not pass by
/// chance.
fn is_certain(affine: &Registration, foregrounds: &Foregrounds) -> Result<bool> {
    let by_place = |place: Place| lead::both_lead_clearly(place) || place.optima.is_some();
    if affine.place.is_some_and(by_place) {
        return Ok(true);
    }
    // Small images agree well in many places of large ones.
    let structures = if affine.elsewhere.is_none() { Structures::of(foregrounds)? } else { None };
    structures.map_or(Ok(false), |structures| structures.confirm(&affine.transform.to_affine(), &affine.rivals))
}

/// Whether a result failed its checks and is not mirrored. An affine transform may fit a mirrored image well enough to
/// hide that it is.
fn is_replaceable(doubts: &[Doubt]) -> bool {
    doubts.iter().any(|doubt| doubt.grave) && doubts.iter().all(|doubt| doubt.check != Check::Mirrored)
}

/// Returns a doubt that says how badly a transform of the requested kind fits. Between two people that is to be
/// expected. Of one person, a voxel size may be wrong.
fn misfit_doubt(mm: f64) -> Doubt {
    let message = message!(
        "the images differ in size or shape: the affine transform to which this one is nearest is {mm:.1} mm from it (root \
         mean square)";
        "if both show the same person, check their voxel sizes, or else use ", Dof, " affine"
    );
    Doubt::slight(Check::Place, message)
}

/// Rewords a doubt about the affine registration for the result that replaces it.
fn by_affine(doubt: &Doubt) -> Doubt {
    let message = format!("in the affine registration from which this transform was derived, {}", doubt.message);
    Doubt { message: message.into(), ..doubt.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_affine_registration_is_tried_where_a_result_does_not_stand() {
        let doubt = |check, grave| Doubt { check, message: "".into(), grave };
        assert!(!is_replaceable(&[]) && !is_replaceable(&[doubt(Check::Rotation, false)]));
        assert!(is_replaceable(&[doubt(Check::Rotation, false), doubt(Check::Place, true)]));
        assert!(!is_replaceable(&[doubt(Check::Mirrored, true), doubt(Check::Place, true)]));
    }
}
