//! The transform nearest to an affine registration, where one with fewer degrees of freedom does not stand.
//!
//! Heads of two people differ in size and shape. Rigid transforms then lay outlines on each other rather than what they enclose, or agree
//! nowhere clearly, while an affine one does. What speaks for that place speaks for the nearest transform of the kind that was asked for.

use super::again::unless_fatal;
use super::levels::Levels;
use super::place::Insides;
use super::race::Race;
use super::{Case, Init, Options, Registration, alone, ready, timed, trust};
use crate::doubt::{Check, Doubt};
use crate::observer::Observer;
use crate::transform::Kind;
use crate::{Result, Volume, backend::Backend};

/// In place of a result that does not stand, the transform nearest to an affine registration; none where that does not stand either.
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
    if flat || options.dof == Kind::Affine || options.init != Init::Auto || !is_replaceable(&found.doubts) {
        return Ok(None);
    }
    observer.note(&format!("the {} registration should not be used: trying an affine one", options.dof.name()));
    let as_affine = Options { dof: Kind::Affine, moved: false, ..options.clone() };
    let affine = unless_fatal(alone(images, &as_affine, found.seconds.clone(), backend, observer))?;
    // After one wrong result another must not pass by chance.
    let stands = |affine: &Registration| affine.trusted() && affine.place.is_some_and(trust::both_agree);
    let Some(affine) = affine.filter(stands) else { return Ok(None) };
    let near = unless_fatal(near(affine, images, options, backend, observer))?.flatten();
    if near.is_some() {
        observer.note(&format!("the result is the {} transform nearest to the affine one", options.dof.name()));
    }
    Ok(near)
}

/// Whether a result does not stand, and not because it is mirrored, which an affine registration may fit well enough to hide.
fn is_replaceable(doubts: &[Doubt]) -> bool {
    doubts.iter().any(|doubt| doubt.grave) && doubts.iter().all(|doubt| doubt.check != Check::Mirrored)
}

/// The nearest transform, looked at; none where it does not stand.
fn near(
    affine: Registration,
    [fixed, moving]: [&Volume; 2],
    options: &Options,
    backend: &dyn Backend,
    observer: &dyn Observer,
) -> Result<Option<Registration>> {
    let read = ready([fixed, moving], options, backend, observer)?;
    let map = affine.transform.to_affine();
    let Some(insides) = Insides::of(read.each_ref(), [&[], &[]])? else { return Ok(None) };
    let Some(to) = insides.nearest(options.dof, |point| map.transform_point3(point)) else { return Ok(None) };
    let backend = &*backend.keeping(&[&read[0].image, &read[1].image, moving]);
    let mut seconds = affine.seconds;
    let levels = timed(&mut seconds.pyramid, || Levels::new(&read, options, backend))?;
    let mut run = Case { fixed, moving, read: &read, backend, observer }.under_way(&read, options, seconds);
    run.look(&levels, &to)?;
    run.levels = affine.levels;
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
    fn an_affine_registration_is_tried_where_a_result_does_not_stand() {
        let doubt = |check, grave| Doubt { check, message: "".into(), grave };
        assert!(!is_replaceable(&[]) && !is_replaceable(&[doubt(Check::Rotation, false)]));
        assert!(is_replaceable(&[doubt(Check::Rotation, false), doubt(Check::Place, true)]));
        assert!(!is_replaceable(&[doubt(Check::Mirrored, true), doubt(Check::Place, true)]));
    }
}
