//! One flow, or in symmetric mode two that meet in the middle.

use super::levels::Level;
use super::middle::Middle;
use super::vectors;
use crate::Result;
use crate::backend::cpu::{MiddleFields, Side};
use crate::backend::{
    Backend, Compare, FieldOptimizer, Flow, FlowChannel, FlowInverse, FlowLandmark, FlowLevel, FlowPair, FlowReference,
};
use crate::image::{Geometry, StoredImage, voxel_map};
use glam::DAffine3;
use gpu::math::interpolate;

/// What a level's flows share: see [`FlowLevel`].
pub struct Shared<'a> {
    pub from: Option<[[f32; 3]; 2]>,
    pub compare: &'a [Compare],
    pub block_mm: f64,
    /// Those of the single flow in the first slice, or those of both flows.
    pub landmarks: [&'a [FlowLandmark]; 2],
}

/// The displacement field of a single flow, or the two fields of symmetric mode.
pub enum Flows<'a> {
    /// From the fixed to the moving image.
    One(Box<dyn Flow + 'a>),
    /// From the middle to the fixed and to the moving image.
    Two(Box<dyn FlowPair + 'a>, &'a Middle),
}

impl<'a> Flows<'a> {
    /// Makes fields of 0: one, or two if there is a middle.
    pub fn new(backend: &'a dyn Backend, middle: Option<&'a Middle>) -> Result<Self> {
        Ok(match middle {
            None => Self::One(backend.flow()?),
            Some(middle) => Self::Two(backend.flow_pair()?, middle),
        })
    }

    pub fn as_optimizer(&mut self) -> &mut dyn FieldOptimizer {
        match self {
            Self::One(flow) => &mut **flow,
            Self::Two(pair, _) => &mut **pair,
        }
    }

    /// Returns the planes of the field; in symmetric mode, those of both fields, one after the other: see
    /// [`FlowPair::fields`].
    pub fn field(&mut self) -> Result<Vec<f32>> {
        match self {
            Self::One(flow) => flow.field(),
            Self::Two(pair, _) => pair.fields().map(|fields| fields.concat()),
        }
    }

    /// Replaces the field: see [`Flow::take`]. In symmetric mode, the second field is replaced, and the first one by
    /// its opposite: see [`FlowPair::take`].
    pub fn take(&mut self, planes: &[f32], size: [usize; 3], from: [[f32; 3]; 2]) -> Result<()> {
        match self {
            Self::One(flow) => flow.take(planes, size, from),
            Self::Two(pair, _) => pair.take(planes, size, from),
        }
    }

    /// Gives a single flow a reference, or none: see [`Flow::refer_to`]. Two flows never have one.
    pub fn refer_to(&mut self, reference: Option<&FlowReference>) -> Result<()> {
        match self {
            Self::One(flow) => flow.refer_to(reference),
            Self::Two(..) => Ok(()),
        }
    }

    /// Moves to another level, whose fields have this grid. `start` takes points of the fixed to points of the moving
    /// image, LPS mm.
    pub fn enter(
        &mut self,
        shared: &Shared,
        (level, stored): (&Level, &[[StoredImage; 2]]),
        grid: &Geometry,
        start: &DAffine3,
    ) -> Result<()> {
        let channels = || level.channels.iter().zip(stored);
        let &Shared { from, compare, block_mm, landmarks } = shared;
        let spacing_mm = grid.spacing.to_array();
        let grids = level.grids();
        match self {
            Self::One(flow) => {
                let channels: Vec<_> = channels()
                    .map(|(of, [fixed, moving])| FlowChannel {
                        fixed,
                        moving,
                        masks: of.masks.each_ref().map(Vec::as_slice),
                    })
                    .collect();
                let map = voxel_map(grid, grids[1], start);
                flow.level(&FlowLevel {
                    channels: &channels,
                    map,
                    spacing_mm,
                    from,
                    compare,
                    block_mm,
                    landmarks: landmarks[0],
                })
            }
            Self::Two(pair, middle) => {
                let blank = StoredImage { size: grid.size, values: vec![0; grid.voxels() + padding(grid.size)] };
                let all = vec![1; grid.voxels()];
                let sides = [0, 1].map(|side: usize| {
                    channels()
                        .map(|(of, images)| FlowChannel {
                            fixed: &blank,
                            moving: &images[side],
                            masks: [&all, &of.masks[side]],
                        })
                        .collect::<Vec<_>>()
                });
                let [one, two] = [0, 1].map(|side: usize| {
                    let map = voxel_map(grid, grids[side], &middle.to[side]);
                    let landmarks = landmarks[side];
                    FlowLevel { channels: &sides[side], map, spacing_mm, from, compare, block_mm, landmarks }
                });
                pair.level([&one, &two])
            }
        }
    }
}

fn padding(size: [usize; 3]) -> usize {
    interpolate::padding(size.map(|n| n as u32))
}

/// Composes the fields on the finest grid in the middle. Returns the field from the fixed to the moving image, and its
/// inverse. Both are relaxed where they change volumes by factors outside their `limits`: see
/// [`FieldOptimizer::relax`].
pub fn compose_pair(
    fields: [Vec<f32>; 2],
    middle: &Middle,
    finest: &Geometry,
    [fixed, moving]: [&Geometry; 2],
    start: &DAffine3,
    limits: [[f32; 2]; 2],
) -> (Box<dyn Flow>, FlowInverse) {
    let (to_fixed, from_fixed) =
        (voxel_map(finest, fixed, &middle.to[0]), voxel_map(fixed, finest, &middle.to[0].inverse()));
    let from_moving = voxel_map(moving, finest, &middle.to[1].inverse());
    // The inverse ends at points of the fixed image; the start takes these to the moving image's grid, where the
    // displacements of the inverse are measured.
    let to_moving = voxel_map(finest, moving, &(*start * middle.to[0]));
    let (there, back) = (voxel_map(fixed, moving, start), voxel_map(moving, fixed, &start.inverse()));
    let [_, vectors] = vectors::maps([fixed, moving], start);
    let sides = [
        Side { size: fixed.size, maps: [&from_fixed, &to_fixed], limits: limits[0] },
        Side { size: moving.size, maps: [&from_moving, &to_moving], limits: limits[1] },
    ];
    MiddleFields::new(fields, finest.size).combine(sides, fixed.spacing.to_array(), ([&there, &back], &vectors))
}
