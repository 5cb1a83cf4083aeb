//! The checks of a finished registration.

use super::elsewhere::Elsewhere;
use super::from_result::FromResult;
use super::lead::contrast_confirms;
use super::place::Place;
use super::poses::{AS_GOOD, LITTLE_INFORMATION};
use super::race::Rival;
use crate::doubt::{Check, Doubt};
use crate::metric::Evaluation;
use crate::transform::angle;
use glam::DAffine3;

/// If less than the first fraction of the smaller image lies inside the other one, the user is warned; below the second
/// one, the result fails.
const SMALL_OVERLAP: f64 = 0.25;
const NO_OVERLAP: f64 = 0.02;
/// A rotation of more degrees from the headers' alignment is unusual.
const LARGE_ROTATION: f64 = 75.0;
/// A change of volume by more than the first factor is unusual; by more than the second, it is not anatomical.
const UNUSUAL_VOLUME: f64 = 1.6;
const IMPOSSIBLE_VOLUME: f64 = 4.0;
/// How many times more 2-D images may be stretched in one direction than in another: a plane that is seen at an angle of
/// 51 degrees.
const STRETCH: f64 = 1.6;

/// The mutual information at the position of a small image must be this many times that at the best other position in a
/// large one.
const ELSEWHERE_LEAD: f64 = 1.5;

/// What the checks need to know.
pub struct Evidence<'a> {
    /// Both images at full resolution: with the headers' alignment, and at the end.
    pub start: &'a Evaluation,
    pub end: &'a Evaluation,
    /// The maximised metric at both.
    pub values: [f64; 2],
    /// Whether the end is less than a voxel from the headers' alignment.
    pub is_at_headers: bool,
    /// The mutual information at the end that is due to chance alone, nats.
    pub chance: f64,
    /// The result: a map of fixed points to moving points, LPS mm.
    pub to: &'a DAffine3,
    /// The volume of the fixed image over that of the moving one.
    pub volumes: f64,
    /// The second pose of the race, unless the foreground shows that it is the wrong one.
    pub rival: Option<Rival>,
    /// How much better the foreground agrees at the result than at poses around it.
    pub place: Option<Place>,
}

impl Rival {
    /// Whether the pose is as good as the winner.
    pub fn counts(&self) -> bool {
        self.lead > AS_GOOD
    }
}

impl Evidence<'_> {
    /// Returns the checks that failed.
    pub fn doubts(&self) -> Vec<Doubt> {
        let checks = [
            self.overlap_doubt(),
            self.information_doubt(),
            self.metric_doubt(),
            self.rotation_doubt(),
            self.volume_doubt(),
            self.stretch_doubt(),
            self.rival_doubt(),
        ];
        checks.into_iter().flatten().collect()
    }

    /// Returns a doubt if too little of the smaller image lies inside the other one.
    fn overlap_doubt(&self) -> Option<Doubt> {
        let volumes = self.volumes * self.to.matrix3.determinant().abs();
        overlap_doubt(self.end.overlap_fraction() * volumes.max(1.0))
    }

    fn information_doubt(&self) -> Option<Doubt> {
        let mi = self.end.mi - self.chance;
        let text = format!("the images share almost no information (MI {mi:.4} nats beyond chance)");
        // At full resolution noise hides mutual information that the coarser images of `place` show.
        let confirmed = self.place.is_some_and(contrast_confirms);
        (mi < LITTLE_INFORMATION && !confirmed).then(|| Doubt::grave(Check::Information, text))
    }

    fn metric_doubt(&self) -> Option<Doubt> {
        let [before, after] = self.values;
        // Within a voxel, interpolation decides which of the two has the higher metric: where images lie exactly on each
        // other, nothing is interpolated.
        let worse = after < before && !self.is_at_headers;
        // If the headers' alignment has little overlap, a higher metric there does not make it the better one.
        let grave = worse && 2 * self.start.overlap > self.end.overlap;
        let text = "the metric is lower than with the alignment of the headers";
        worse.then(|| Doubt { check: Check::Metric, message: text.into(), grave })
    }

    fn rotation_doubt(&self) -> Option<Doubt> {
        let turn = angle(&self.to.matrix3).to_degrees();
        let text = format!("the images are rotated by {turn:.0} degrees against each other: are the headers right?");
        (turn > LARGE_ROTATION).then(|| Doubt::slight(Check::Rotation, text))
    }

    fn volume_doubt(&self) -> Option<Doubt> {
        let scale = self.to.matrix3.determinant();
        let beyond = |scale: f64, limit: f64| scale > limit || scale < limit.recip();
        let text = format!("the transform changes volumes by a factor of {scale:.2}");
        // The pixels of most 2-D images are 1 mm whatever they show. So one may have more pixels than the other, and one
        // may show a detail of the other.
        let is_explained = |place| !beyond(scale * self.volumes, IMPOSSIBLE_VOLUME) || contrast_confirms(place);
        let explained = self.place_in_plane().is_some_and(is_explained);
        let grave = beyond(scale, IMPOSSIBLE_VOLUME) && !explained;
        beyond(scale, UNUSUAL_VOLUME).then(|| Doubt { check: Check::Volume, message: text.into(), grave })
    }

    /// Returns a doubt if the plane is stretched more in one direction than in another, unless local contrast confirms it.
    fn stretch_doubt(&self) -> Option<Doubt> {
        let place = self.place_in_plane()?;
        let [x, y] = [self.to.matrix3.x_axis, self.to.matrix3.y_axis];
        let (squares, area) = (x.length_squared() + y.length_squared(), x.cross(y).length());
        // The sum and the difference of the singular values.
        let (sum, difference) = ((squares + 2.0 * area).sqrt(), (squares - 2.0 * area).max(0.0).sqrt());
        let times = (sum + difference) / (sum - difference);
        let text = format!("the transform stretches the image {times:.1} times more in one direction than in another");
        (times > STRETCH && !contrast_confirms(place)).then(|| Doubt::grave(Check::Volume, text))
    }

    /// Returns the place of 2-D images.
    fn place_in_plane(&self) -> Option<Place> {
        self.place.filter(|place| place.wide_contrast.is_some())
    }

    fn rival_doubt(&self) -> Option<Doubt> {
        let Rival { lead, wider, distance_mm, .. } = self.rival.filter(Rival::counts)?;
        let as_good = match wider {
            true => format!("overlaps more, and the images share more information there in all ({lead:.1} times)"),
            false => format!("has almost the same metric ({:.0} %)", 100.0 * lead),
        };
        Some(Doubt::grave(Check::Rival, format!("a second alignment, {distance_mm:.0} mm away, {as_good}")))
    }
}

/// Returns a doubt if `part`, the fraction of the smaller image that lies inside the other one, is too small.
pub fn overlap_doubt(part: f64) -> Option<Doubt> {
    let text = format!("only {:.0} % of the smaller image lies inside the other", 100.0 * part);
    (part < SMALL_OVERLAP).then(|| Doubt { check: Check::Overlap, message: text.into(), grave: part < NO_OVERLAP })
}

/// Returns a doubt unless a small image agrees clearly better at the result than at any other position in the large
/// one.
pub fn elsewhere_doubt(Elsewhere { times, distance_mm, .. }: Elsewhere) -> Option<Doubt> {
    let text = format!(
        "the smaller image matches the larger one about as well {distance_mm:.0} mm away \
         (ratio of mutual information here to there: {times:.1})"
    );
    (times < ELSEWHERE_LEAD).then(|| Doubt::grave(Check::Place, text))
}

/// Returns a doubt if volumes agree better through an affine transform, and the result is further from it than fewer
/// degrees of freedom explain.
pub fn affine_doubt(FromResult { times, distance_mm, explained_mm, .. }: FromResult) -> Option<Doubt> {
    let text = format!(
        "the images match better {distance_mm:.0} mm away through an affine transform ({times:.1} times the mutual \
         information of local contrast)"
    );
    (times > 1.0 && distance_mm > explained_mm).then(|| Doubt::grave(Check::Place, text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{DMat3, DVec3};

    const GOOD: Evaluation = Evaluation {
        fixed_entropy: 1.0,
        moving_entropy: 1.0,
        joint_entropy: 1.5,
        mi: 0.5,
        nmi: 1.3,
        ecc: 0.5,
        correlation_ratio_moving_given_fixed: 0.5,
        correlation_ratio_fixed_given_moving: 0.5,
        overlap: 90,
        samples: 100,
    };

    fn evidence<'a>(end: &'a Evaluation, to: &'a DAffine3) -> Evidence<'a> {
        let values = [GOOD.nmi, end.nmi];
        let (is_at_headers, chance, volumes) = (false, 0.0, 0.8);
        Evidence { start: &GOOD, end, values, is_at_headers, chance, to, volumes, rival: None, place: None }
    }

    /// Returns the names of the checks that fail, grave ones with an exclamation mark.
    fn names_of(evidence: &Evidence) -> Vec<String> {
        let name = |doubt: Doubt| format!("{}{}", doubt.check, if doubt.grave { "!" } else { "" });
        evidence.doubts().into_iter().map(name).collect()
    }

    fn names(end: Evaluation, to: DMat3, rival: Option<Rival>) -> Vec<String> {
        let to = DAffine3::from_mat3_translation(to, DVec3::ONE);
        names_of(&Evidence { rival, ..evidence(&end, &to) })
    }

    #[test]
    fn each_doubt_has_its_name() {
        let end = |end: Evaluation| names(end, DMat3::IDENTITY, None);
        assert_eq!(end(GOOD), [""; 0]);
        assert_eq!(end(Evaluation { overlap: 24, ..GOOD }), ["overlap"]);
        assert_eq!(end(Evaluation { overlap: 1, ..GOOD }), ["overlap!"]);
        // Enlarged, a quarter of the fixed image is most of what is now the smaller one.
        assert_eq!(names(Evaluation { overlap: 24, ..GOOD }, DMat3::IDENTITY * 1.3, None), ["volume"]);
        assert_eq!(end(Evaluation { mi: 0.01, ..GOOD }), ["information!"]);
        assert_eq!(end(Evaluation { nmi: 1.2, ..GOOD }), ["metric!"]);
        let to = |to: DMat3| names(GOOD, to, None);
        assert_eq!(to(DMat3::from_rotation_z(3.0)), ["rotation"]);
        assert_eq!(to(DMat3::IDENTITY * 1.2), ["volume"]);
        assert_eq!(to(DMat3::IDENTITY * 0.5), ["volume!"]);
        let rival = |lead| {
            names(GOOD, DMat3::IDENTITY, Some(Rival { lead, wider: false, distance_mm: 40.0, to: DAffine3::IDENTITY }))
        };
        assert_eq!(rival(0.95), ["rival!"]);
        assert_eq!(rival(0.8), [""; 0]);
    }

    #[test]
    fn the_metric_may_be_lower_than_at_the_headers_if_that_is_where_it_ends() {
        let (end, to) = (Evaluation { nmi: 1.2, ..GOOD }, DAffine3::IDENTITY);
        assert_eq!(names_of(&Evidence { is_at_headers: true, ..evidence(&end, &to) }), [""; 0]);
    }

    #[test]
    fn an_affine_transform_elsewhere_must_agree_better_to_matter() {
        let doubted = |times, distance_mm| {
            affine_doubt(FromResult { times, distance_mm, explained_mm: 6.0, to: DAffine3::IDENTITY }).is_some()
        };
        assert!(doubted(1.1, 7.0) && !doubted(0.9, 7.0) && !doubted(3.0, 5.0));
    }

    #[test]
    fn pictures_may_differ_in_pixels_and_details_be_magnified() {
        let to = DAffine3::from_scale(DVec3::new(2.5, 2.5, 1.0));
        let doubts = |contrast, wide_contrast, volumes| {
            let place = Some(Place { contrast, wide_contrast, information: 0.04, ..Place::NOWHERE });
            names_of(&Evidence { place, volumes, ..evidence(&GOOD, &to) })
        };
        assert_eq!(doubts(3.5, Some(0.0), 0.8), ["volume"]);
        assert_eq!(
            (doubts(3.4, Some(9.0), 0.8), doubts(3.5, None, 0.8)),
            (vec!["volume!".into()], vec!["volume!".into()])
        );
        assert_eq!(
            (doubts(0.0, Some(9.0), 0.2), doubts(0.0, None, 0.2)),
            (vec!["volume".into()], vec!["volume!".into()])
        );
    }

    #[test]
    fn the_plane_may_be_stretched_a_little() {
        let doubts = |x, contrast, wide_contrast| {
            let turn = |degrees: f64| DMat3::from_rotation_z(degrees.to_radians());
            let matrix = turn(70.0) * DMat3::from_diagonal(DVec3::new(x, 1.0, 1.0)) * turn(20.0);
            let place = Some(Place { contrast, wide_contrast, information: 0.04, ..Place::NOWHERE });
            let to = DAffine3::from_mat3(matrix);
            Evidence { place, ..evidence(&GOOD, &to) }.doubts().iter().filter(|doubt| doubt.grave).count()
        };
        assert_eq!([doubts(1.59, 0.0, Some(9.0)), doubts(0.63, 0.0, Some(9.0)), doubts(1.61, 3.5, Some(0.0))], [0; 3]);
        assert_eq!([doubts(1.61, 3.4, Some(9.0)), doubts(0.62, 0.0, Some(9.0)), doubts(1.61, 0.0, None)], [1, 1, 0]);
    }

    #[test]
    fn noise_does_not_hide_what_contrasts_tell() {
        let doubts = |contrast, information| {
            let (end, to) = (Evaluation { mi: 0.01, ..GOOD }, DAffine3::IDENTITY);
            let place = Some(Place { contrast, information, ..Place::NOWHERE });
            Evidence { place, ..evidence(&end, &to) }.doubts().len()
        };
        assert_eq!([doubts(3.5, 0.04), doubts(3.4, 1.0), doubts(9.0, 0.03)], [0, 1, 1]);
    }
}
