//! The images of a level in a device's memory, and how they are compared.

use super::grid::FieldOnDevice;
use super::joint::Joint;
use super::kernels::FLOW_SHOW;
use super::landmarks::Landmarks;
use super::launch;
use super::local::Local;
use crate::Result;
use crate::backend::flow::{
    Agreement, Compare, FlowChannel, FlowLevel, Half, Measured, Relation, Score, WeightedScore, other_metric,
};
use crate::backend::queue::{Memory, Queue};
use gpu::params::{self, Affine, FlowImages};

/// The images of a level.
pub struct LevelOnDevice<Q: Queue> {
    channels: Vec<ChannelOnDevice<Q>>,
    map: Affine,
    blocks: [f32; 3],
    pub landmarks: Landmarks<Q>,
}

/// A channel's images, and how they are compared.
struct ChannelOnDevice<Q: Queue> {
    images: Images<Q>,
    metrics: Vec<Metric<Q>>,
}

struct Images<Q: Queue> {
    fixed: Q::Memory<u16>,
    moving: Q::Memory<u32>,
    /// Of the fixed and of the moving image; of one number where there is none.
    masks: [Q::Memory<u8>; 2],
    masked: [u32; 2],
    moving_size: [u32; 3],
}

impl<Q: Queue> ChannelOnDevice<Q> {
    /// The images and their joint histogram, if there is nothing else.
    fn joint(&mut self) -> Option<(&Images<Q>, &mut Joint<Q>)> {
        match &mut self.metrics[..] {
            [Metric::Joint(joint)] => Some((&self.images, joint)),
            _ => None,
        }
    }
}

/// How images are compared.
enum Metric<Q: Queue> {
    Joint(Joint<Q>),
    Local(Local<Q>),
}

/// A level whose channels have a joint histogram each and nothing else.
pub struct Joints<'a, Q: Queue> {
    channels: Vec<(&'a Images<Q>, &'a mut Joint<Q>)>,
    at: (Affine, [f32; 3]),
    pub landmarks: &'a Landmarks<Q>,
}

impl<Q: Queue> Joints<'_, Q> {
    /// Whether there are so many.
    pub fn are(&self, channels: usize) -> bool {
        self.channels.len() == channels
    }

    /// Queues making place for the first look.
    pub fn clear(&mut self, queue: &Q) -> Result<()> {
        self.channels.iter_mut().try_for_each(|(_, joint)| joint.clear(queue))
    }

    /// Queues looking at how the images agree, by a relation of each channel.
    pub fn look(&mut self, queue: &Q, grid: &FieldOnDevice<Q>, relations: &[(Relation, f64)]) -> Result<()> {
        let mut channels = self.channels.iter_mut().zip(relations);
        let at = self.at;
        channels.try_for_each(|((images, joint), (relation, _))| {
            joint.look(queue, images.with(grid, Half::Both, at), *relation)
        })
    }

    /// Queues what pulls, as the last look says, times the weights of the relations.
    pub fn pull(
        &mut self,
        queue: &Q,
        grid: &mut FieldOnDevice<Q>,
        (half, relations): (Half, &[(Relation, f64)]),
    ) -> Result<()> {
        for (number, ((images, joint), (_, weight))) in self.channels.iter_mut().zip(relations).enumerate() {
            let pull = grid.pull(*weight, number > 0);
            joint.force(queue, images.with(grid, half, self.at), pull)?;
        }
        Ok(())
    }

    /// What the last look found in each channel, once it is there; before the next look it is to be forgotten.
    pub fn measured(&self) -> Option<Vec<Measured>> {
        self.channels.iter().map(|(_, joint)| joint.table.measured()).collect()
    }

    pub fn forget(&mut self) {
        self.channels.iter_mut().for_each(|(_, joint)| joint.table.forget());
    }
}

impl<Q: Queue> LevelOnDevice<Q> {
    /// Uploads the images, the fixed ones of the grid's size.
    pub fn new(queue: &Q, grid: &mut FieldOnDevice<Q>, level: &FlowLevel) -> Result<Self> {
        let several = level.channels.len() * level.compare.len() > 1;
        let mut level = Self {
            channels: level
                .channels
                .iter()
                .map(|of| channel(queue, grid, of, level, several))
                .collect::<Result<_>>()?,
            map: level.map,
            blocks: level.blocks(),
            landmarks: Landmarks::new(queue, level.landmarks)?,
        };
        level.look_at_fixed(queue, grid)?;
        Ok(level)
    }

    /// Makes what metrics know of the fixed images.
    pub fn look_at_fixed(&mut self, queue: &Q, grid: &mut FieldOnDevice<Q>) -> Result<()> {
        for ChannelOnDevice { images, metrics } in &mut self.channels {
            let images = images.with(grid, Half::Both, (self.map, self.blocks));
            for metric in metrics {
                if let Metric::Local(local) = metric {
                    local.look_at_fixed(queue, images, grid)?;
                }
            }
        }
        Ok(())
    }

    /// Queues writing the moving images, as the field moves them, over the fixed images and masks of another level on the same grid.
    pub fn show(&self, queue: &Q, grid: &FieldOnDevice<Q>, other: &mut Self) -> Result<()> {
        for (ChannelOnDevice { images, .. }, other) in self.channels.iter().zip(&mut other.channels) {
            let params = params::FlowShow {
                images: images.with(grid, Half::Both, (self.map, self.blocks)),
                shown: other.images.fixed.view_mut(),
                seen: other.images.masks[0].view_mut(),
            };
            // SAFETY: the memory is as long as the sizes say and lives until the queue is done.
            unsafe { launch::each(queue, &FLOW_SHOW, grid.size, params)? };
        }
        Ok(())
    }

    /// How the images agree.
    pub fn agreement(&mut self, queue: &Q, grid: &mut FieldOnDevice<Q>, half: Half) -> Result<Vec<Agreement>> {
        let mut agreements = Vec::new();
        for ChannelOnDevice { images, metrics } in &mut self.channels {
            let images = images.with(grid, half, (self.map, self.blocks));
            for metric in metrics {
                agreements.push(match metric {
                    Metric::Joint(joint) => joint.agreement(queue, images)?,
                    Metric::Local(local) => local.agreement(queue, images, grid)?,
                });
            }
        }
        Ok(agreements)
    }

    /// The images and their joint histograms, if there is nothing else: then nothing but tables changes from step to step.
    pub fn joints(&mut self) -> Option<Joints<'_, Q>> {
        let (at, landmarks) = ((self.map, self.blocks), &self.landmarks);
        let channels = self.channels.iter_mut().map(ChannelOnDevice::joint).collect::<Option<_>>()?;
        Some(Joints { channels, at, landmarks })
    }

    /// Takes the scores of the next step.
    pub fn write(&mut self, queue: &Q, scores: &[WeightedScore]) -> Result<()> {
        if scores.len() != self.channels.iter().map(|channel| channel.metrics.len()).sum::<usize>() {
            return Err(other_metric());
        }
        let metrics = self.channels.iter_mut().flat_map(|channel| &mut channel.metrics);
        metrics.zip(scores).try_for_each(|(metric, (score, _))| metric.write(queue, score))
    }

    /// Queues what pulls, beside the field, each metric times its weight.
    pub fn pull(&mut self, queue: &Q, grid: &mut FieldOnDevice<Q>, half: Half, weights: &[f64]) -> Result<()> {
        let mut weights = weights.iter().enumerate();
        for ChannelOnDevice { images, metrics } in &mut self.channels {
            let images = images.with(grid, half, (self.map, self.blocks));
            for (metric, (number, weight)) in metrics.iter_mut().zip(&mut weights) {
                let pull = grid.pull(*weight, number > 0);
                match metric {
                    Metric::Joint(joint) => joint.force(queue, images, pull)?,
                    Metric::Local(local) => local.force(queue, images, (&mut *grid, pull))?,
                }
            }
        }
        Ok(())
    }
}

fn channel<Q: Queue>(
    queue: &Q,
    grid: &FieldOnDevice<Q>,
    channel: &FlowChannel,
    level: &FlowLevel,
    several: bool,
) -> Result<ChannelOnDevice<Q>> {
    let mask = |mask: &[u8]| queue.upload(if mask.is_empty() { &[1] } else { mask });
    let metric = |compare: &Compare| {
        Ok(match *compare {
            Compare::Joint { bins } => Metric::Joint(Joint::new(queue, grid.voxels(), bins)?),
            Compare::Local { window_mm } => Metric::Local(Local::new(queue, grid, window_mm, several)?),
        })
    };
    let metrics = level.compare.iter().map(metric).collect::<Result<_>>()?;
    let images = Images {
        fixed: queue.upload(channel.fixed.voxels())?,
        moving: queue.upload(&channel.moving.words(true))?,
        masks: [mask(channel.masks[0])?, mask(channel.masks[1])?],
        masked: channel.masks.map(|mask| u32::from(!mask.is_empty())),
        moving_size: channel.moving.size.map(|n| n as u32),
    };
    Ok(ChannelOnDevice { images, metrics })
}

impl<Q: Queue> Images<Q> {
    /// The images with the field as it is, of which a half counts.
    fn with(&self, grid: &FieldOnDevice<Q>, half: Half, (map, blocks): (Affine, [f32; 3])) -> FlowImages {
        params::FlowImages {
            fixed: self.fixed.view(),
            moving: self.moving.view(),
            field: grid.field.view(),
            fixed_mask: self.masks[0].view(),
            moving_mask: self.masks[1].view(),
            map,
            size: grid.size,
            moving_size: self.moving_size,
            masked: self.masked,
            halves: half.number(),
            blocks,
        }
    }
}

impl<Q: Queue> Metric<Q> {
    fn write(&mut self, queue: &Q, score: &Score) -> Result<()> {
        match (self, score) {
            (Self::Joint(joint), Score::Joint { scores, information }) => joint.write(queue, [scores, information]),
            (Self::Local(_), Score::Local) => Ok(()),
            _ => Err(other_metric()),
        }
    }
}
