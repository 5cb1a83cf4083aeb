//! The local contrast of a picture or volume.

use super::foreground::foreground_mask;
use super::normalise::{self, REACH};
use crate::error::Setting;
use crate::image::{Intensities, Prepared, extent, pyramid};
use crate::{Geometry, Result, Volume};
use rayon::prelude::*;
use std::borrow::Cow;

/// The sigma of the neighbourhoods of local contrast, as a fraction of the longest side: a few times the width of a
/// retina's widest vessels, and of the cortex of a head.
const NEIGHBOURHOOD: f64 = 0.02;
/// The most pixels along the longer side of pictures that are registered by local contrast.
const SIDE: f64 = 1000.0;

/// The local contrast of a picture.
#[derive(Clone)]
pub struct LocalContrast {
    /// -[`REACH`] to [`REACH`] in the foreground, 0 elsewhere.
    pub picture: Volume,
    /// Which pixels are foreground.
    pub foreground: Vec<bool>,
}

impl LocalContrast {
    /// Computes the local contrast of two pictures on grids of at most 1000 pixels along the longer side.
    ///
    /// # Errors
    /// Those of [`normalise::locally`].
    pub fn pair([fixed, moving]: &[Prepared; 2]) -> Result<[Self; 2]> {
        Ok([Self::of(Setting::Fixed, fixed, &[], SIDE)?.0, Self::of(Setting::Moving, moving, &[], SIDE)?.0])
    }

    /// Computes the local contrast of a picture on a grid of at most `pixels` along the longer side. Returns it with
    /// the picture on that grid. Levels of the picture's pyramid, if given, save time.
    ///
    /// # Errors
    /// Those of [`normalise::locally`].
    pub fn of(which: Setting, picture: &Prepared, levels: &[Cow<Volume>], pixels: f64) -> Result<(Self, Volume)> {
        let grid = &picture.image.geometry;
        let mm = longer_side(grid) / pixels;
        let image = pyramid::level_from(&picture.image, levels, mm).into_owned();
        let mask = picture.mask().map(|mask| pyramid::level(mask, mm));
        Ok((Self::new(which, &image, mask.as_deref(), neighbourhood(grid))?, image))
    }

    /// Computes the local contrast of a picture in its foreground, as far as `mask` is 0.5 or more. `mm` is the sigma of
    /// neighbourhoods.
    ///
    /// # Errors
    /// Those of [`normalise::locally`].
    pub fn new(which: Setting, picture: &Volume, mask: Option<&Volume>, mm: f64) -> Result<Self> {
        let foreground = normalise::without_rim(picture, &foreground_mask(picture, mask), mm)?;
        let picture = normalise::locally(picture, &foreground, mm, which)?;
        Ok(Self { picture, foreground })
    }

    /// Computes the local contrast of a volume whose foreground is all where `mask` is 0.5 or more, but for the
    /// constant background around what was cut out, such as a skull-stripped brain. With that background, the brain's
    /// edge would have the contrast of what was cut away.
    ///
    /// # Errors
    /// Those of [`normalise::locally`].
    pub fn of_whole_volume(which: Setting, volume: &Volume, mask: Option<&Volume>, mm: f64) -> Result<Self> {
        let background = background(volume);
        let is_image = |n: usize| background != Some(volume.voxels[n]) && mask.is_none_or(|mask| mask.voxels[n] >= 0.5);
        let foreground: Vec<bool> = (0..volume.voxels.len()).into_par_iter().map(is_image).collect();
        normalise::locally(volume, &foreground, mm, which).map(|picture| Self { picture, foreground })
    }

    /// Takes local contrast that is NaN in the background.
    pub fn with_nan_outside(picture: &Volume) -> Self {
        let (picture, foreground) = picture.without_nan();
        Self { picture, foreground }
    }

    /// Returns the local contrast as an image to register, with its foreground as the mask and the other facts from
    /// `of`.
    pub fn prepared(self, of: &Intensities) -> Prepared<'static> {
        let whole = self.foreground.par_iter().all(|&inside| inside);
        let mask = (!whole).then(|| Cow::Owned(self.mask()));
        let intensities = Intensities { range: (-REACH, REACH), ..*of };
        Prepared { image: Cow::Owned(self.picture), mask, intensities }
    }

    /// Resamples the local contrast to a grid of about `mm`.
    pub fn thinned(&self, mm: f64) -> Self {
        let thin = |picture: &Volume| pyramid::level(picture, mm).into_owned();
        let foreground: Vec<bool> = thin(&self.mask()).voxels.iter().map(|&part| part >= 0.5).collect();
        let picture = thin(&self.picture);
        Self { picture: picture.with(|n| if foreground[n] { picture.voxels[n] } else { 0.0 }), foreground }
    }

    /// Returns the smallest part of a picture that holds its foreground.
    pub fn cropped(&self) -> Self {
        let Geometry { size: [width, height, _], .. } = self.picture.geometry;
        let Some([columns, rows]) = extent([width, height], |n| self.foreground[n]) else { return self.clone() };
        let foreground = rows.clone().flat_map(|y| &self.foreground[y * width..][columns.clone()]).copied().collect();
        Self { picture: self.picture.cropped(&[columns, rows, 0..1]), foreground }
    }

    /// Returns the local contrast with NaN in the background.
    pub fn nan_outside(self) -> Volume {
        self.picture.only(|n| self.foreground[n])
    }

    /// Returns 1 in the foreground and 0 elsewhere.
    pub fn mask(&self) -> Volume {
        self.picture.with(|n| f32::from(u8::from(self.foreground[n])))
    }
}

/// Returns the value of a volume's eight corners if they are equal to the last bit, as around what was cut out.
pub fn background(volume: &Volume) -> Option<f32> {
    let [width, height, depth] = volume.geometry.size.map(|n| n - 1);
    let row = width + 1;
    let corner = |n: usize| (n & 1) * width + (n >> 1 & 1) * height * row + (n >> 2) * depth * row * (height + 1);
    let first = volume.voxels[0];
    (0..8).all(|n| volume.voxels[corner(n)] == first).then_some(first)
}

/// Returns a volume that was cut out with NaN in its constant background; `None` for other volumes and for 2-D images.
pub fn without_background(volume: &Volume) -> Option<Volume> {
    let background = background(volume).filter(|_| !volume.geometry.is_flat())?;
    Some(volume.only(|n| volume.voxels[n] != background))
}

/// Returns the longest side of a picture or volume, mm.
pub fn longer_side(grid: &Geometry) -> f64 {
    let side = |axis: usize| grid.size[axis] as f64 * grid.spacing[axis];
    (0..grid.dimensions()).map(side).fold(0.0, f64::max)
}

/// Returns the sigma of the neighbourhoods of a picture or volume, mm.
pub fn neighbourhood(grid: &Geometry) -> f64 {
    NEIGHBOURHOOD * longer_side(grid)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PixelType;
    use glam::DVec3;

    /// A ball filled with waves; `around` gives the voxels outside of it.
    fn ball(around: impl Fn(usize) -> f32) -> Volume {
        let geometry = Geometry::axis_aligned([24, 22, 20], DVec3::ONE, DVec3::ZERO);
        let voxel = |n: usize| {
            let p = DVec3::new((n % 24) as f64, (n / 24 % 22) as f64, (n / 528) as f64);
            let wave = 50.0 + 20.0 * (p.x * 0.9).sin() * (p.y * 0.7).cos();
            if p.distance(DVec3::new(11.0, 10.0, 9.0)) < 8.0 { wave as f32 } else { around(n) }
        };
        Volume { geometry, voxels: (0..geometry.voxels()).map(voxel).collect(), pixel: PixelType::F32 }
    }

    #[test]
    fn what_was_cut_away_has_no_part_in_the_contrasts_of_a_volume() {
        let contrast =
            |around: f32| LocalContrast::of_whole_volume(Setting::Fixed, &ball(|_| around), None, 2.0).unwrap();
        let (dark, bright) = (contrast(0.0), contrast(99.0));
        assert!(
            dark.foreground == bright.foreground && dark.foreground.iter().any(|&inside| inside) && !dark.foreground[0]
        );
        assert_eq!(dark.picture.voxels, bright.picture.voxels);
        let noise = LocalContrast::of_whole_volume(Setting::Fixed, &ball(|n| (n * n % 7) as f32), None, 2.0).unwrap();
        assert!(noise.foreground.iter().all(|&inside| inside), "noise is not background");
    }
}
