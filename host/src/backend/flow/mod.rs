//! A displacement field under way, where it is kept: what a flow does with it.

pub(super) mod cpu;
pub(super) mod device;
pub(super) mod pair;
mod table;

use crate::error::Setting;
use crate::image::StoredImage;
use crate::{Error, Result};
pub use gpu::math::flow::Known;
use gpu::math::interpolate;
use gpu::params::{Affine, VectorMaps};
use std::f64::consts::TAU;
pub use table::{Relation, Table};

/// Two images of the same anatomy as another channel's, on the same grids.
#[derive(Debug, Clone, Copy)]
pub struct FlowChannel<'a> {
    /// The image whose grid the field has, 16-bit values.
    pub fixed: &'a StoredImage,
    /// 16-bit values.
    pub moving: &'a StoredImage,
    /// For each voxel of the fixed and of the moving image 0 where it has no force; empty where all have. Of the moving image's the one
    /// nearest to a position decides.
    pub masks: [&'a [u8]; 2],
}

/// The images of a level.
#[derive(Debug, Clone, Copy)]
pub struct FlowLevel<'a> {
    /// One or more.
    pub channels: &'a [FlowChannel<'a>],
    /// From voxels of the fixed to voxels of the moving image; no number is a negative zero.
    pub map: Affine,
    /// Distances between the fixed image's voxels, mm.
    pub spacing_mm: [f64; 3],
    /// How the field of the level before lies on this grid: the old voxel where this grid's first voxel lies, and the old spacing over
    /// the new one along each axis. Without one the field begins at 0.
    pub from: Option<[[f32; 3]; 2]>,
    /// What the metrics need, one or more, of every channel.
    pub compare: &'a [Compare],
    /// The side of the blocks of a [`Half`], mm; taken to be at least a voxel.
    pub block_mm: f64,
    /// What pulls beside the images, whatever half of them does; in the order of their voxels, of which each has one at most.
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
    pub known: Known,
}

/// How images are compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Compare {
    /// By a joint histogram of so many bins of each image, 2 to 255.
    Joint { bins: u32 },
    /// By local means, in a Gaussian window of this standard deviation, mm.
    Local { window_mm: f64 },
}

/// How the two images of a channel agree.
#[derive(Debug, Clone, PartialEq)]
pub enum Agreement {
    /// The joint histogram: the pair (f, m) is at `f + bins * m`.
    Joint(Vec<u32>),
    /// The mean of the squared local correlation over the voxels inside the moving image, and their number.
    Local { correlation: f64, overlap: u64 },
}

/// What a metric of a channel is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// What the force climbs.
    pub value: f64,
    /// The information per voxel that it stands for, nats.
    pub nats: f64,
}

/// What moves the field.
#[derive(Debug, Clone, PartialEq)]
pub enum Score {
    /// The tables of [`gpu::math::flow::score`].
    Joint { scores: Vec<f32>, information: Vec<f32> },
    /// The local correlation that the last [`Climb::agreement`] looked at.
    Local,
}

/// A [`Score`], and what its forces and their precision are multiplied by.
pub type WeightedScore = (Score, f64);

/// Which voxels of the fixed image count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Half {
    Both,
    /// Those of one colour of a chessboard of blocks ([`gpu::math::flow::half`]).
    First,
    /// Those of the other colour.
    Second,
}

impl Half {
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
    /// The voxels that pull.
    pub half: Half,
    /// The standard deviation of a voxel's displacement before anything is known, mm.
    pub prior_mm: f64,
    /// The window over which voxels pull together, and what smooths the field after the step: standard deviations of Gaussians, mm; 0 for
    /// none.
    pub smooth_mm: [f64; 2],
    /// What no voxel moves further by, voxels.
    pub limit: f32,
    /// The part of the limited step that is made: half of it where two flows share it.
    pub share: f32,
}

impl FlowStep {
    /// As [`gpu::math::flow::update`] takes it, mm^-2.
    fn prior(&self) -> f32 {
        (1.0 / (self.prior_mm * self.prior_mm)) as f32
    }

    /// What the precision of a landmark is multiplied by on a grid of this size: after the window of the step it counts at its voxel as if
    /// all voxels of the window knew that displacement.
    fn of_landmark(&self, size: [u32; 3], spacing_mm: [f64; 3]) -> f32 {
        let axes = (0..3).filter(|&axis| size[axis] > 1);
        // The inverse of the largest weight that a Gaussian gives.
        let voxels = axes.map(|axis| (TAU.sqrt() * self.smooth_mm[0] / spacing_mm[axis]).max(1.0));
        voxels.product::<f64>() as f32
    }
}

/// The way back of a field.
#[derive(Debug, Clone, PartialEq)]
pub struct FlowInverse {
    /// For each voxel of the grid asked for what the [`VectorMaps`] make of the displacement, in voxels of the field's grid, from where the
    /// voxel lies on that to the point that the field takes there.
    pub vectors: Vec<[f32; 3]>,
    /// How far the way there and back ends from where it began, over the voxels that the field takes inside the grid asked for, mm.
    pub mean_mm: f64,
    pub worst_mm: f64,
}

/// Displacement fields ([`gpu::math::field`]) that flow between two images: one, or two that meet.
pub trait Climb {
    /// How the images agree at the field as it is, over the voxels of a half: for each channel what each of [`FlowLevel::compare`] says.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where the device gives up.
    fn agreement(&mut self, half: Half) -> Result<Vec<Agreement>>;

    /// Moves the field along the update field v ([`gpu::math::flow::update`]): u becomes v + u(x + v), smoothed. There is a score for each
    /// agreement; their forces and precisions are added up.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where the device gives up.
    fn step(&mut self, scores: &[WeightedScore], step: &FlowStep) -> Result<()>;

    /// Climbs a relation of each channel, times a weight, by at most `most` steps, if there is nothing but joint histograms: as
    /// [`Climb::agreement`] of all voxels, [`Table`] and [`Climb::step`] would, but the host is not waited for. `go_on` hears what they are
    /// before each step and at the end, and says whether to make one. Returns whether it was done: `false` where that would be no sooner.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where the device gives up, and those of `go_on`.
    fn climb(
        &mut self,
        _relations: &[(Relation, f64)],
        _step: &FlowStep,
        _most: usize,
        _go_on: &mut dyn FnMut(&[Measured]) -> Result<bool>,
    ) -> Result<bool> {
        Ok(false)
    }

    /// Smooths the field by Gaussians, mm.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where the device gives up.
    fn smooth(&mut self, mm: f64) -> Result<()>;

    /// Averages the field with what lies around ([`gpu::math::field::relaxed`]) where the determinant of the Jacobian is outside `limits`,
    /// and close by, as often as there are such voxels, at most `rounds` times. The limits of the first of two fields are the reciprocals.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where the device gives up.
    fn relax(&mut self, limits: [f32; 2], rounds: u32) -> Result<()>;

    /// The determinant of the Jacobian of x + u(x) at every voxel ([`gpu::math::field::jacobian`]): the smallest and the largest.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where the device gives up.
    fn jacobian_range(&mut self) -> Result<[f32; 2]>;
}

/// A displacement field on the grid of the fixed image.
pub trait Flow: Climb {
    /// Goes on at another level.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where memory is short.
    fn level(&mut self, level: &FlowLevel) -> Result<()>;

    /// Replaces the field by one on another grid of `size`, three planes, which lies on this one as [`FlowLevel::from`] says.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where memory is short.
    ///
    /// # Panics
    /// Where there are fewer numbers than three planes.
    fn take(&mut self, planes: &[f32], size: [usize; 3], from: [[f32; 3]; 2]) -> Result<()>;

    /// Takes the field to another grid, as [`FlowLevel::from`] says, without images.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where memory is short.
    fn refine(&mut self, size: [usize; 3], spacing_mm: [f64; 3], from: [[f32; 3]; 2]) -> Result<()>;

    /// The field's three planes.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where the device gives up.
    fn field(&mut self) -> Result<Vec<f32>>;

    /// How far the voxels go, mm.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where memory is short.
    fn vectors(&mut self, maps: &VectorMaps) -> Result<Vec<[f32; 3]>>;

    /// The determinants of [`Climb::jacobian_range`].
    ///
    /// # Errors
    /// [`crate::Error::Device`] where the device gives up.
    fn jacobians(&mut self) -> Result<Vec<f32>>;

    /// An image's intensities, trilinear, where the field and then `map` take the voxels of its grid; 0 outside the image.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where memory is short.
    fn moved(&mut self, image: &crate::Volume, map: &Affine) -> Result<Vec<f32>>;

    /// The way back on a grid of `size`: the first map takes voxels of the field's grid to voxels of that one, the second the other way.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where memory is short.
    fn inverse(&mut self, size: [usize; 3], maps: [&Affine; 2], vectors: &VectorMaps) -> Result<FlowInverse>;
}

/// Two displacement fields on one grid in the middle, from where they lead to both images. Each is moved by the forces of its own image;
/// the other one, as its field moves it, is what that is compared with. Agreements and scores are those of the first field's image
/// as the fixed one's partner, and then of the second one's.
pub trait FlowPair: Climb {
    /// Goes on at another level. In the first field's level the moving image is one of the two, in the second's the other one. The fixed
    /// images, on the grid in the middle, and their masks, which have a number for each voxel, are replaced by what the other field
    /// shows.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where memory is short.
    fn level(&mut self, levels: [&FlowLevel; 2]) -> Result<()>;

    /// Replaces the second field by this one, as [`Flow::take`] says, and the first one by its opposite.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where memory is short.
    ///
    /// # Panics
    /// As [`Flow::take`].
    fn take(&mut self, planes: &[f32], size: [usize; 3], from: [[f32; 3]; 2]) -> Result<()>;

    /// The three planes of each field.
    ///
    /// # Errors
    /// [`crate::Error::Device`] where the device gives up.
    fn fields(&mut self) -> Result<[Vec<f32>; 2]>;
}

/// How often a field is relaxed at most where it changes volumes too much: see [`Climb::relax`].
pub(crate) const RELAXED_ROUNDS: u32 = 500;

/// The planes of a field with their padding.
pub(crate) fn padded(planes: &[f32], size: [usize; 3]) -> Vec<f32> {
    let mut field = planes[..3 * size.iter().product::<usize>()].to_vec();
    field.resize(field.len() + interpolate::padding(size.map(|n| n as u32)), 0.0);
    field
}

/// The squares of distances between voxels, mm^2.
fn squares(spacing_mm: [f64; 3]) -> [f32; 3] {
    spacing_mm.map(|mm| (mm * mm) as f32)
}

/// The error of a flow that has not begun.
fn no_level() -> Error {
    Error::option(Setting::Levels, "a flow has no images before its first level")
}

/// The error of a step by another metric than the level's.
fn other_metric() -> Error {
    Error::option(Setting::Force, "the scores are not those of the force of this level")
}

/// The grid of the images, which all channels and landmarks have.
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

/// What allocations take beside what they hold, and small ones, bytes.
const ROUNDED: u64 = 32 << 20;

/// What a flow compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlowLoad {
    pub channels: u64,
    /// By what of [`Compare`], in each channel.
    pub joint: bool,
    pub local: bool,
}

impl FlowLoad {
    /// Bytes per voxel of what each channel keeps of the fixed image: two local means, and three of both images where those of another
    /// metric cannot be in the same place.
    pub fn means(self) -> u64 {
        let several = self.channels > 1 || self.joint;
        if self.local { 8 + if several { 12 } else { 0 } } else { 0 }
    }
}

/// Bytes of a device's memory that a flow takes at most on a grid of this size with a moving image of that one.
pub fn bytes(fixed: [usize; 3], moving: [usize; 3], load: FlowLoad) -> u64 {
    let [(fixed, fixed_padding), (moving, moving_padding)] = [fixed, moving].map(|size| {
        let voxels = size.iter().map(|&n| n as u64).product::<u64>();
        (voxels, interpolate::padding(size.map(|n| n as u32)) as u64)
    });
    let field = |voxels, padding| 4 * (3 * voxels + padding);
    // Two fields and precisions.
    let of_field = 2 * field(fixed, fixed_padding) + 4 * fixed;
    // Of each channel 16-bit values and a mask, joint indices and local means; pairs of 16-bit values of the moving image and a mask.
    let joint = if load.joint { 2 } else { 0 };
    let of_channel = (2 + 1 + joint + load.means()) * fixed + 4 * (moving + moving_padding) + moving;
    // At the end vectors, or a way back and its vectors, which are more than an image.
    let ends = (12 * fixed).max(field(moving, moving_padding) + 12 * moving);
    of_field + load.channels * of_channel + ends + ROUNDED
}
