//! The options of a deformation.

use super::{Channel, Compared, Force, Forces, Landmarks, Start, channels, levels};
use crate::backend::FlowLoad;
use crate::error::Setting;
use crate::image::{IntensityRange, Prepared};
use crate::metric;
use crate::registration::check;
use crate::transform::Kind;
use crate::{Error, Result, Volume};
use std::ops::RangeInclusive;

/// Options of [`Engine::deform`](crate::Engine::deform).
#[derive(Debug, Clone)]
pub struct Options {
    /// The linear transform that the flow starts from.
    pub start: Start,
    /// The metric that drives the flow, or several with weights.
    pub force: Forces,
    /// Further pairs of images of the same anatomy, which drive the flow together with the fixed and the moving image.
    pub extra: Vec<Channel>,
    /// Whether both images are deformed to a grid in the middle between them (symmetric mode), so that exchanging the
    /// images inverts the field.
    pub symmetric: bool,
    /// Grid spacings of the levels, mm, coarse to fine. `None` for 8, 4, 2 and 1 times the fixed image's smallest
    /// spacing or, in symmetric mode, that of the grid in the middle. Small images then get fewer levels, and large 2-D
    /// images end at a multiple of the spacing.
    pub levels: Option<Vec<f64>>,
    /// The maximum number of iterations at each level, coarse to fine; the last number also applies to all further
    /// levels. `None` for 12 at the finest level, 50 at the one before and 100 at coarser ones; 100 for a single level. If
    /// parts move by themselves, a finest level of up to 1,048,576 voxels has 50.
    pub iterations: Option<Vec<usize>>,
    /// The standard deviation of the Gaussian that smooths each update field, mm at the finest level; at coarser levels
    /// it grows with the grid spacing. `None` for three times `smooth_field_mm`, and at least the finest spacing. If
    /// neither is given, both are found from the images.
    pub smooth_mm: Option<f64>,
    /// The same for the whole displacement field after each iteration; 0 for no smoothing. `None` for a third of
    /// `smooth_mm`.
    pub smooth_field_mm: Option<f64>,
    /// Bins per side of the joint histogram, 8 to 255.
    pub bins: u32,
    /// A mask on the fixed image's grid. Voxels below 0.5 exert no force; there, the regularisation carries the field
    /// on from its surroundings.
    pub fixed_mask: Option<Volume>,
    /// A mask on the moving image's grid. Voxels that are displaced to where it is below 0.5 exert no force.
    pub moving_mask: Option<Volume>,
    /// Pairs of landmarks that drive the flow beside the images.
    pub landmarks: Option<Landmarks>,
    /// The intensity range of each image; intensities outside are clamped.
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
    /// The numbers of bins that are accepted.
    pub const BINS: RangeInclusive<u32> = 8..=255;

    /// Returns whether there are several terms: several metrics, or one metric of several channels.
    pub(super) fn several(&self, compared: Compared) -> bool {
        self.force.all().len() * self.weights(compared).len() > 1
    }

    /// Returns the weight of each channel, by which its forces and their precisions are multiplied.
    pub(super) fn weights(&self, compared: Compared) -> Vec<f64> {
        let extra = self.extra.iter().map(|channel| channel.weight);
        std::iter::once(1.0).chain(extra).chain((compared == Compared::Both).then_some(1.0)).collect()
    }

    /// Returns what a flow compares, which determines the memory that it needs.
    pub(super) fn load(&self, compared: Compared) -> FlowLoad {
        let local = self.force.has(Force::Lcc);
        let joint = self.force.all().iter().any(|weighted| weighted.force != Force::Lcc);
        FlowLoad { channels: self.weights(compared).len() as u64, joint, local }
    }

    /// Prepares the images of each channel: the fixed and the moving image first, then the extra pairs.
    ///
    /// # Errors
    /// [`Error::Option`] if the options, images, masks or landmarks cannot be used, whatever the start.
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
