//! The two images of a level in a device's memory.

use super::grid::FieldOnDevice;
use super::joint::Joint;
use super::local::Local;
use crate::Result;
use crate::backend::flow::{Compare, FlowLevel, Half};
use crate::backend::queue::{Memory, Queue};
use gpu::params::{self, Affine};

/// A level's images, and how they are compared.
pub struct LevelOnDevice<Q: Queue> {
    fixed: Q::Memory<u16>,
    moving: Q::Memory<u32>,
    /// Of the fixed and of the moving image; of one number where there is none.
    masks: [Q::Memory<u8>; 2],
    masked: [u32; 2],
    moving_size: [u32; 3],
    map: Affine,
    blocks: [f32; 3],
    pub metric: Metric<Q>,
}

/// How images are compared.
pub enum Metric<Q: Queue> {
    Joint(Joint<Q>),
    Local(Local<Q>),
}

impl<Q: Queue> LevelOnDevice<Q> {
    /// Uploads the images, the fixed one of the grid's size.
    pub fn new(queue: &Q, grid: &mut FieldOnDevice<Q>, level: &FlowLevel) -> Result<Self> {
        let metric = match level.compare {
            Compare::Joint { bins } => Metric::Joint(Joint::new(queue, grid.voxels(), bins)?),
            Compare::Local { window_mm } => Metric::Local(Local::new(queue, grid.voxels(), window_mm)?),
        };
        let mask = |mask: &[u8]| queue.upload(if mask.is_empty() { &[1] } else { mask });
        let mut level = Self {
            fixed: queue.upload(level.fixed.voxels())?,
            moving: queue.upload(&level.moving.words(true))?,
            masks: [mask(level.masks[0])?, mask(level.masks[1])?],
            masked: level.masks.map(|mask| u32::from(!mask.is_empty())),
            moving_size: level.moving.size.map(|n| n as u32),
            map: level.map,
            blocks: level.blocks(),
            metric,
        };
        let images = level.images(grid, Half::Both);
        if let Metric::Local(local) = &mut level.metric {
            local.look_at_fixed(queue, images, grid)?;
        }
        Ok(level)
    }

    /// The images with the field as it is, of which a half counts.
    pub fn images(&self, grid: &FieldOnDevice<Q>, half: Half) -> params::FlowImages {
        params::FlowImages {
            fixed: self.fixed.view(),
            moving: self.moving.view(),
            field: grid.field.view(),
            fixed_mask: self.masks[0].view(),
            moving_mask: self.masks[1].view(),
            map: self.map,
            size: grid.size,
            moving_size: self.moving_size,
            masked: self.masked,
            halves: half.number(),
            blocks: self.blocks,
        }
    }
}
