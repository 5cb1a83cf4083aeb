//! Finds the structures that two volumes share, and checks whether they agree better at a result than at all others.
//!
//! The heads of two people, in different contrasts, agree nearly as well a few voxels away from the right position. But
//! nowhere else is there an optimum at which they agree as well.

use super::binned::Ranged;
use super::optima::Optima;
use super::part_poses::Pose;
use super::place::{Foregrounds, unless_empty};
use super::poses::{OPTIMUM_LEAD, Pair, is_clearly_more};
use super::retry::{fails_check, unless_fatal};
use super::{Case, Init, Options, Registration, Started};
use crate::Result;
use crate::doubt::{Check, Doubt};
use crate::error::Setting;
use crate::plane::local_contrast::neighbourhood;
use crate::plane::normalise::{self, REACH};
use glam::DAffine3;

/// How many times wider the neighbourhoods of local contrast are than in the other checks: the finest structures of two
/// people do not lie on each other.
const WIDER: f64 = 2.0;
/// The checks that say that images agree as well at other poses.
const OF_POSE: [Check; 2] = [Check::Place, Check::Rival];

/// Local contrast of two volumes in wide neighbourhoods.
pub struct Structures<'a> {
    foregrounds: &'a Foregrounds,
    pair: Pair,
}

impl<'a> Structures<'a> {
    /// Finds the structures of two volumes; `None` if one of them has none, and for 2-D images.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped)
    pub fn of(foregrounds: &'a Foregrounds) -> Result<Option<Self>> {
        if foregrounds.image().geometry.is_flat() {
            return Ok(None);
        }
        let (Pair([fixed, moving]), Pair(compared)) = (foregrounds.foreground(), foregrounds.local_contrast());
        let fixed = unless_empty(structures(Setting::Fixed, fixed, &compared[0]))?;
        let moving = unless_empty(structures(Setting::Moving, moving, &compared[1]))?;
        Ok(fixed.zip(moving).map(|(fixed, moving)| Self { foregrounds, pair: Pair([fixed, moving]) }))
    }

    /// Whether volumes agree clearly less at one result than at another.
    pub fn agree_less(&self, at: &Registration, than: &Registration) -> bool {
        is_clearly_more(self.information(than), self.information(at))
    }

    /// Whether volumes agree clearly better at `to` than at all other optima, of which some may be next to `rivals`. All
    /// are maps of fixed points to moving points, LPS mm.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped)
    pub fn confirm(&self, to: &DAffine3, rivals: &[DAffine3]) -> Result<bool> {
        let around = self.around(to);
        Ok(around.lead(&around.found(rivals)?)? >= OPTIMUM_LEAD)
    }

    /// Returns the mutual information at a result, nats per voxel of the fixed image's foreground.
    fn information(&self, found: &Registration) -> f64 {
        self.around(&found.transform.to_affine()).information()
    }

    /// Returns the number of the result at which the volumes agree best.
    fn best(&self, attempts: &[Registration]) -> usize {
        let information: Vec<f64> = attempts.iter().map(|found| self.information(found)).collect();
        (0..attempts.len()).max_by(|&a, &b| information[a].total_cmp(&information[b])).unwrap_or(0)
    }

    /// Keeps the first of several results, and that of the others at which the volumes agree best: a result may hold an
    /// image.
    pub fn keep_best(&self, attempts: &mut Vec<Registration>) {
        if attempts.len() > 2 {
            let others = attempts.split_off(1);
            let best = self.best(&others);
            attempts.extend(others.into_iter().nth(best));
        }
    }

    fn around(&self, to: &DAffine3) -> Optima<'_> {
        Optima::around(to, &self.pair, self.foregrounds.side())
    }
}

impl Case<'_> {
    /// Registers two volumes from the best optimum of their structures, around the best of several results that failed.
    /// Then returns the result at which they agree best. It passes if nothing speaks against it but that they agree as
    /// well at other poses, and the optima show that they do not. Otherwise, what else speaks against the first result,
    /// such as that it is mirrored, speaks against this one, too.
    pub fn by_structures(
        &self,
        mut attempts: Vec<Registration>,
        structures: &Structures,
        options: &Options,
    ) -> Result<Registration> {
        let best = &attempts[structures.best(&attempts)];
        let rivals: Vec<_> = attempts.iter().flat_map(|found| found.rivals.iter().copied()).collect();
        let optima = structures.around(&best.transform.to_affine()).found(&rivals)?;
        attempts.extend(self.starting_at_best(&optima, structures, options)?);
        let mut of_first = attempts[0].doubts.clone();
        let mut found = attempts.swap_remove(structures.best(&attempts));
        let lead = structures.around(&found.transform.to_affine()).lead(&optima)?;
        if found.fails_at_most(&OF_POSE) && lead >= OPTIMUM_LEAD {
            found.doubts.retain(|doubt| !OF_POSE.contains(&doubt.check));
        } else {
            of_first.retain(|doubt| doubt.grave && doubt.check != Check::Place && !fails_check(&found, doubt.check));
            found.doubts.extend(of_first);
            if found.trusted() {
                found.doubts.push(other_optimum_doubt(lead));
            }
        }
        if let Some(place) = &mut found.place {
            place.optima = Some(lead);
        }
        Ok(found)
    }

    /// Registers two volumes from the best of several optima.
    fn starting_at_best(
        &self,
        optima: &[Pose],
        structures: &Structures,
        options: &Options,
    ) -> Result<Option<Registration>> {
        let Some((from, _)) = optima.iter().max_by(|(_, a), (_, b)| a.total_cmp(b)) else { return Ok(None) };
        let from = structures.around(from).refined()?;
        let options = Options { init: Init::Transform(from), ..options.clone() };
        let found = unless_fatal(self.run([self.read; 2], &options, Some(structures.foregrounds)))?;
        Ok(found.map(|found| Registration { started: Started { from: "structures", ..found.started }, ..found }))
    }
}

/// Returns a doubt about a result whose optimum has `lead` times the information of another one.
fn other_optimum_doubt(lead: f64) -> Doubt {
    let text = format!(
        "the images match about as well at another position or rotation (ratio of mutual information here to there: local \
         contrast in wide neighbourhoods {lead:.1})"
    );
    Doubt::grave(Check::Rival, text)
}

/// Returns the local contrast of an image, NaN in the background, in wide neighbourhoods, where `compared` is not NaN.
fn structures(which: Setting, (image, _): &Ranged, (compared, _): &Ranged) -> Result<Ranged> {
    let (filled, is_foreground) = image.without_nan();
    let wide = normalise::locally(&filled, &is_foreground, WIDER * neighbourhood(&image.geometry), which)?;
    Ok((wide.only(|n| !compared.voxels[n].is_nan()), (-REACH, REACH)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::{IntensityRange, Prepared};
    use crate::{Geometry, PixelType, Volume, random};
    use glam::DVec3;
    use std::f64::consts::TAU;

    /// Returns the sum of twelve waves of 25 to 45 mm.
    fn contents(seed: u64) -> impl Fn(DVec3) -> f64 {
        let number = move |n: u64| random::uniform(seed, n);
        let wave = move |n: u64| {
            let direction = DVec3::new(number(5 * n), number(5 * n + 1), number(5 * n + 2)) - 0.5;
            (direction.normalize() * TAU / (25.0 + 20.0 * number(5 * n + 3)), TAU * number(5 * n + 4))
        };
        let waves: Vec<_> = (0..12).map(wave).collect();
        move |at| waves.iter().map(|(wave, phase)| libm::sin(wave.dot(at) + phase)).sum()
    }

    /// An ellipsoid, 3 mm, that shows these contents.
    fn body(shows: impl Fn(DVec3) -> f64) -> Volume {
        let geometry = Geometry::axis_aligned([64; 3], DVec3::splat(3.0), DVec3::splat(-94.5));
        let to_mm = geometry.index_to_world();
        let voxel = |n: usize| {
            let at = to_mm.transform_point3(geometry.index_of(n).map(|i| i as f64).into());
            let inside = (at / DVec3::new(70.0, 80.0, 60.0)).length() < 1.0;
            if inside { (900.0 + 50.0 * shows(at)) as f32 } else { 0.0 }
        };
        Volume { geometry, voxels: (0..geometry.voxels()).map(voxel).collect(), pixel: PixelType::F32 }
    }

    /// Passes the structures of two bodies to `check`.
    fn with_structures(moving: impl Fn(DVec3) -> f64, check: impl Fn(&Structures)) {
        let images = [body(contents(1)), body(moving)];
        let prepared = images.each_ref().map(|image| Prepared::new(image, None, IntensityRange::default()));
        let foregrounds = Foregrounds::of(prepared.each_ref(), [&[], &[]]).unwrap().unwrap();
        check(&Structures::of(&foregrounds).unwrap().unwrap());
    }

    #[test]
    fn another_person_has_one_optimum_and_other_contents_have_many() {
        let shows = contents(1);
        let bend = |at: DVec3| 5.0 * DVec3::new(0.05 * at.y, 0.06 * at.z, 0.045 * at.x).map(libm::sin);
        with_structures(
            |at| -shows(at + bend(at)),
            |structures| {
                assert!(structures.confirm(&DAffine3::IDENTITY, &[]).unwrap());
                assert!(!structures.confirm(&DAffine3::from_translation(DVec3::new(30.0, 20.0, 0.0)), &[]).unwrap());
            },
        );
        with_structures(contents(2), |structures| {
            let optima = structures.around(&DAffine3::IDENTITY).found(&[]).unwrap();
            let (best, _) = optima.iter().max_by(|(_, a), (_, b)| a.total_cmp(b)).unwrap();
            assert!(!structures.confirm(best, &[]).unwrap());
        });
    }
}
