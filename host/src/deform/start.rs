//! The linear transform that a flow starts from.

use super::middle::{self, Middle};
use crate::backend::Chosen;
use crate::doubt::{Check, Doubt};
use crate::error::{Message, Setting, message};
use crate::image::Prepared;
use crate::registration::{self, LinearStart, Registration, check};
use crate::transform::{Dimension, Kind, Linear};
use crate::{Geometry, Observer, Result, Volume};
use std::time::Instant;

/// Ends of the sentence that says where a flow starts if the result of a registration should not be used.
const HEADERS: &str = "from the alignment of the headers";
const THERE_OR_HEADERS: &str = "from it or from the headers, whichever matches better";
const EXCHANGED: &str = "from the registration of the exchanged images";

/// The linear transform that a flow starts from.
#[derive(Debug, Clone, PartialEq)]
pub enum Start {
    /// The result of a registration of this kind with default options. If it fails its checks, and the kind is more
    /// general than rigid, a rigid registration is tried. If none passes, a doubt says so, and the flow starts from the
    /// headers' alignment or, if the result failed `place` alone, from whichever of the two makes the images agree
    /// better.
    Register(Kind),
    /// The headers' alignment of the images.
    Headers,
    /// This transform, fixed point to moving point, LPS mm.
    Transform(Linear),
}

/// The candidates for the start of a flow.
pub(super) struct StartCandidates {
    /// One or two, the likelier first. If the first one is registered, the second is the headers' alignment: in one
    /// session of a scanner, it is right for whatever does not move.
    pub candidates: Vec<StartCandidate>,
    /// Doubts about the registration.
    pub doubts: Vec<Doubt>,
}

/// A candidate for the start of a flow.
pub(super) struct StartCandidate {
    pub linear: LinearStart,
    pub support: Support,
    /// In symmetric mode, the middle between the images, where the two flows meet.
    pub middle: Option<Middle>,
}

/// How reliable a start is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Support {
    /// A registration that passed its checks.
    PassedChecks,
    /// A registration that failed `place` alone, although the images agree better there than around.
    FailedPlaceOnly,
    /// No registration supports it: the transform was given, or the headers' alignment is used alone.
    Unconfirmed,
}

impl Start {
    /// Finds the candidates for the start of a flow.
    pub(super) fn find(
        &self,
        images: &[Prepared; 2],
        symmetric: bool,
        chosen: Chosen,
        observer: &dyn Observer,
    ) -> Result<StartCandidates> {
        // A device that was asked for is waited for before the clock runs: that does not count as finding a start.
        chosen.first_ready()?;
        let clock = Instant::now();
        let headers = |support| (headers(&images[0].image), "the headers", support);
        let (starts, doubts) = match self {
            Self::Register(kind) => {
                let found = match symmetric {
                    true => both_ways(*kind, images, chosen, observer)?,
                    false => {
                        let found = registered(*kind, images.each_ref(), chosen, observer)?;
                        let at = if found.start.is_some() { THERE_OR_HEADERS } else { HEADERS };
                        found.complete_doubts(at)
                    }
                };
                // The headers' alignment is taken only if the images agree better by it, so it is as reliable as the
                // registration.
                let support = match &found.start {
                    Some(_) if found.passed => Support::PassedChecks,
                    Some(_) => Support::FailedPlaceOnly,
                    None => Support::Unconfirmed,
                };
                let start = found.start.map(|start| (start.clone(), registration::kind_label(start.kind), support));
                (start.into_iter().chain([headers(support)]).collect(), found.doubts)
            }
            Self::Headers => (vec![headers(Support::Unconfirmed)], Vec::new()),
            Self::Transform(transform) => (vec![(transform.clone(), "a transform", Support::Unconfirmed)], Vec::new()),
        };
        let fixed = &images[0].image.geometry;
        starts.iter().try_for_each(|(start, ..)| check::start(Setting::Start, fixed, &start.to_affine()))?;
        let seconds = clock.elapsed().as_secs_f64();
        let candidate = |(transform, from, support)| StartCandidate {
            linear: LinearStart { transform, from, seconds },
            support,
            middle: None,
        };
        Ok(StartCandidates { candidates: starts.into_iter().map(candidate).collect(), doubts })
    }
}

fn headers(fixed: &Volume) -> Linear {
    Linear::identity(Kind::Translation, Dimension::of(&fixed.geometry), fixed.geometry.centre())
}

/// The start that a registration finds.
struct Found {
    /// `None` if the registration is of no use as a start.
    start: Option<Linear>,
    /// Whether the registration passed its checks.
    passed: bool,
    /// Doubts about the registration. If it has not `passed`, the message about the start is unfinished:
    /// [`Found::complete_doubts`] completes it.
    doubts: Vec<Doubt>,
}

impl Found {
    /// Completes the doubts about a registration that has not `passed` by where the flow starts instead.
    fn complete_doubts(mut self, at: &str) -> Self {
        let in_doubt = self.doubts.iter_mut().filter(|doubt| !self.passed && doubt.check == Check::Start);
        in_doubt.for_each(|doubt| doubt.message = doubt.message.clone().then(&format!("): starting {at}").into()));
        self
    }
}

/// Registers the images both ways. Returns the transform halfway between both results or, if only one of them passed
/// its checks, that one.
fn both_ways(kind: Kind, [fixed, moving]: &[Prepared; 2], chosen: Chosen, observer: &dyn Observer) -> Result<Found> {
    let there = registered(kind, [fixed, moving], chosen, observer)?;
    let back = registered(kind, [moving, fixed], chosen, observer)?;
    Ok(combine_both_ways(&fixed.image.geometry, [there, back]))
}

/// Combines the results of both ways: see [`both_ways`].
fn combine_both_ways(grid: &Geometry, ways: [Found; 2]) -> Found {
    let passed = ways.iter().any(|way| way.passed);
    let used = ways.each_ref().map(|way| way.start.as_ref().filter(|_| way.passed >= passed));
    let kind = used.iter().flatten().map(|start| start.kind).max();
    let [there, back] = used.map(|start| start.map(Linear::to_affine));
    let map = match (there, back.map(|back| back.inverse())) {
        (Some(there), Some(back)) => Some(middle::between(&there, &back).unwrap_or(there)),
        (there, back) => there.or(back),
    };
    // A registration in doubt that has no half is dropped. One that passed its checks is kept, and refused with an
    // error later.
    let map = map.filter(|map| passed || middle::half(map).is_some());
    let at = match map {
        Some(_) if passed => EXCHANGED,
        Some(_) => THERE_OR_HEADERS,
        None => HEADERS,
    };
    let start = map.zip(kind).map(|(map, kind)| Linear::new(kind, Dimension::of(grid), grid.centre(), &map));
    let doubts = ways.map(|way| way.complete_doubts(at).doubts).concat();
    Found { start, passed, doubts }
}

/// Registers the images. What speaks against the result becomes doubts about the start.
fn registered(kind: Kind, images: [&Prepared; 2], chosen: Chosen, observer: &dyn Observer) -> Result<Found> {
    // A GPU that is being opened meanwhile is used as soon as it is ready.
    let found = registration::linear(kind, images, || chosen.first_ready(), observer)?;
    let (name, messages) = (found.transform.kind.name(), found.doubts.iter().map(|doubt| &doubt.message));
    if found.trusted() {
        let of = |message: &Message| Message::from(format!("of the {name} registration: ")).then(message);
        let doubts = messages.map(|message| Doubt::slight(Check::Start, of(message))).collect();
        return Ok(Found { start: Some(found.transform), passed: true, doubts });
    }
    let begun = Message::from(format!("the {name} registration failed its checks ("));
    let why = messages.enumerate().fold(begun, |whole, (n, message)| {
        let whole = if n == 0 { whole } else { whole.then(&message!("; ")) };
        whole.then(message)
    });
    let start = is_usable_as_start(&found).then_some(found.transform);
    // A field hides that an image is mirrored: it bends one half of the body onto the other.
    let mirrored = found.doubts.into_iter().filter(|doubt| doubt.grave && doubt.check == Check::Mirrored);
    let doubts = std::iter::once(Doubt::slight(Check::Start, why)).chain(mirrored).collect();
    Ok(Found { start, passed: false, doubts })
}

/// Returns whether a flow may start from a result that failed its checks: if it failed `place` alone, and intensities
/// and local contrast still agree better there than at any place around. People's chests, for instance, differ by more
/// than an affine map can correct, but from such a place a flow has less far to go.
fn is_usable_as_start(found: &Registration) -> bool {
    found.fails_at_most(&[Check::Place]) && found.place.is_some_and(registration::both_exceed_surroundings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{DAffine3, DVec3};

    #[test]
    fn where_two_ways_meet_no_start_is_said_to_be_taken_that_is_not() {
        let grid = Geometry::axis_aligned([8; 3], DVec3::ONE, DVec3::ZERO);
        let start = || Some(Linear::identity(Kind::Affine, Dimension::Three, grid.centre()));
        let unsure = |start| {
            let doubts = vec![Doubt::slight(Check::Start, "of no use (place")];
            Found { start, passed: false, doubts }
        };
        let sure = || Found { start: start(), passed: true, doubts: Vec::new() };
        let (doubtful, useless) = (|| unsure(start()), || unsure(None));
        let says = |ways: [Found; 2]| {
            let found = combine_both_ways(&grid, ways);
            let messages = found.doubts.iter().map(|doubt| doubt.message.to_string()).collect::<Vec<_>>();
            (found.start.is_some(), found.passed, messages)
        };
        let starting = |at: &str| format!("of no use (place): starting {at}");
        assert_eq!(says([sure(), sure()]), (true, true, Vec::new()));
        assert_eq!(says([sure(), doubtful()]), (true, true, vec![starting(EXCHANGED)]));
        assert_eq!(says([useless(), sure()]), (true, true, vec![starting(EXCHANGED)]));
        assert_eq!(says([doubtful(), doubtful()]), (true, false, vec![starting(THERE_OR_HEADERS); 2]));
        assert_eq!(says([useless(), doubtful()]), (true, false, vec![starting(THERE_OR_HEADERS); 2]));
        assert_eq!(says([useless(), useless()]), (false, false, vec![starting(HEADERS); 2]));
        let rigid = || Some(Linear::identity(Kind::Rigid, Dimension::Three, grid.centre()));
        for (start, kind) in [(start(), Kind::Affine), (rigid(), Kind::Rigid)] {
            let ways = [Found { start, ..unsure(None) }, Found { start: rigid(), ..unsure(None) }];
            assert_eq!(combine_both_ways(&grid, ways).start.map(|start| start.kind), Some(kind));
        }
        let turned = || Found {
            start: Some(Linear::new(Kind::Affine, Dimension::Three, DVec3::ZERO, &DAffine3::from_rotation_z(3.1))),
            ..unsure(None)
        };
        assert_eq!(says([turned(), useless()]), (false, false, vec![starting(HEADERS); 2]));
    }
}
