//! Finds from the images how stiff the field should be.
//!
//! A field that is too soft fits noise and chance, and one that is too stiff misses anatomy. Both show in what the fit
//! has not seen: on a finer level than the one it was made on, and in held-out voxels. So the coarse levels are climbed
//! again and again, from stiff to soft.

use super::smoothing::{SOFTEST, Smoothing};
use super::trials::{TrialResult, Trials};
use crate::Result;

/// The sigma of a field that is tried over that of the next one.
const RATIO: f64 = std::f64::consts::SQRT_2;

/// The number of fields that are tried; the first has a sigma of 2.6 voxels.
const TRIED: i32 = 7;

/// Trials end after so many fields in a row that are worse than a stiffer one.
pub const WORSE: usize = 2;

/// Finds the smoothing of the coarse levels with which the images agree best, among the fields that are accounted for
/// (see [`bending`](super::bending)), or the stiffest if no field is. Also returns the result of its trial. If the
/// smoothing for another start is `known`, fields that are stiffer by more than a step are left out.
pub fn find(trials: &mut Trials, known: Option<Smoothing>) -> Result<(Smoothing, TrialResult)> {
    let all = match known {
        Some(Smoothing::Found(voxels)) => fields(RATIO * voxels),
        _ => fields(f64::INFINITY),
    };
    let (mut stiffest, mut best): (_, Option<(Smoothing, TrialResult)>) = (None, None);
    let mut worse = 0;
    'all: for some in all.chunks(trials.at_once()) {
        // Results are looked at in order, so that it does not matter how many are tried at once.
        for (&smoothing, tried) in some.iter().zip(trials.try_all(some)?) {
            let TrialResult { nats, accounted_for, .. } = tried;
            stiffest.get_or_insert((smoothing, tried));
            match best {
                Some((_, most)) if !accounted_for || nats <= most.nats => worse += 1,
                _ if accounted_for => (best, worse) = (Some((smoothing, tried)), 0),
                _ => {}
            }
            if worse >= WORSE {
                break 'all;
            }
        }
    }
    Ok(best.or(stiffest).unwrap_or((Smoothing::Found(SOFTEST), TrialResult::default())))
}

/// Finds the smoothing of the last coarse level if that begins with searched displacements, and the result of its
/// trial. Returns `None` if no trial has a higher score than the one with `smoothing` and without the search. A sharp
/// border needs a softer field than the one found by climbing. So if `softer` is set and `smoothing` is no gain, softer
/// fields are tried, as long as none is better and fewer than [`WORSE`] were worse. `tried` runs trials, of which
/// `at_once` take the time of one, and returns the score without the search and their results.
pub fn from_searched(
    smoothing: Smoothing,
    softer: bool,
    at_once: usize,
    mut tried: impl FnMut(&[Smoothing]) -> Result<(f64, Vec<TrialResult>)>,
) -> Result<Option<(Smoothing, TrialResult)>> {
    let all = match smoothing {
        Smoothing::Found(voxels) if softer => fields(voxels),
        _ => vec![smoothing],
    };
    let (mut best, mut worse): (Option<(Smoothing, TrialResult)>, _) = (None, 0);
    for some in all.chunks(at_once.min(WORSE)) {
        let (without, tried) = tried(some)?;
        for (&next, tried) in some.iter().zip(tried) {
            let better = tried.accounted_for && tried.score() > best.map_or(without, |(_, best)| best.score());
            if better {
                best = Some((next, tried));
            } else {
                worse += 1;
            }
            let enough = if better { next == smoothing } else { best.is_some() || worse >= WORSE };
            if enough {
                return Ok(best);
            }
        }
    }
    Ok(best)
}

/// Returns the next stiffer of the fields that are tried; `None` for the stiffest, and if the user gave the smoothing.
pub fn stiffer(than: Smoothing) -> Option<Smoothing> {
    let Smoothing::Found(voxels) = than else { return None };
    let with_own = fields(RATIO * voxels);
    with_own.first().copied().filter(|&first| first != than)
}

/// Returns the fields that are tried, stiff to soft, beginning at a sigma of `from` voxels.
fn fields(from: f64) -> Vec<Smoothing> {
    // `f64::powi` may differ in its last digit from build to build.
    let all = (0..TRIED).rev().map(|step| SOFTEST * libm::pow(RATIO, f64::from(step)));
    // Half a step more is allowed, because of round-off.
    all.filter(|&voxels| voxels < from * RATIO.sqrt()).map(Smoothing::Found).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::iter::successors;

    /// Returns what is found for a field of twice the softest sigma, if climbing reaches 1 nat and trials with this and
    /// softer fields reach `nats`; and how many fields were tried.
    fn searched(softer: bool, at_once: usize, nats: [f64; 3], accounted_for: bool) -> (Option<Smoothing>, usize) {
        let all = fields(2.0 * SOFTEST);
        let mut number = 0;
        let tried = |some: &[Smoothing]| {
            number += some.len();
            let nats = |one: &Smoothing| nats[all.iter().position(|field| field == one).unwrap()];
            let tried = some.iter().map(|one| TrialResult { nats: nats(one), accounted_for, ..TrialResult::default() });
            Ok((1.0, tried.collect()))
        };
        let found = from_searched(all[0], softer, at_once, tried).unwrap();
        (found.map(|(smoothing, _)| smoothing), number)
    }

    #[test]
    fn stiffer_fields_end_with_the_stiffest_that_is_tried() {
        let mut all: Vec<_> = successors(Some(Smoothing::Found(SOFTEST)), |&field| stiffer(field)).collect();
        all.reverse();
        assert_eq!(all, fields(f64::INFINITY));
        assert_eq!(all.len(), TRIED as usize);
        assert_eq!(stiffer(Smoothing::Given { smooth_mm: [3.0, 1.0], finest_mm: 1.0 }), None);
    }

    #[test]
    fn what_was_searched_for_may_need_a_softer_field() {
        let [stiff, softer, softest] = fields(2.0 * SOFTEST)[..] else { panic!("others are tried") };
        for (nats, found, number) in [
            ([1.1, 1.2, 0.0], Some(stiff), 1),
            ([0.9, 1.1, 1.0], Some(softer), 3),
            ([0.9, 0.8, 1.1], None, 2),
            ([0.9, 1.1, 1.2], Some(softest), 3),
        ] {
            assert_eq!(searched(true, 1, nats, true), (found, number));
            assert_eq!(searched(true, usize::MAX, nats, true).0, found);
        }
        assert_eq!(searched(false, 1, [0.9, 1.1, 1.2], true), (None, 1));
    }

    #[test]
    fn contrasts_count_beside_the_half_and_bending_counts_against_it() {
        let found = |contrast_nats, bending| {
            let result = TrialResult { nats: 0.9, contrast_nats: Some(contrast_nats), accounted_for: true, bending };
            let tried = |some: &[Smoothing]| Ok((1.0, vec![result; some.len()]));
            from_searched(Smoothing::Found(SOFTEST), false, 1, tried).unwrap()
        };
        assert!(found(0.2, 0.0).is_some() && found(0.0, 0.0).is_none());
        assert!(found(0.2, 0.05).is_some() && found(0.2, 0.15).is_none());
    }

    #[test]
    fn what_the_images_do_not_account_for_is_no_gain() {
        assert_eq!(searched(true, 1, [2.0; 3], false), (None, 2));
    }
}
