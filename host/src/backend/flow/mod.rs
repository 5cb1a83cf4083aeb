//! The interface to displacement fields that are being optimised, on the CPU or on a device.

pub(super) mod cpu;
pub(super) mod device;
mod load;
pub(super) mod pair;
mod table;

use crate::error::Setting;
use crate::image::StoredImage;
use crate::{Error, Result};
pub use gpu::math::flow::KnownDisplacement;
use gpu::math::interpolate;
use gpu::params::{Affine, VectorMaps};
pub use load::{FlowLoad, bytes};
use std::f64::consts::TAU;
pub use table::{Relation, Table};

/// A fixed and a moving image. All channels show the same anatomy on the same two grids.
#[derive(Debug, Clone, Copy)]
pub struct FlowChannel<'a> {
    /// The image on whose grid the field is defined, as 16-bit values.
    pub fixed: &'a StoredImage,
    /// 16-bit values.
    pub moving: &'a StoredImage,
    /// Masks of the fixed and of the moving image, one number per voxel. Where it is 0 there is no force. An empty mask
    /// keeps all voxels. The mask of the moving image is read at the voxel nearest to a position.
    pub masks: [&'a [u8]; 2],
}

/// The images of a level.
#[derive(Debug, Clone, Copy)]
pub struct FlowLevel<'a> {
    /// One or more.
    pub channels: &'a [FlowChannel<'a>],
    /// Maps voxels of the fixed image to voxels of the moving image. No number may be a negative zero.
    pub map: Affine,
    /// Distances between the fixed image's voxels, mm.
    pub spacing_mm: [f64; 3],
    /// How the grid of the field of the level before lies on this one: the position of this grid's first voxel in
    /// voxels of the old grid, and the old spacing divided by the new one along each axis. If `None`, the field starts
    /// at 0.
    pub from: Option<[[f32; 3]; 2]>,
    /// The metrics of every channel, one or more.
    pub compare: &'a [Compare],
    /// The side of the blocks of a [`Halves`], in mm. Blocks are never smaller than a voxel.
    pub block_mm: f64,
    /// Landmarks, which have forces whichever half of the images counts. Sorted by voxel, at most one for each.
    pub landmarks: &'a [FlowLandmark],
}

impl FlowLevel<'_> {
    /// As [`gpu::math::flow::half`] takes them.
    fn blocks(&self) -> [f32; 3] {
        self.spacing_mm.map(|mm| (mm / self.block_mm).min(1.0) as f32)
    }
}

/// A voxel of the fixed image whose displacement is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FlowLandmark {
    /// Its index in memory.
    pub voxel: u32,
    pub known: KnownDisplacement,
}

/// A metric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Compare {
    /// Computed from a joint histogram with `bins` bins for each image, 2 to 255.
    Joint { bins: u32 },
    /// Local correlation in a Gaussian window. `window_mm` is its standard deviation in mm.
    Local { window_mm: f64 },
}

/// How well the two images of a channel agree by one metric.
#[derive(Debug, Clone, PartialEq)]
pub enum Agreement {
    /// The joint histogram: the pair (f, m) is at `f + bins * m`.
    Joint(Vec<u32>),
    /// The mean of the squared local correlation over the voxels that count, and their number.
    Local { correlation: f64, overlap: u64 },
}

/// The value of a metric of a channel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// The value that the forces maximise.
    pub value: f64,
    /// The information per voxel that corresponds to the value, in nats.
    pub nats: f64,
}

/// What the forces of a metric are computed from.
#[derive(Debug, Clone, PartialEq)]
pub enum Score {
    /// The tables of [`gpu::math::flow::score`].
    Joint { scores: Vec<f32>, information: Vec<f32> },
    /// The local means of the last [`FieldOptimizer::agreement`].
    Local,
}

/// A [`Score`], and the weight by which its forces and precisions are multiplied.
pub type WeightedScore = (Score, f64);

/// Which voxels of the fixed image count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Halves {
    Both,
    /// Those of one colour of a chessboard of blocks ([`gpu::math::flow::half`]).
    First,
    /// Those of the other colour.
    Second,
}

impl Halves {
    /// As [`gpu::params::FlowImages::halves`].
    fn number(self) -> u32 {
        match self {
            Self::First => 1,
            Self::Second => 2,
            Self::Both => 3,
        }
    }
}

/// A step of the field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FlowStep {
    /// The voxels that have forces.
    pub half: Halves,
    /// The standard deviation of the normal prior of a voxel's displacement, in mm.
    pub prior_mm: f64,
    /// Standard deviations in mm of two Gaussians, 0 for none. The first smooths forces and precisions, the second the
    /// field after the step.
    pub smooth_mm: [f64; 2],
    /// The largest displacement of a step, in voxels.
    pub limit: f32,
    /// The fraction of the limited step that is made: 0.5 if two flows share it.
    pub share: f32,
}

impl FlowStep {
    /// As [`gpu::math::flow::update`] takes it, mm^-2.
    fn prior(&self) -> f32 {
        (1.0 / (self.prior_mm * self.prior_mm)) as f32
    }

    /// The factor of a landmark's precision on a grid of this size. After forces and precisions are smoothed, a
    /// landmark thereby counts at its voxel as if all voxels in the window had it.
    fn landmark_weight(&self, size: [u32; 3], spacing_mm: [f64; 3]) -> f32 {
        let axes = (0..3).filter(|&axis| size[axis] > 1);
        // The inverse of the Gaussian's largest weight, at its centre.
        let voxels = axes.map(|axis| (TAU.sqrt() * self.smooth_mm[0] / spacing_mm[axis]).max(1.0));
        voxels.product::<f64>() as f32
    }
}

/// A field that the smoothing of another one leaves as it is: after a step, only the difference from it is smoothed.
#[derive(Debug, Clone, Copy)]
pub struct FlowReference<'a> {
    /// As [`Flow::take`] has them.
    pub planes: &'a [f32],
    pub size: [usize; 3],
    pub from: [[f32; 3]; 2],
    /// The standard deviation in mm of the Gaussian that smooths the field: see [`FlowStep::smooth_mm`].
    pub smooth_mm: f64,
}

/// The inverse of a field.
#[derive(Debug, Clone, PartialEq)]
pub struct FlowInverse {
    /// One vector for each voxel of the grid asked for. It is the displacement from the voxel's position to the point
    /// that the field maps there, in voxels of the field's grid, converted by the [`VectorMaps`].
    pub vectors: Vec<[f32; 3]>,
    /// The distance between a voxel and where the field and then its inverse take it, in mm: the mean over the voxels
    /// that the field takes inside the grid asked for.
    pub mean_mm: f64,
    pub worst_mm: f64,
}

/// The optimisation of displacement fields ([`gpu::math::field`]) between two images: of one field, or of two that
/// meet.
pub trait FieldOptimizer {
    /// Measures how well the images agree with the present field, over the voxels of a half. Returns one result per
    /// channel and metric of [`FlowLevel::compare`].
    ///
    /// # Errors
    /// [`crate::Error::Device`] if the device fails.
    fn agreement(&mut self, half: Halves) -> Result<Vec<Agreement>>;

    /// Makes a step: computes the update field v ([`gpu::math::flow::update`]), and replaces the field u by v + u(x +
    /// v), smoothed. `scores` has one for each agreement; their forces and precisions are added up.
    ///
    /// # Errors
    /// [`crate::Error::Device`] if the device fails.
    fn step(&mut self, scores: &[WeightedScore], step: &FlowStep) -> Result<()>;

    /// Makes at most `most` steps that maximise one relation per channel, each times its weight. Gives the same result
    /// as [`FieldOptimizer::agreement`] over all voxels, [`Table`] and [`FieldOptimizer::step`] in turn, but without a
    /// wait for the host in each step. `go_on` is called with the values before each step, and returns whether to make
    /// it; it is also called after the last step. Returns `false` if nothing was done, because there are other metrics
    /// than joint histograms or because this would not be faster.
    ///
    /// # Errors
    /// [`crate::Error::Device`] if the device fails, and the errors of `go_on`.
    fn maximise(
        &mut self,
        _relations: &[(Relation, f64)],
        _step: &FlowStep,
        _most: usize,
        _go_on: &mut dyn FnMut(&[Measured]) -> Result<bool>,
    ) -> Result<bool> {
        Ok(false)
    }

    /// Smooths the field by a Gaussian with a standard deviation of `mm`.
    ///
    /// # Errors
    /// [`crate::Error::Device`] if the device fails.
    fn smooth(&mut self, mm: f64) -> Result<()>;

    /// Averages the field over neighbours ([`gpu::math::field::relaxed`]) at and near voxels whose Jacobian determinant
    /// is outside `limits`. Repeats this until there are no such voxels, at most `rounds` times. Of two fields that
    /// meet, the first has the reciprocals as its limits.
    ///
    /// # Errors
    /// [`crate::Error::Device`] if the device fails.
    fn relax(&mut self, limits: [f32; 2], rounds: u32) -> Result<()>;

    /// The smallest and the largest determinant of the Jacobian of x + u(x) over all voxels
    /// ([`gpu::math::field::jacobian`]).
    ///
    /// # Errors
    /// [`crate::Error::Device`] if the device fails.
    fn jacobian_range(&mut self) -> Result<[f32; 2]>;
}

/// A displacement field on the grid of the fixed image.
pub trait Flow: FieldOptimizer {
    /// Continues at another level.
    ///
    /// # Errors
    /// [`crate::Error::Device`] if the device's memory does not suffice.
    fn level(&mut self, level: &FlowLevel) -> Result<()>;

    /// Replaces the field by another one, given as three planes on a grid of `size`, which is resampled on the present
    /// grid. `from` is as in [`FlowLevel::from`].
    ///
    /// # Errors
    /// [`crate::Error::Device`] if the device's memory does not suffice.
    ///
    /// # Panics
    /// If there are fewer numbers than three planes have.
    fn take(&mut self, planes: &[f32], size: [usize; 3], from: [[f32; 3]; 2]) -> Result<()>;

    /// Gives the steps that follow on this level a reference, or none.
    ///
    /// # Errors
    /// [`crate::Error::Device`] if the device's memory does not suffice.
    ///
    /// # Panics
    /// As [`Flow::take`].
    fn refer_to(&mut self, reference: Option<&FlowReference>) -> Result<()>;

    /// Resamples the field on another grid, without images. `from` is as in [`FlowLevel::from`].
    ///
    /// # Errors
    /// [`crate::Error::Device`] if the device's memory does not suffice.
    fn refine(&mut self, size: [usize; 3], spacing_mm: [f64; 3], from: [[f32; 3]; 2]) -> Result<()>;

    /// The field's three planes.
    ///
    /// # Errors
    /// [`crate::Error::Device`] if the device fails.
    fn field(&mut self) -> Result<Vec<f32>>;

    /// The displacement vectors of all voxels, in mm.
    ///
    /// # Errors
    /// [`crate::Error::Device`] if the device's memory does not suffice.
    fn vectors(&mut self, maps: &VectorMaps) -> Result<Vec<[f32; 3]>>;

    /// The determinant of the Jacobian at every voxel: see [`FieldOptimizer::jacobian_range`].
    ///
    /// # Errors
    /// [`crate::Error::Device`] if the device fails.
    fn jacobians(&mut self) -> Result<Vec<f32>>;

    /// Resamples an image: its trilinear intensity where the field and then `map` take each voxel of the field's grid;
    /// 0 outside the image.
    ///
    /// # Errors
    /// [`crate::Error::Device`] if the device's memory does not suffice.
    fn moved(&mut self, image: &crate::Volume, map: &Affine) -> Result<Vec<f32>>;

    /// The inverse field on a grid of `size`. The first of `maps` maps voxels of the field's grid to voxels of that
    /// grid, the second the other way.
    ///
    /// # Errors
    /// [`crate::Error::Device`] if the device's memory does not suffice.
    fn inverse(&mut self, size: [usize; 3], maps: [&Affine; 2], vectors: &VectorMaps) -> Result<FlowInverse>;
}

/// Two displacement fields on one grid in the middle, from where each leads to one of the images. Each field moves by
/// the forces of its own image, which is compared with the other image as resampled through the other field. Agreements
/// and scores are listed for the first field and then for the second.
pub trait FlowPair: FieldOptimizer {
    /// Continues at another level. The moving images of the two levels are the two images. The fixed images and their
    /// masks, on the grid in the middle, are replaced by the image that the other field gives. The masks must have a
    /// number for each voxel.
    ///
    /// # Errors
    /// [`crate::Error::Device`] if the device's memory does not suffice.
    fn level(&mut self, levels: [&FlowLevel; 2]) -> Result<()>;

    /// Replaces the second field by the given one, as [`Flow::take`] does, and the first field by its negative.
    ///
    /// # Errors
    /// [`crate::Error::Device`] if the device's memory does not suffice.
    ///
    /// # Panics
    /// As [`Flow::take`].
    fn take(&mut self, planes: &[f32], size: [usize; 3], from: [[f32; 3]; 2]) -> Result<()>;

    /// The three planes of each field.
    ///
    /// # Errors
    /// [`crate::Error::Device`] if the device fails.
    fn fields(&mut self) -> Result<[Vec<f32>; 2]>;
}

/// The most rounds of relaxation of a field: see [`FieldOptimizer::relax`].
pub(crate) const RELAXED_ROUNDS: u32 = 500;

/// Returns the planes of a field with padding.
pub(crate) fn padded(planes: &[f32], size: [usize; 3]) -> Vec<f32> {
    let mut field = planes[..3 * size.iter().product::<usize>()].to_vec();
    field.resize(field.len() + interpolate::padding(size.map(|n| n as u32)), 0.0);
    field
}

/// The squares of the spacing, in mm^2.
fn squares(spacing_mm: [f64; 3]) -> [f32; 3] {
    spacing_mm.map(|mm| (mm * mm) as f32)
}

/// Converts a standard deviation from mm to voxels along each axis; 0 along an axis of one voxel.
fn sigmas(mm: f64, size: [usize; 3], spacing_mm: [f64; 3]) -> [f64; 3] {
    [0, 1, 2].map(|axis: usize| if size[axis] > 1 { mm / spacing_mm[axis] } else { 0.0 })
}

/// The error of calls before the first level.
fn no_level() -> Error {
    Error::option(Setting::Levels, "a flow has no images before its first level")
}

/// The error of a step whose scores are not of the level's metrics.
fn other_metric() -> Error {
    Error::option(Setting::Force, "the scores are not those of the force of this level")
}

/// Returns the size of the fixed images' grid, after checking that all channels and landmarks agree with it.
fn size_of(level: &FlowLevel) -> Result<[usize; 3]> {
    let mut sizes = level.channels.iter().map(|channel| [channel.fixed.size, channel.moving.size]);
    let size = match (sizes.next(), level.compare) {
        (Some(first), [_, ..]) if sizes.all(|size| size == first) => first[0],
        _ => return Err(Error::option(Setting::Fixed, "a flow takes channels on the same grids, and a metric")),
    };
    let voxels = || level.landmarks.iter().map(|landmark| landmark.voxel);
    match voxels().is_sorted_by(|a, b| a < b) && voxels().all(|voxel| (voxel as usize) < size.iter().product()) {
        true => Ok(size),
        false => {
            Err(Error::option(Setting::FixedPoints, "a flow takes landmarks at voxels of its grid, in their order"))
        }
    }
}
