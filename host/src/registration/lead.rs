//! Judges how clearly images agree at a place, and raises doubts where they do not.

use super::place::{Foregrounds, Place};
use super::poses::{CONTRAST_LEAD, LITTLE_INFORMATION, OPTIMUM_LEAD, is_clearly_more};
use crate::doubt::{Check, Doubt};
use crate::transform::Kind;
use glam::DAffine3;

/// If local contrast does not agree (see [`CONTRAST_LEAD`]), another measure must: the mutual information must be this
/// many times that of the best pose around. The first is for wide local contrast, the second for intensities of 2-D
/// images, the third for intensities of volumes, which are compared with fewer poses around.
const WIDE_CONTRAST_LEAD: f64 = 1.4;
const INTENSITIES_LEAD: f64 = 1.2;
const INTENSITIES_LEAD_IN_SPACE: f64 = 1.4;

/// Returns the doubts about a place: [`Check::Place`] and [`Check::Mirrored`].
pub fn place_doubts(place: Place) -> impl Iterator<Item = Doubt> {
    [lead_doubt(place), mirrored_doubt(place)].into_iter().flatten()
}

/// Returns a doubt unless the images agree clearly better at the result than at poses around it, by one measure at
/// least.
fn lead_doubt(place: Place) -> Option<Doubt> {
    let by_ratio = contrast_leads(place)
        || match place.wide_contrast {
            Some(wide) => wide >= WIDE_CONTRAST_LEAD || intensities_lead(place),
            None => place.intensities >= INTENSITIES_LEAD_IN_SPACE,
        };
    let agrees = match place.optima.filter(|_| place.wide_contrast.is_some()) {
        // A search finds the best of very many poses, so that all images agree better there than at poses around.
        Some(lead) => optimum_leads(place) || by_ratio && is_clearly_more(lead, 1.0),
        None => by_ratio,
    };
    let text = format!("the images match about as well at other positions nearby ({})", ratios(place));
    (!agrees).then(|| Doubt::grave(Check::Place, text))
}

/// Whether 2-D images agree clearly better at the optimum next to the result than at any other one, and local contrast
/// does not agree clearly better nearby.
fn optimum_leads(Place { optima, nearby, .. }: Place) -> bool {
    optima.is_some_and(|lead| lead >= OPTIMUM_LEAD) && nearby.is_none_or(|times| !is_clearly_more(times, 1.0))
}

/// Returns the measures of a place in words.
fn ratios(Place { contrast, wide_contrast, intensities, optima, .. }: Place) -> String {
    let wide = wide_contrast.map_or(String::new(), |lead| format!("wide local contrast {lead:.1}, "));
    let optima = optima.map_or(String::new(), |lead| format!(", at the best other optimum {lead:.1}"));
    format!(
        "ratio of mutual information here to the best there: local contrast {contrast:.1}, {wide}intensities \
         {intensities:.1}{optima}"
    )
}

/// Whether local contrast agrees much better at the result than at poses around it.
pub fn contrast_leads(place: Place) -> bool {
    place.contrast >= CONTRAST_LEAD
}

/// The same, with enough mutual information of local contrast to rely on.
pub fn contrast_confirms(place: Place) -> bool {
    contrast_leads(place) && place.information >= LITTLE_INFORMATION
}

/// Whether the foreground shows that the map `to`, whose place is `place`, is right and `rival` wrong; both take fixed
/// points to moving points, LPS mm.
pub fn foreground_decides(foregrounds: &Foregrounds, place: Place, to: &DAffine3, rival: &DAffine3) -> bool {
    foreground_confirms(foregrounds.including_rival(place, to, rival))
}

/// Whether the foreground shows that a place is right: of 2-D images by any measure, of volumes by local contrast
/// alone.
fn foreground_confirms(place: Place) -> bool {
    match place.wide_contrast {
        Some(_) => lead_doubt(place).is_none(),
        None => contrast_leads(place),
    }
}

/// Whether 2-D images agree much better at the result than at poses around it, by any measure.
pub fn any_leads_much(place: Place) -> bool {
    let Place { contrast, wide_contrast, intensities, .. } = place;
    contrast.max(wide_contrast.unwrap_or(0.0)).max(intensities) >= CONTRAST_LEAD
}

/// Whether local contrast of 2-D images is the measure that agrees most clearly.
pub fn contrast_leads_most(place: Place) -> bool {
    let Place { contrast, wide_contrast, intensities, .. } = place;
    contrast > intensities.max(wide_contrast.unwrap_or(0.0))
}

/// Whether the intensities of 2-D images agree clearly better at the result than at poses around it.
pub fn intensities_lead(place: Place) -> bool {
    place.intensities >= INTENSITIES_LEAD
}

/// Whether 2-D images agree much better at the result than at poses around it by local contrast, or clearly better both
/// by wide local contrast and by intensities. One of the two is not enough where a first result was wrong: a second
/// wrong one must not pass by chance. If the transform also has a scale, it can make images agree in part, and the
/// limits are squared.
pub fn two_lead(place: Place, kind: Kind) -> bool {
    let power = if kind > Kind::Rigid { 2 } else { 1 };
    let exceeds = |lead: f64, limit: f64| lead >= limit.powi(power);
    let wide_leads = place.wide_contrast.is_some_and(|lead| exceeds(lead, WIDE_CONTRAST_LEAD));
    contrast_leads(place) || wide_leads && exceeds(place.intensities, INTENSITIES_LEAD)
}

/// Whether local contrast and intensities both agree better at the result than at poses around it, by however little.
pub fn both_exceed_surroundings(place: Place) -> bool {
    place.contrast.min(place.intensities) > 1.0
}

/// Whether local contrast and intensities of volumes both agree clearly better at the result than at poses around it,
/// with enough mutual information of local contrast to rely on. One of them is not enough where a first result was
/// wrong: a second wrong one must not pass by chance.
pub fn both_lead_clearly(place: Place) -> bool {
    place.contrast.min(place.intensities) >= INTENSITIES_LEAD_IN_SPACE && place.information >= LITTLE_INFORMATION
}

/// Whether volumes agree so clearly, by local contrast and by intensities, that a result needs no further check.
pub fn both_confirm(place: Place) -> bool {
    contrast_leads(place) && both_lead_clearly(place)
}

/// Returns a doubt about volumes that were deformed from a start that no registration confirms, unless they agree
/// clearly better than at poses around, both by intensities and by local contrast, and local contrast has some mutual
/// information. A deformation makes any two images agree somewhat, so that one measure is not enough.
pub fn unconfirmed_place_doubt(place: Place) -> Option<Doubt> {
    let Place { information, wide_contrast, .. } = place;
    let text = format!(
        "the images match hardly better than at other positions nearby ({}); the mutual information of local contrast \
         is {information:.3} nats",
        ratios(place)
    );
    let agrees = wide_contrast.is_some() || both_lead_clearly(place);
    (!agrees).then(|| Doubt::grave(Check::Place, text))
}

/// Returns a doubt about the linear part of a deformation from a start that no registration confirms, unless the images
/// agree better through it than at poses around. A deformation also makes images agree that lie far apart or show
/// different things. But then neither its start nor its affine part places them better than other linear maps do.
pub fn linear_place_doubt(place: Place) -> Option<Doubt> {
    let agrees = match place.wide_contrast {
        Some(_) => lead_doubt(place).is_none(),
        None => both_exceed_surroundings(place),
    };
    let text = format!(
        "the linear part of the field aligns the images no better than other positions nearby ({}): check the initial \
         alignment",
        ratios(place)
    );
    (!agrees).then(|| Doubt::grave(Check::Place, text))
}

/// Returns a doubt if the moving image agrees better when it is mirrored.
fn mirrored_doubt(place: Place) -> Option<Doubt> {
    let times = place.mirrored?;
    let text = format!(
        "the moving image matches better when mirrored ({times:.1} times the mutual information of local contrast): are \
         left and right exchanged?"
    );
    Some(Doubt::grave(Check::Mirrored, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_contrasts_tell_where_volumes_lie() {
        let place =
            |contrast, wide_contrast, intensities| Place { contrast, wide_contrast, intensities, ..Place::NOWHERE };
        assert!(foreground_confirms(place(3.5, None, 0.0)) && !foreground_confirms(place(3.4, None, 9.0)));
        assert!(
            foreground_confirms(place(0.0, Some(1.4), 0.0))
                && foreground_confirms(place(0.0, Some(0.0), 1.2))
                && !foreground_confirms(place(3.4, Some(1.3), 1.1))
        );
    }

    #[test]
    fn another_optimum_that_agrees_as_well_raises_a_doubt_and_a_clear_lead_removes_it() {
        let believed = |wide_contrast, optima, nearby| {
            let place = Place { wide_contrast: Some(wide_contrast), optima: Some(optima), ..Place::NOWHERE };
            lead_doubt(Place { nearby: Some(nearby), ..place }).is_none()
        };
        assert!(believed(1.4, 1.2, 1.0) && !believed(1.4, 1.1, 1.0) && !believed(1.3, 1.2, 1.0));
        assert!(believed(0.0, 1.5, 1.1) && !believed(0.0, 1.4, 1.1) && !believed(0.0, 1.5, 1.2));
    }

    #[test]
    fn after_a_wrong_result_two_measures_must_agree() {
        let agree = |contrast, wide_contrast, intensities| {
            let place = Place { contrast, wide_contrast: Some(wide_contrast), intensities, ..Place::NOWHERE };
            [Kind::Rigid, Kind::Similarity].map(|kind| two_lead(place, kind))
        };
        assert_eq!((agree(3.5, 0.0, 0.0), agree(0.0, 1.97, 1.45)), ([true; 2], [true; 2]));
        assert_eq!((agree(0.0, 1.4, 1.45), agree(0.0, 1.97, 1.2)), ([true, false], [true, false]));
        assert_eq!((agree(3.4, 9.0, 1.1), agree(3.4, 1.3, 9.0)), ([false; 2], [false; 2]));
    }

    #[test]
    fn one_measure_of_three_is_enough() {
        let believed = |contrast, wide_contrast, intensities| {
            lead_doubt(Place { contrast, wide_contrast, intensities, information: 1.0, ..Place::NOWHERE }).is_none()
        };
        assert!(!believed(3.4, Some(1.3), 1.1) && !believed(3.4, None, 1.3));
        assert!(believed(3.5, None, 0.0) && believed(0.0, Some(1.4), 0.0) && believed(0.0, Some(0.0), 1.2));
        assert!(believed(0.0, None, 1.4));
    }
}
