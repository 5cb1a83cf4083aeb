//! What the user may choose.

use super::{Channel, Compared, Force, Forces, Landmarks, Start, channels, levels};
use crate::backend::FlowLoad;
use crate::error::Setting;
use crate::image::{IntensityRange, Prepared};
use crate::metric;
use crate::registration::check;
use crate::transform::Kind;
use crate::{Error, Result, Volume};
use std::ops::RangeInclusive;

/// What [`Engine::deform`](crate::Engine::deform) is to do.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where the flow starts.
    pub start: Start,
    /// What pulls.
    pub force: Forces,
    /// More images of the same anatomy, which pull together with the two.
    pub extra: Vec<Channel>,
    /// Both images flow to the middle between them, so that exchanged images have the inverse field.
    pub symmetric: bool,
    /// Grids of the levels, mm, coarse to fine; `None` for 8, 4, 2 and 1 times the fixed image's smallest spacing, of which small images get fewer.
    pub levels: Option<Vec<f64>>,
    /// Iterations of each level at most, coarse to fine; the last number is for all further levels too. `None`
    /// for 12 on the finest, 50 on the one before and 100 on coarser ones.
    pub iterations: Option<Vec<usize>>,
    /// The standard deviation of the Gaussian that smooths each step, mm at the finest level; on coarser ones it grows with their grids.
    /// `None` for three times the other; where neither is given, both are found from the images.
    pub smooth_mm: Option<f64>,
    /// The same of the Gaussian that smooths the field after each step; 0 for none. `None` for a third of the other.
    pub smooth_field_mm: Option<f64>,
    /// Bins per side of the joint histogram, 8 to 255.
    pub bins: u32,
    /// On the fixed image's grid: its voxels of less than 0.5 have no force, and the regularisation fills them in.
    pub fixed_mask: Option<Volume>,
    /// On the moving image's grid: what lies where it is less than 0.5 has no force.
    pub moving_mask: Option<Volume>,
    /// What pulls beside the images.
    pub landmarks: Option<Landmarks>,
    /// The intensities that are looked at, of each image.
    pub fixed_range: IntensityRange,
    pub moving_range: IntensityRange,
    /// Whether the moving image is resampled on the fixed image's grid at the end.
    pub moved: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            start: Start::Register(Kind::Affine),
            force: Forces::default(),
            extra: Vec::new(),
            symmetric: false,
            levels: None,
            iterations: None,
            smooth_mm: None,
            smooth_field_mm: None,
            bins: 100,
            fixed_mask: None,
            moving_mask: None,
            landmarks: None,
            fixed_range: IntensityRange::Auto,
            moving_range: IntensityRange::Auto,
            moved: true,
        }
    }
}

impl Options {
    /// Bins that there may be.
    pub const BINS: RangeInclusive<u32> = 8..=255;

    /// Whether there are several metrics, or one of several channels.
    pub(super) fn several(&self, compared: Compared) -> bool {
        self.force.all().len() * self.weights(compared).len() > 1
    }

    /// By what the forces of each channel and their precision are multiplied.
    pub(super) fn weights(&self, compared: Compared) -> Vec<f64> {
        let extra = self.extra.iter().map(|channel| channel.weight);
        std::iter::once(1.0).chain(extra).chain((compared == Compared::Both).then_some(1.0)).collect()
    }

    /// What a flow compares.
    pub(super) fn load(&self, compared: Compared) -> FlowLoad {
        let local = self.force.has(Force::Lcc);
        let joint = self.force.all().iter().any(|weighted| weighted.force != Force::Lcc);
        FlowLoad { channels: self.weights(compared).len() as u64, joint, local }
    }

    /// Prepares the images of each channel, unless they cannot be registered, whatever the start.
    ///
    /// # Errors
    /// [`Error::Option`] says why.
    pub(super) fn prepare<'a>(&'a self, fixed: &'a Volume, moving: &'a Volume) -> Result<Vec<[Prepared<'a>; 2]>> {
        let refused = |setting, text: String| Err(Error::option(setting, text));
        if !Self::BINS.contains(&self.bins) {
            let (bins, most) = (self.bins, Self::BINS.end());
            return refused(
                Setting::Bins,
                format!("{bins} bins: a deformation takes {} to {most} bins per side", Self::BINS.start()),
            );
        }
        let positive =
            |mm: Option<f64>, zero: bool| mm.is_none_or(|mm| mm.is_finite() && (mm > 0.0 || zero && mm == 0.0));
        if !positive(self.smooth_mm, false) {
            return refused(Setting::SmoothMm, "the update field must be smoothed by more than 0 mm".into());
        }
        if !positive(self.smooth_field_mm, true) {
            return refused(Setting::SmoothFieldMm, "the field must be smoothed by 0 mm or more".into());
        }
        if self.iterations.as_ref().is_some_and(|all| all.is_empty() || all.contains(&0)) {
            return refused(Setting::Iterations, "each level takes 1 iteration or more".into());
        }
        if let Some(levels) = &self.levels {
            check::levels(levels)?;
            levels::check(levels, [&fixed.geometry, &moving.geometry])?;
        }
        if let Some(landmarks) = &self.landmarks {
            landmarks.check([&fixed.geometry, &moving.geometry])?;
        }
        let masks = [self.fixed_mask.as_ref(), self.moving_mask.as_ref()];
        let images = metric::check::images([fixed, moving], masks, [self.fixed_range, self.moving_range])?;
        let mut all = vec![images.map(Prepared::without_masked)];
        for extra in &self.extra {
            all.push(channels::prepare(extra, [fixed, moving], masks)?.map(Prepared::without_masked));
        }
        Ok(all)
    }
}
