//! Checks whether two images agree better where they were placed than at poses around.
//!
//! The background of an image, such as the black around a retina, can agree so well that it outweighs the rest. So only
//! what is foreground in both images is compared: at the pose that was found, and at poses around it, which are shifted
//! and in 2-D also rotated. It is compared by intensity and by local contrast, from which a lamp's shading has been
//! removed.

use super::binned::Ranged;
use super::mirror::mirrored;
use super::optima::Optima;
use super::poses::{CONTRAST_LEAD, LITTLE_INFORMATION, Pair, PoseInformation, shifts};
use super::samples::{BY_CONTRASTS, SAMPLES, Samples, foreground_voxels};
use crate::error::Setting;
use crate::image::Prepared;
use crate::metric::NO_INFORMATION;
use crate::plane::local_contrast::{LocalContrast, background, longer_side, neighbourhood};
use crate::plane::normalise::{self, REACH};
use crate::transform::{Kind, nearest_linear};
use crate::{Error, Result, Volume};
use glam::{DAffine3, DVec3};
use serde::Serialize;
use std::borrow::Cow;

/// The most pixels along the longer side of 2-D images, and the most voxels along the longest side of volumes.
const SIDE: f64 = 250.0;
const SIDE_IN_SPACE: f64 = 64.0;
/// How many times wider the neighbourhoods of wide local contrast are. PET and SPECT are too blurred to show anything
/// in small ones.
const WIDE: f64 = 3.0;
/// The rim that is left out of local contrast, and of the intensities of volumes that were cut out, as a multiple of the
/// one that is left out of every image. Neighbourhoods beyond it lie wholly in the foreground.
const WHOLE: f64 = 4.0;

/// The moving image is mirrored if mirroring it increases the mutual information of local contrast by this factor.
const MIRRORED: f64 = 1.5;

/// How much better two images agree where they were placed than at poses around: the ratio of the mutual information
/// there to that at the best pose around. Mutual information is that of what is foreground in both images, beyond
/// chance. What exceeds 1 nat at the best pose around is subtracted from both.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Place {
    /// Of local contrast.
    pub contrast: f64,
    /// Of local contrast in neighbourhoods three times as wide; 2-D images only.
    pub wide_contrast: Option<f64>,
    /// Of intensities.
    pub intensities: f64,
    /// The mutual information of local contrast where the images were placed, nats beyond chance.
    pub information: f64,
    /// At the optimum next to the result, to the best other optimum around. 2-D images have it, of intensities or of wide
    /// local contrast, unless local contrast confirms the result with enough information; affine registrations of
    /// volumes, of local contrast in neighbourhoods twice as wide, if no other measure does.
    pub optima: Option<f64>,
    /// The information of local contrast at the optimum next to the result, as a multiple of that at the result. 2-D
    /// images have it along with `optima`.
    pub nearby: Option<f64>,
    /// The factor by which mirroring the moving image increases the mutual information of local contrast; `None` unless
    /// it is 1.5 or more and local contrast then agrees better than at poses around.
    pub mirrored: Option<f64>,
}

impl Place {
    /// The value for images whose foregrounds do not overlap.
    pub(crate) const NOWHERE: Self = Self {
        contrast: 0.0,
        wide_contrast: None,
        intensities: 0.0,
        information: 0.0,
        optima: None,
        nearby: None,
        mirrored: None,
    };

    /// Compares two images at a map of fixed points to moving points, LPS mm. Returns `None` if too little of them is
    /// foreground.
    ///
    /// # Errors
    /// [`Error::Stopped`]
    pub fn of(images: &[Prepared; 2], to: &DAffine3) -> Result<Option<Self>> {
        Foregrounds::of(images.each_ref(), [&[], &[]])?.map(|foregrounds| foregrounds.place(to, &[], false)).transpose()
    }
}

/// The foreground of two images, by every measure that is compared.
pub struct Foregrounds {
    local_contrast: Pair,
    wide_contrast: Option<Pair>,
    /// The intensities.
    foreground: Pair,
    /// The intensities without the rim, if both are volumes that were cut out: where one mask was used for both, the
    /// partial volumes along their outlines agree whatever lies inside.
    inner: Option<Pair>,
    /// The longest side of the moving image, mm.
    side: f64,
}

impl Foregrounds {
    /// Finds the foreground of two images; `None` if there is too little. Levels of their pyramids, if given, save
    /// time.
    ///
    /// # Errors
    /// [`Error::Stopped`]
    pub fn of([fixed, moving]: [&Prepared; 2], [a, b]: [&[Cow<Volume>]; 2]) -> Result<Option<Self>> {
        let side = longer_side(&moving.image.geometry);
        let (fixed, moving) =
            rayon::join(|| foreground(Setting::Fixed, fixed, a), || foreground(Setting::Moving, moving, b));
        let both = |(fixed, moving)| Pair([fixed, moving]);
        Ok(unless_empty(fixed)?.zip(unless_empty(moving)?).map(|(fixed, moving)| Self {
            local_contrast: both((fixed.local_contrast, moving.local_contrast)),
            wide_contrast: fixed.wide_contrast.zip(moving.wide_contrast).map(both),
            foreground: both((fixed.intensities, moving.intensities)),
            inner: fixed.inner.zip(moving.inner).map(both),
            side,
        }))
    }

    /// Compares the images at a map of fixed points to moving points, LPS mm, with the poses around. 2-D images are also
    /// compared with the optima around, of which some may be next to `rivals`, unless local contrast confirms the result.
    /// If `contrast_decides`, only results count at which local contrast leads: others are not compared with optima.
    ///
    /// # Errors
    /// [`Error::Stopped`]
    pub fn place(&self, to: &DAffine3, rivals: &[DAffine3], contrast_decides: bool) -> Result<Place> {
        let pose_information = |pair: &Pair| pair.pose_information(to, self.side);
        let wide = || self.wide_contrast.as_ref().map(pose_information);
        let others = || rayon::join(wide, || pose_information(self.intensities()));
        let all = || rayon::join(|| pose_information(&self.local_contrast), others);
        let ((contrast, (wide, mut intensities)), mirrored) = rayon::join(all, || self.mirrored_factor(to));
        // Round outlines of volumes agree at other rotations, too. That matters where intensities decide.
        if wide.is_none() && contrast.lead() < CONTRAST_LEAD {
            intensities = self.intensities().also_rotated(intensities, to);
        }
        let settled =
            if contrast.lead() < CONTRAST_LEAD { contrast_decides } else { contrast.here >= LITTLE_INFORMATION };
        let optimum = if settled { None } else { self.optimum_in_plane(to, rivals)? };
        Ok(Place {
            contrast: contrast.lead(),
            wide_contrast: wide.as_ref().map(PoseInformation::lead),
            intensities: intensities.lead(),
            information: contrast.here,
            optima: optimum.map(|(lead, _)| lead),
            nearby: optimum.map(|(_, nearby)| nearby),
            mirrored: mirrored?,
        })
    }

    /// Lowers the ratios of `place`, which were found at `to`, as if the map `rival` were one more of the poses around.
    pub fn including_rival(&self, place: Place, to: &DAffine3, rival: &DAffine3) -> Place {
        let lead = |pair: &Pair| pair.rival_information(to, rival).lead();
        let wide = place.wide_contrast.zip(self.wide_contrast.as_ref());
        Place {
            contrast: place.contrast.min(lead(&self.local_contrast)),
            wide_contrast: wide.map(|(around, pair)| around.min(lead(pair))),
            intensities: place.intensities.min(lead(self.intensities())),
            ..place
        }
    }

    /// Returns the mutual information of local contrast at a map of fixed points to moving points, LPS mm: nats beyond
    /// chance.
    pub fn here(&self, to: &DAffine3) -> f64 {
        self.local_contrast.here(to)
    }

    /// Finds the map near `to` at which local contrast agrees best; maps take fixed points to moving points, LPS mm.
    /// Returns it, and the mutual information of local contrast there as a multiple of that at `to`.
    ///
    /// # Errors
    /// [`Error::Stopped`]
    pub fn best_contrast_near(&self, to: &DAffine3) -> Result<(DAffine3, f64)> {
        let samples = Samples::of(&self.local_contrast.0, to, SAMPLES);
        let (map, information) = samples.optimised(*to, BY_CONTRASTS)?;
        Ok((map, information / samples.information(to).max(NO_INFORMATION)))
    }

    /// Returns the fixed image's local contrast and that of another moving image; `None` if too little of that is
    /// foreground.
    ///
    /// # Errors
    /// [`Error::Stopped`]
    pub fn local_contrast_with(&self, moving: &Prepared) -> Result<Option<Pair>> {
        let Pair([fixed, _]) = &self.local_contrast;
        let moving = unless_empty(foreground(Setting::Moving, moving, &[]))?;
        Ok(moving.map(|moving| Pair([fixed.clone(), moving.local_contrast])))
    }

    /// Returns the mutual information of the fixed image's local contrast and that of another moving image, at the
    /// identity: nats beyond chance, 0 if too little of the moving image is foreground.
    ///
    /// # Errors
    /// [`Error::Stopped`]
    pub fn information(&self, moving: &Prepared) -> Result<f64> {
        Ok(self.local_contrast_with(moving)?.map_or(0.0, |pair| pair.here(&DAffine3::IDENTITY)))
    }

    /// Returns the transform of a kind that is nearest to `map`, of fixed points to moving points, LPS mm, over the
    /// fixed image's foreground; `None` if that is too small.
    pub fn nearest(&self, kind: Kind, map: impl Fn(DVec3) -> DVec3) -> Option<DAffine3> {
        let pairs: Vec<_> = self.points().map(|point| (point, map(point))).collect();
        nearest_linear(kind, &pairs, self.image().geometry.is_flat())
    }

    /// Returns the root mean square distance between where two maps take the fixed image's foreground, mm.
    pub fn distance(&self, a: &DAffine3, b: &DAffine3) -> f64 {
        let squared = |point: DVec3| a.transform_point3(point).distance_squared(b.transform_point3(point));
        let (sum, count) = self.points().fold((0.0, 0), |(sum, count), point| (sum + squared(point), count + 1));
        (sum / f64::from(count.max(1))).sqrt()
    }

    /// Returns the local contrast of both images as it is compared, NaN in the background.
    pub fn local_contrast(&self) -> &Pair {
        &self.local_contrast
    }

    /// Returns the wide local contrast of 2-D images, NaN in the background.
    pub fn wide_contrast(&self) -> Option<&Pair> {
        self.wide_contrast.as_ref()
    }

    /// Returns the intensities of the whole foreground, NaN in the background.
    pub fn foreground(&self) -> &Pair {
        &self.foreground
    }

    /// Returns the intensities as they are compared.
    fn intensities(&self) -> &Pair {
        self.inner.as_ref().unwrap_or(&self.foreground)
    }

    /// Whether both are volumes that were cut out.
    pub fn cut_out(&self) -> bool {
        self.inner.is_some()
    }

    /// Returns the longest side of the moving image, mm.
    pub fn side(&self) -> f64 {
        self.side
    }

    /// Returns the shifts of the poses around the identity, voxels.
    pub fn around(&self) -> Vec<[isize; 3]> {
        shifts(&self.local_contrast.fixed().geometry, &DAffine3::IDENTITY, self.side)
    }

    /// Returns the fixed image as it is compared, NaN in the background.
    pub fn image(&self) -> &Volume {
        self.foreground.fixed()
    }

    /// Iterates over the foreground voxels of [`Foregrounds::image`].
    pub fn voxels(&self) -> impl Iterator<Item = usize> {
        foreground_voxels(self.image())
    }

    /// Iterates over the foreground voxels of [`Foregrounds::image`] as points, LPS mm.
    pub fn points(&self) -> impl Iterator<Item = DVec3> {
        let grid = &self.image().geometry;
        let to_world = grid.index_to_world();
        self.voxels().map(move |n| to_world.transform_point3(grid.index_of(n).map(|i| i as f64).into()))
    }

    /// Returns [`Place::optima`] and [`Place::nearby`] of 2-D images at `to`.
    fn optimum_in_plane(&self, to: &DAffine3, rivals: &[DAffine3]) -> Result<Option<(f64, f64)>> {
        let Some(wide) = &self.wide_contrast else { return Ok(None) };
        let lead = |pair: &Pair| {
            let around = Optima::of_foreground(to, pair);
            around.lead(&around.found(rivals)?)
        };
        let (wide, intensities) = rayon::join(|| lead(wide), || lead(&self.foreground));
        let (_, nearby) = self.best_contrast_near(to)?;
        Ok(Some((wide?.max(intensities?), nearby)))
    }

    fn mirrored_factor(&self, to: &DAffine3) -> Result<Option<f64>> {
        let (map, times) = mirrored(&self.intensities().0, &self.local_contrast.0, to, MIRRORED)?;
        let better = times >= MIRRORED && self.local_contrast.pose_information(&map, self.side).lead() >= CONTRAST_LEAD;
        Ok(better.then_some(times))
    }
}

/// Turns the error of an image in which there is nothing to compare into `None`.
///
/// # Errors
/// All others.
pub fn unless_empty<T>(found: Result<T>) -> Result<Option<T>> {
    match found {
        Err(Error::Option { .. }) => Ok(None),
        other => other.map(Some),
    }
}

/// The foreground of one image.
struct Foreground {
    local_contrast: Ranged,
    wide_contrast: Option<Ranged>,
    intensities: Ranged,
    /// The intensities without the rim, of a volume that was cut out.
    inner: Option<Ranged>,
}

fn foreground(which: Setting, picture: &Prepared, levels: &[Cow<Volume>]) -> Result<Foreground> {
    let flat = picture.image.geometry.is_flat();
    let (contrast, image) = LocalContrast::of(which, picture, levels, if flat { SIDE } else { SIDE_IN_SPACE })?;
    let mm = neighbourhood(&picture.image.geometry);
    let only = |image: &Volume, keep: &[bool]| image.only(|n| keep[n]);
    let wide = || normalise::locally(&image, &contrast.foreground, WIDE * mm, which);
    let wide = flat.then(wide).transpose()?.map(|wide| (only(&wide, &contrast.foreground), (-REACH, REACH)));
    // Near the rim a neighbourhood is one-sided, so that shading remains.
    let inner = normalise::without_rim(&image, &contrast.foreground, WHOLE * mm)?;
    let range = picture.intensities.range;
    let cut_out = !flat && background(&picture.image).is_some();
    Ok(Foreground {
        local_contrast: (only(&contrast.picture, &inner), (-REACH, REACH)),
        wide_contrast: wide,
        inner: cut_out.then(|| (only(&image, &inner), range)),
        intensities: (only(&image, &contrast.foreground), range),
    })
}
