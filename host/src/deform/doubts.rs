//! The checks of a deformation, and the doubts that they raise.

use super::start::Support;
use super::{Deformation, LandmarkErrors};
use crate::doubt::{Check, Doubt};
use crate::error::message;
use crate::registration::{
    Displaced, LITTLE_INFORMATION, Place, Unmatched, is_clearly_more, linear_place_doubt, overlap_doubt, place_doubts,
    unconfirmed_place_doubt,
};

/// The mean inverse consistency error, in voxels, above which the inverse is poor.
const POOR_INVERSE: f64 = 0.5;
/// Jacobian determinants outside this range change volumes more than tissue does.
pub const UNUSUAL: [f64; 2] = [0.1, 10.0];

/// The mutual information of local contrast should rise as structures are aligned. Below this fraction of its value at
/// the start, the field has led structures apart. A little is lost if they were aligned from the beginning.
const LEAST_KEPT: f64 = 0.6;

/// The cost of bending that need not be accounted for, nats: that of volumes that change by a factor of 1.18.
const BENDING_TOLERANCE: f64 = 0.03;

/// What a field clearly gains, as a multiple of the cost of its bending.
const CLEAR_GAIN: f64 = 1.5;

/// The fractions of the images above which an unmatched part is a slight doubt (it may have been cut out of one of
/// them), and above which it is a grave one (it is misplaced).
const UNMATCHED: [f64; 2] = [0.05, 0.1];

/// Returns the doubts about a deformation. `support` is what supports its start.
pub fn all(made: &Deformation, support: Support) -> Vec<Doubt> {
    let place = made.place.map(|place| deformed_place_doubts(place, made.linear_place, support));
    let place_passes = place.as_ref().is_some_and(Vec::is_empty);
    let parts = || made.displaced.map(displaced_doubt).or_else(|| parts_doubt(made));
    let single = [
        overlap_doubt(made.overlap),
        made.landmarks.as_ref().and_then(LandmarkErrors::doubt),
        made.unmatched.and_then(unmatched_doubt),
        place_passes.then(parts).flatten(),
    ];
    let several = [field_doubts(made, place_passes), place.unwrap_or_default(), gain_doubts(made)];
    several.into_iter().flatten().chain(single.into_iter().flatten()).collect()
}

/// Returns a doubt if the local contrast of a part of volumes has hardly any mutual information with what the field
/// places on it.
fn unmatched_doubt(Unmatched { share, middle_mm }: Unmatched) -> Option<Doubt> {
    let [x, y, z] = middle_mm?;
    let text = format!(
        "{:.0} % of the foreground does not match what lies on it, around ({x:.0}, {y:.0}, {z:.0}) mm LPS: look there, \
         and mask what only one of the images shows",
        100.0 * share
    );
    let [some, much] = UNMATCHED;
    (share > some).then(|| Doubt { check: Check::Unmatched, message: text.into(), grave: share > much })
}

/// Returns a doubt about a part that moved by itself, and that the field did not reach.
fn displaced_doubt(part: Displaced) -> Doubt {
    let message = message!(
        "{part}: the field did not follow a part that moved by itself";
        "give landmarks in it by ", FixedPoints, " and ", MovingPoints
    );
    Doubt::grave(Check::Place, message)
}

/// Returns a doubt if the images agree better through the start with each part moved by itself.
fn parts_doubt(made: &Deformation) -> Option<Doubt> {
    let (parts, start, field) = (made.part_information?, made.start_information?, made.place?.information);
    let message = || {
        message!(
            "the images match better if parts are moved by themselves (the mutual information of local contrast is then \
             {parts:.2} nats, and {field:.2} through the field): the field did not follow one of them";
            "give landmarks by ", FixedPoints, " and ", MovingPoints
        )
    };
    let better = parts >= LITTLE_INFORMATION && is_clearly_more(parts, field.max(start));
    better.then(|| Doubt::grave(Check::Place, message()))
}

/// Returns doubts if the mutual information of local contrast does not rise enough from the start to the field.
fn gain_doubts(made: &Deformation) -> Vec<Doubt> {
    let Some(([before, after], bending)) = contrast_gain(made) else { return Vec::new() };
    contrast_loss_doubt(before, after).into_iter().chain(bending_doubt(after - before, bending)).collect()
}

/// Returns the mutual information of local contrast through the start and through the field, nats, and by how much it
/// must rise to account for the bending.
fn contrast_gain(made: &Deformation) -> Option<([f64; 2], f64)> {
    Some(([made.start_information?, made.place?.information], made.bending?))
}

/// Returns the mutual information of local contrast through the field less what the field should gain, nats. A field
/// that bends far enough makes any two images agree.
pub fn net_information(made: &Deformation) -> f64 {
    made.place.map_or(0.0, |place| place.information) - CLEAR_GAIN * made.bending.unwrap_or(0.0)
}

/// Returns whether the information of local contrast falls too far, or hardly gains what the bending of the field costs.
/// A stiffer field may then be more likely.
pub fn is_barely_accounted_for(made: &Deformation) -> bool {
    contrast_gain(made).is_some_and(|(nats, bending)| hardly_gains(nats, bending))
}

fn hardly_gains([before, after]: [f64; 2], bending: f64) -> bool {
    let costly = bending > BENDING_TOLERANCE && CLEAR_GAIN * bending > after - before;
    costly || contrast_loss_doubt(before, after).is_some()
}

/// Returns a doubt if the mutual information of local contrast, nats, falls too far from the start to the field.
fn contrast_loss_doubt(before: f64, after: f64) -> Option<Doubt> {
    let times = after.max(0.0) / before;
    let text = || {
        message!(
            "structures match less than before the deformation ({times:.2} times the mutual information of local contrast): \
             varying brightness misleads the field";
            "use ", Force, " lcc, or a larger ", SmoothMm
        )
    };
    (before >= LITTLE_INFORMATION && times < LEAST_KEPT).then(|| Doubt::grave(Check::NoRise, text()))
}

/// Returns a doubt if a field is less likely than its start by `bending`, while the mutual information of local
/// contrast rises only by `gain`, both in nats.
fn bending_doubt(gain: f64, bending: f64) -> Option<Doubt> {
    let text = || {
        message!(
            "the images do not justify so strong a deformation (the mutual information of local contrast rose by {gain:.2} \
             nats; {bending:.2} are needed)";
            "use a larger ", SmoothMm, ", or a linear registration alone"
        )
    };
    (bending > gain.max(0.0) + BENDING_TOLERANCE).then(|| Doubt::grave(Check::Bent, text()))
}

/// Returns doubts about where a deformation, and its linear part, place the images.
fn deformed_place_doubts(place: Place, linear: Option<Place>, support: Support) -> Vec<Doubt> {
    let doubts: Vec<Doubt> = place_doubts(place).collect();
    let alone = || unconfirmed_place_doubt(place).or_else(|| linear_place_doubt(linear?));
    let alone = (support != Support::PassedChecks && doubts.is_empty()).then(alone).flatten();
    doubts.into_iter().chain(alone).collect()
}

/// Returns doubts about folds, volumes, the metric and the inverse. `agree` is whether the images agree better through
/// the field than around it.
fn field_doubts(made: &Deformation, agree: bool) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    let [low, high] = made.jacobian_range;
    if low.is_nan() || low <= 0.0 {
        let message =
            message!("the field folds: its smallest Jacobian determinant is {low:.3}"; "use a larger ", SmoothMm);
        doubts.push(Doubt::grave(Check::Folded, message));
    } else if low < UNUSUAL[0] || high > UNUSUAL[1] {
        let message = message!(
            "local volumes change by factors of {low:.2} to {high:.1}, more than tissue does: use a larger ",
            SmoothMm
        );
        doubts.push(Doubt::slight(Check::Stretched, message));
    }
    if !made.levels.iter().any(|level| level.ends()[1] > level.ends()[0]) {
        let text = "the metric did not rise above its initial value: check the initial alignment";
        // The metric need not rise if the images were aligned from the beginning.
        doubts.push(Doubt { check: Check::NoRise, message: text.into(), grave: !agree });
    }
    let mm = made.consistency.mean_mm;
    if mm > POOR_INVERSE * super::smallest(&made.field.geometry) {
        let message = message!("the field and its inverse disagree by {mm:.2} mm on average: use a larger ", SmoothMm);
        doubts.push(Doubt::slight(Check::Inverse, message));
    }
    doubts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bending_must_be_accounted_for() {
        for (gain, bending, told) in [(0.05, 0.3, true), (-0.2, 0.1, true), (0.5, 0.3, false), (-0.1, 0.02, false)] {
            let doubt = bending_doubt(gain, bending);
            assert_eq!(doubt.is_some_and(|doubt| doubt.grave && doubt.check == Check::Bent), told, "{gain} {bending}");
        }
    }

    #[test]
    fn stiffer_fields_follow_where_bending_costs_much_or_structures_are_led_apart() {
        for (nats, bending, follow) in [
            ([0.02, 0.26], 0.23, true),
            ([0.02, 0.26], 0.15, false),
            ([0.20, 0.20], 0.01, false),
            ([0.14, 0.03], 0.01, true),
        ] {
            assert_eq!(hardly_gains(nats, bending), follow, "{nats:?} {bending}");
        }
    }

    #[test]
    fn contrasts_may_lose_little_of_what_they_told_at_the_start() {
        for (before, after, told) in
            [(0.14, 0.035, true), (0.14, -0.01, true), (0.44, 0.43, false), (0.1, 0.3, false), (0.01, 0.001, false)]
        {
            let doubt = contrast_loss_doubt(before, after);
            assert_eq!(
                doubt.is_some_and(|doubt| doubt.grave && doubt.check == Check::NoRise),
                told,
                "{before} {after}"
            );
        }
    }
}
