//! The images of a level in a device's memory, and their metrics.

use super::grid::FieldOnDevice;
use super::joint::Joint;
use super::kernels::FLOW_RESAMPLE;
use super::landmarks::Landmarks;
use super::launch;
use super::local::Local;
use crate::Result;
use crate::backend::flow::{
    Agreement, Compare, FlowChannel, FlowLevel, Halves, Measured, Relation, Score, WeightedScore, other_metric,
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

/// The images of a channel and their metrics.
struct ChannelOnDevice<Q: Queue> {
    images: Images<Q>,
    metrics: Vec<Metric<Q>>,
}

struct Images<Q: Queue> {
    fixed: Q::Memory<u16>,
    moving: Q::Memory<u32>,
    /// The masks of the fixed and of the moving image. One that is absent has a single number.
    masks: [Q::Memory<u8>; 2],
    masked: [u32; 2],
    moving_size: [u32; 3],
}

/// A metric, with its memory on the device.
enum Metric<Q: Queue> {
    Joint(Joint<Q>),
    Local(Local<Q>),
}

impl<Q: Queue> LevelOnDevice<Q> {
    /// Uploads the images. The fixed ones have the size of the grid.
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
        level.prepare_fixed(queue, grid)?;
        Ok(level)
    }

    /// Queues computing what metrics need to know of the fixed images alone: their local means.
    pub fn prepare_fixed(&mut self, queue: &Q, grid: &mut FieldOnDevice<Q>) -> Result<()> {
        for ChannelOnDevice { images, metrics } in &mut self.channels {
            let images = images.with(grid, Halves::Both, (self.map, self.blocks));
            for metric in metrics {
                if let Metric::Local(local) = metric {
                    local.prepare_fixed(queue, images, grid)?;
                }
            }
        }
        Ok(())
    }

    /// Queues resampling the moving images through the field. The results replace the fixed images and masks of another
    /// level on the same grid.
    pub fn resample_into(&self, queue: &Q, grid: &FieldOnDevice<Q>, other: &mut Self) -> Result<()> {
        for (ChannelOnDevice { images, .. }, other) in self.channels.iter().zip(&mut other.channels) {
            let params = params::FlowResample {
                images: images.with(grid, Halves::Both, (self.map, self.blocks)),
                resampled: other.images.fixed.view_mut(),
                kept: other.images.masks[0].view_mut(),
            };
            // SAFETY: the memory is as long as the sizes say and lives until the queue is done.
            unsafe { launch::each(queue, &FLOW_RESAMPLE, grid.size, params)? };
        }
        Ok(())
    }

    /// Measures how well the images agree: one result per channel and metric.
    pub fn agreement(&mut self, queue: &Q, grid: &mut FieldOnDevice<Q>, half: Halves) -> Result<Vec<Agreement>> {
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

    /// Returns the number of channels if the only metric is a joint histogram, else `None`. With joint histograms the
    /// launches of all steps are the same; only the contents of the tables change.
    pub fn joints(&self) -> Option<usize> {
        let joint = |channel: &ChannelOnDevice<Q>| matches!(channel.metrics[..], [Metric::Joint(_)]);
        self.channels.iter().all(joint).then_some(self.channels.len())
    }

    /// Queues clearing the counts before the first [`LevelOnDevice::measure`].
    pub fn clear(&mut self, queue: &Q) -> Result<()> {
        self.joints_mut().try_for_each(|joint| joint.clear(queue))
    }

    /// Forgets the last measurements. Must be called before the next [`LevelOnDevice::measure`] is queued.
    pub fn forget(&mut self) {
        self.joints_mut().for_each(|joint| joint.table.forget());
    }

    /// Queues measuring how well the images agree by joint histograms, with one relation for each channel.
    pub fn measure(&mut self, queue: &Q, grid: &FieldOnDevice<Q>, relations: &[Relation]) -> Result<()> {
        for (ChannelOnDevice { images, metrics }, relation) in self.channels.iter_mut().zip(relations) {
            let images = images.with(grid, Halves::Both, (self.map, self.blocks));
            metrics
                .iter_mut()
                .filter_map(Metric::joint_mut)
                .try_for_each(|joint| joint.measure(queue, images, *relation))?;
        }
        Ok(())
    }

    /// Whether all results of the last [`LevelOnDevice::measure`] have arrived. The device may be writing them
    /// meanwhile.
    pub fn is_measured(&self) -> bool {
        self.measured_by_channel().all(|measured| measured.is_some())
    }

    /// The results of the last [`LevelOnDevice::measure`] for each channel; NaN where one has not arrived.
    pub fn measured(&self) -> Vec<Measured> {
        let missing = Measured { value: f64::NAN, nats: f64::NAN };
        self.measured_by_channel().map(|measured| measured.unwrap_or(missing)).collect()
    }

    fn measured_by_channel(&self) -> impl Iterator<Item = Option<Measured>> {
        let joint = |metric: &Metric<Q>| match metric {
            Metric::Joint(joint) => Some(joint.table.measured()),
            Metric::Local(_) => None,
        };
        self.channels.iter().flat_map(|channel| &channel.metrics).filter_map(joint)
    }

    fn joints_mut(&mut self) -> impl Iterator<Item = &mut Joint<Q>> {
        self.channels.iter_mut().flat_map(|channel| &mut channel.metrics).filter_map(Metric::joint_mut)
    }

    /// Uploads the scores for the next step.
    pub fn write(&mut self, queue: &Q, scores: &[WeightedScore]) -> Result<()> {
        if scores.len() != self.channels.iter().map(|channel| channel.metrics.len()).sum::<usize>() {
            return Err(other_metric());
        }
        let metrics = self.channels.iter_mut().flat_map(|channel| &mut channel.metrics);
        metrics.zip(scores).try_for_each(|(metric, (score, _))| metric.write(queue, score))
    }

    /// Queues computing the forces and precisions of all metrics, each times its weight, into the field's second
    /// memory.
    pub fn write_forces(
        &mut self,
        queue: &Q,
        grid: &mut FieldOnDevice<Q>,
        half: Halves,
        weights: &[f64],
    ) -> Result<()> {
        let mut weights = weights.iter().enumerate();
        for ChannelOnDevice { images, metrics } in &mut self.channels {
            let images = images.with(grid, half, (self.map, self.blocks));
            for (metric, (number, weight)) in metrics.iter_mut().zip(&mut weights) {
                let output = grid.force_output(*weight, number > 0);
                match metric {
                    Metric::Joint(joint) => joint.force(queue, images, output)?,
                    Metric::Local(local) => local.force(queue, images, (&mut *grid, output))?,
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
    /// Kernel parameters of the images with the present field. Only voxels of `half` count.
    fn with(&self, grid: &FieldOnDevice<Q>, half: Halves, (map, blocks): (Affine, [f32; 3])) -> FlowImages {
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
    fn joint_mut(&mut self) -> Option<&mut Joint<Q>> {
        match self {
            Self::Joint(joint) => Some(joint),
            Self::Local(_) => None,
        }
    }

    fn write(&mut self, queue: &Q, score: &Score) -> Result<()> {
        match (self, score) {
            (Self::Joint(joint), Score::Joint { scores, information }) => joint.write(queue, [scores, information]),
            (Self::Local(_), Score::Local) => Ok(()),
            _ => Err(other_metric()),
        }
    }
}
