//! The images of a level and their metrics, on the CPU.

use super::local::{self, Means};
use super::task::{FieldView, FlowTask, ForceOutput, pieces};
use super::{gaussian, joint, resample};
use crate::Result;
use crate::backend::flow::{Agreement, Compare, FlowLandmark, FlowLevel, Halves, Score, WeightedScore, other_metric};
use crate::image::StoredImage;
use gpu::math::flow;
use gpu::params::Affine;

/// The images of a level.
pub struct LevelOnCpu {
    channels: Vec<ChannelOnCpu>,
    map: Affine,
    blocks: [f32; 3],
    per_square: [f32; 3],
    pub landmarks: Vec<FlowLandmark>,
}

/// The images of a channel and their metrics.
struct ChannelOnCpu {
    images: Images,
    metrics: Vec<Metric>,
}

struct Images {
    fixed: StoredImage,
    moving: StoredImage,
    masks: [Vec<u8>; 2],
}

/// A metric, with what it keeps between calls.
enum Metric {
    Joint {
        bins: u32,
    },
    Local {
        /// Standard deviations of the window, in voxels.
        sigmas: [f64; 3],
        /// The fixed image's local mean and variance.
        of_fixed: Vec<f32>,
        /// Local means of the last agreement, if there are several metrics. With one metric they are kept in the planes
        /// that the forces overwrite.
        kept: Option<Vec<f32>>,
    },
}

impl LevelOnCpu {
    /// `sigmas` converts a Gaussian's standard deviation from mm to voxels along each axis.
    pub fn new(level: &FlowLevel, sigmas: impl Fn(f64) -> [f64; 3]) -> Self {
        let several = level.channels.len() * level.compare.len() > 1;
        let channels = level.channels.iter().map(|channel| {
            let images = Images {
                fixed: channel.fixed.clone(),
                moving: channel.moving.clone(),
                masks: channel.masks.map(<[u8]>::to_vec),
            };
            let metric = |compare: &Compare| match *compare {
                Compare::Joint { bins } => Metric::Joint { bins },
                Compare::Local { window_mm } => {
                    let sigmas = sigmas(window_mm);
                    let of_fixed = local::of_fixed(channel.fixed.voxels(), channel.fixed.size, sigmas);
                    let kept = several.then(|| vec![0.0; 3 * channel.fixed.voxels().len()]);
                    Metric::Local { sigmas, of_fixed, kept }
                }
            };
            ChannelOnCpu { images, metrics: level.compare.iter().map(metric).collect() }
        });
        let per_square = level.spacing_mm.map(|mm| (1.0 / (mm * mm)) as f32);
        let (landmarks, blocks) = (level.landmarks.to_vec(), level.blocks());
        Self { channels: channels.collect(), map: level.map, blocks, per_square, landmarks }
    }

    /// Measures how well the images agree: one result per channel and metric. `room` is scratch memory of four planes.
    pub fn agreement(&mut self, grid: FieldView, half: Halves, room: &mut [f32]) -> Vec<Agreement> {
        let (map, blocks) = (self.map, self.blocks);
        let of_channel = |ChannelOnCpu { images, metrics }: &mut ChannelOnCpu| {
            let task = images.task(grid, half, (map, blocks));
            metrics.iter_mut().map(|metric| metric.agreement(&task, room)).collect::<Vec<_>>()
        };
        self.channels.iter_mut().flat_map(of_channel).collect()
    }

    /// Writes forces and precisions into the four planes of `room`.
    pub fn write_forces(
        &mut self,
        grid: FieldView,
        half: Halves,
        scores: &[WeightedScore],
        room: &mut [f32],
    ) -> Result<()> {
        let Self { channels, map, blocks, per_square, .. } = self;
        if scores.len() != channels.iter().map(|channel| channel.metrics.len()).sum::<usize>() {
            return Err(other_metric());
        }
        let metrics = channels.iter_mut().flat_map(|ChannelOnCpu { images, metrics }| {
            let task = images.task(grid, half, (*map, *blocks));
            metrics.iter_mut().map(move |metric| (task, metric))
        });
        for (number, ((task, metric), (score, weight))) in metrics.zip(scores).enumerate() {
            let output = ForceOutput { per_square: *per_square, weight: *weight as f32, adds: number > 0 };
            metric.force(&task, score, output, room)?;
        }
        Ok(())
    }
}

impl LevelOnCpu {
    /// Resamples the moving images through the field, and replaces the fixed images and masks of another level on the
    /// same grid by the result.
    pub fn resample_into(&self, grid: FieldView, other: &mut Self) {
        for (channel, other) in self.channels.iter().zip(&mut other.channels) {
            let task = channel.images.task(grid, Halves::Both, (self.map, self.blocks));
            let Images { fixed, masks: [mask, _], .. } = &mut other.images;
            resample::resample(&task, &mut fixed.values, mask);
            for metric in &mut other.metrics {
                if let Metric::Local { sigmas, of_fixed, .. } = metric {
                    *of_fixed = local::of_fixed(fixed.voxels(), fixed.size, *sigmas);
                }
            }
        }
    }
}

impl Images {
    fn task<'a>(&'a self, grid: FieldView<'a>, half: Halves, (map, blocks): (Affine, [f32; 3])) -> FlowTask<'a> {
        FlowTask {
            grid,
            fixed: self.fixed.voxels(),
            moving: &self.moving.values,
            moving_size: self.moving.size.map(|n| n as u32),
            masks: self.masks.each_ref().map(Vec::as_slice),
            halves: half.number(),
            blocks,
            map,
        }
    }
}

impl Metric {
    fn agreement(&mut self, task: &FlowTask, room: &mut [f32]) -> Agreement {
        let (sigmas, of_fixed, kept) = match self {
            Self::Joint { bins } => return Agreement::Joint(joint::count(task, *bins)),
            Self::Local { sigmas, of_fixed, kept } => (*sigmas, of_fixed, kept),
        };
        let size = task.grid.size.map(|n| n as usize);
        let means = kept.as_deref_mut().unwrap_or(&mut room[..3 * task.grid.voxels()]);
        pieces(means, size[0], |first, planes| local::products(task, first, planes));
        gaussian::smooth(means, size, sigmas);
        let (sum, overlap) = local::correlation(task, &Means { fixed: of_fixed, moving: means });
        Agreement::Local { correlation: flow::mean(sum, flow::CORRELATION_UNIT, overlap), overlap }
    }

    fn force(&mut self, task: &FlowTask, score: &Score, output: ForceOutput, room: &mut [f32]) -> Result<()> {
        let width = task.grid.size[0] as usize;
        match (self, score) {
            (Self::Joint { bins }, Score::Joint { scores, information }) => {
                let tables = joint::Tables { bins: *bins, scores, information };
                pieces(room, width, |first, planes| joint::write_forces(task, &tables, output, first, planes));
            }
            (Self::Local { of_fixed, kept, .. }, Score::Local) => {
                let kept = kept.as_deref();
                pieces(room, width, |first, planes| local::write_forces(task, of_fixed, kept, output, first, planes));
            }
            _ => return Err(other_metric()),
        }
        Ok(())
    }
}
