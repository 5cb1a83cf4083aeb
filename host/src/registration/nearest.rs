//! The transform nearest to an affine registration, where one with fewer degrees of freedom does not stand.
//!
//! Heads of two people differ in size and shape. Rigid transforms then lay outlines on each other rather than what they enclose, or agree
//! nowhere clearly, while an affine one does. What speaks for that place speaks for the nearest transform of the kind that was asked for.

use super::again::unless_fatal;
use super::levels::Levels;
use super::place::{Insides, Place};
use super::race::Race;
use super::{Case, Init, Options, Registration, alone, ready, timed, trust};
use crate::doubt::{Check, Doubt};
use crate::observer::Observer;
use crate::transform::{Kind, distance};
use crate::{Result, Volume, backend::Backend};

/// In place of a result that does not stand, or for which only intensities speak, the transform nearest to an affine registration; none
/// where that tells no more.
///
/// # Errors
/// Those that end a registration whatever else might be tried.
pub fn nearest(
    found: &Registration,
    images: [&Volume; 2],
    options: &Options,
    backend: &dyn Backend,
    observer: &dyn Observer,
) -> Result<Option<Registration>> {
    let flat = images[0].geometry.is_flat();
    let settled = flat || options.dof == Kind::Affine || options.init != Init::Auto;
    if settled || !unclear(&found.doubts, found.place) {
        return Ok(None);
    }
    observer.note(&format!(
        "little speaks for where the {} registration placed the images: trying an affine one",
        options.dof.name()
    ));
    let as_affine = Options { dof: Kind::Affine, moved: false, ..options.clone() };
    let affine = unless_fatal(alone(images, &as_affine, found.seconds.clone(), backend, observer))?;
    let Some(affine) = affine.filter(|affine| vouches(affine, found)) else { return Ok(None) };
    let near = unless_fatal(near(&affine, found, images, options, backend, observer))?.flatten();
    if near.is_some() {
        observer.note(&format!("the result is the {} transform nearest to the affine one", options.dof.name()));
    }
    Ok(near)
}

/// Whether a place that an affine registration speaks for would be better: where what was found does not stand, or only intensities speak for
/// it. Not where it is mirrored, which an affine registration may fit well enough to hide.
fn unclear(doubts: &[Doubt], place: Option<Place>) -> bool {
    let mirrored = doubts.iter().any(|doubt| doubt.check == Check::Mirrored);
    let stands = doubts.iter().all(|doubt| !doubt.grave) && place.is_none_or(trust::contrasts_agree);
    !mirrored && !stands
}

/// Whether an affine registration says more than what was found. After one wrong result another must not pass by chance.
fn vouches(affine: &Registration, found: &Registration) -> bool {
    let clearer = |place| !found.trusted() || trust::contrasts_agree(place);
    affine.trusted() && affine.place.is_some_and(|place| trust::both_agree(place) && clearer(place))
}

/// The nearest transform, looked at; none where it does not stand, or where what was found and stands is no further from it than the places
/// around, with which it agreed less.
fn near(
    affine: &Registration,
    found: &Registration,
    [fixed, moving]: [&Volume; 2],
    options: &Options,
    backend: &dyn Backend,
    observer: &dyn Observer,
) -> Result<Option<Registration>> {
    let read = ready([fixed, moving], options, backend, observer)?;
    let map = affine.transform.to_affine();
    let Some(insides) = Insides::of(read.each_ref(), [&[], &[]])? else { return Ok(None) };
    let Some(to) = insides.nearest(options.dof, |point| map.transform_point3(point)) else { return Ok(None) };
    let apart = distance(&found.transform.to_affine(), &to, &fixed.geometry);
    if found.trusted() && apart < insides.least_shift() {
        return Ok(None);
    }
    let backend = &*backend.keeping(&[&read[0].image, &read[1].image, moving]);
    let mut seconds = affine.seconds.clone();
    let levels = timed(&mut seconds.pyramid, || Levels::new(&read, options, backend))?;
    let mut run = Case { fixed, moving, read: &read, backend, observer }.under_way(&read, options, seconds);
    run.look(&levels, &to)?;
    run.levels.clone_from(&affine.levels);
    let race = Race::over("affine", map, to, affine.started.candidates);
    let mut near = run.finish(&race, None)?;
    // The affine registration vouches for the place, and tells of sizes that differ.
    near.doubts.retain(|doubt| doubt.check != Check::Place);
    near.doubts.extend(affine.doubts.iter().filter(|doubt| doubt.check == Check::Volume).map(by_affine));
    (near.place, near.elsewhere) = (affine.place, affine.elsewhere);
    Ok(Some(near).filter(Registration::trusted))
}

/// What is said of an affine registration, where it is not the result.
fn by_affine(doubt: &Doubt) -> Doubt {
    let message = format!("by the affine registration to which this is nearest, {}", doubt.message);
    Doubt { message: message.into(), ..doubt.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_affine_registration_is_asked_where_little_speaks_for_the_place() {
        let place = |contrast| Some(Place { contrast, intensities: 2.0, ..Place::NOWHERE });
        let doubts = |check| [Doubt { check, message: "".into(), grave: true }];
        assert!(!unclear(&[], place(3.5)) && unclear(&[], place(3.4)) && !unclear(&[], None));
        assert!(unclear(&doubts(Check::Rival), place(9.0)) && unclear(&doubts(Check::Place), place(1.0)));
        assert!(!unclear(&doubts(Check::Mirrored), place(9.0)));
    }
}
