//! Evaluates a deformation by label maps of its images: how it changes the volume of each label, and how well the maps
//! agree.

use std::collections::BTreeSet;

use glam::DVec3;
use gpu::math::interpolate::Interpolator;
use rayon::prelude::*;

use crate::deform::Deformation;
use crate::error::{Setting, message};
use crate::resample::{Resampling, resample_through};
use crate::{Error, Result, Volume};

/// A label map on the grid of an image: integers, with 0 for the background.
#[derive(Debug, Clone)]
pub struct Labels<'a> {
    map: &'a Volume,
    /// The labels that occur, without 0, in ascending order.
    numbers: Vec<i32>,
}

/// The effect of a deformation on labels.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Regions {
    /// The mean Dice coefficient over the labels, if both images have a map.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_dice: Option<Dice>,
    /// All labels of both maps, in ascending order.
    pub labels: Vec<Region>,
}

/// The effect of a deformation on one label.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Region {
    pub label: i32,
    /// The number of voxels with this label in the map of the fixed image.
    pub voxels: usize,
    /// The Jacobian determinant over these voxels, initial transform included; `None` if there are no voxels.
    pub jacobian: Option<Spread>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dice: Option<Dice>,
}

/// Statistics of a set of numbers.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Spread {
    pub mean: f64,
    pub percentile_5: f32,
    pub percentile_95: f32,
}

/// The Dice coefficient of two maps, with the moving one moved by the linear start (`before`) and by the field
/// (`after`): twice the number of voxels in common, divided by the sum of the numbers of voxels. 0 for a label that one
/// of the maps lacks.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Dice {
    pub before: f64,
    pub after: f64,
}

impl<'a> Labels<'a> {
    /// Checks the maps of the fixed and of the moving image, if given. Returns `None` if there is none.
    ///
    /// # Errors
    /// [`Error::Option`] for a map that is not on the grid of its image, has values that are not integers, or has only
    /// background, and for a map of the moving image alone.
    pub fn both(maps: [Option<&'a Volume>; 2], images: [&Volume; 2]) -> Result<Option<(Self, Option<Self>)>> {
        let [fixed, moving] = maps;
        let fixed = fixed.map(|map| Self::new(Setting::FixedLabels, map, images[0])).transpose()?;
        let moving = moving.map(|map| Self::new(Setting::MovingLabels, map, images[1])).transpose()?;
        if fixed.is_none() && moving.is_some() {
            let text = message!("labels of the moving image can only be compared with those of the fixed image"; "give ", FixedLabels, ", too");
            return Err(Error::option(Setting::MovingLabels, text));
        }
        Ok(fixed.map(|fixed| (fixed, moving)))
    }

    fn new(which: Setting, map: &'a Volume, image: &Volume) -> Result<Self> {
        let name = if which == Setting::FixedLabels { "fixed" } else { "moving" };
        let refused = |text| Err(Error::option(which, text));
        if !map.geometry.is_close(&image.geometry) || map.voxels.len() != image.voxels.len() {
            return refused(message!(
                "the {name} label map is not on the {name} image's grid";
                "resample it, nearest, onto the {name} image"
            ));
        }
        if let Some(text) = too_large(map) {
            return refused(format!("in the {name} label map {text}").into());
        }
        if let Some(odd) = map.voxels.iter().find(|&&voxel| voxel.is_nan() || voxel.fract() != 0.0) {
            return refused(
                format!("the {name} label map has a voxel of {odd}, which is no label: labels are whole numbers")
                    .into(),
            );
        }
        let mut last = 0;
        let changes = map
            .voxels
            .iter()
            .map(|&voxel| voxel as i32)
            .filter(|&number| std::mem::replace(&mut last, number) != number);
        let numbers: BTreeSet<i32> = changes.filter(|&number| number != 0).collect();
        match numbers.is_empty() {
            true => refused(format!("the {name} label map has no label: every voxel is 0").into()),
            false => Ok(Self { map, numbers: numbers.into_iter().collect() }),
        }
    }
}

/// The message for labels that voxels, which are f32, cannot represent.
pub fn too_large(map: &Volume) -> Option<String> {
    const MOST: i32 = (1 << 24) - 1;
    let beyond = map.voxels.par_iter().any(|voxel| voxel.abs() > MOST as f32);
    beyond.then(|| format!("labels above {MOST} cannot be told apart: renumber them"))
}

impl Regions {
    /// Evaluates the deformation `found` by the labels of the fixed image and, if given, those of the moving image.
    ///
    /// # Errors
    /// [`Error::Option`] for a map that is too large.
    pub fn new(found: &Deformation, fixed: &Labels, moving: Option<&Labels>) -> Result<Self> {
        let both = fixed.numbers.iter().chain(moving.iter().flat_map(|moving| &moving.numbers));
        let numbers: Vec<i32> = both.copied().collect::<BTreeSet<_>>().into_iter().collect();
        let overlaps = moving.map(|moving| overlaps(found, &numbers, fixed, moving)).transpose()?;
        let mut values = vec![Vec::new(); numbers.len()];
        for_each(&numbers, fixed.map, |voxel, place| values[place].push(found.jacobian.voxels[voxel]));
        let regions = values.into_par_iter().zip(&numbers).enumerate().map(|(place, (jacobians, &label))| Region {
            label,
            voxels: jacobians.len(),
            jacobian: Spread::of(jacobians),
            dice: overlaps.as_ref().map(|overlaps| overlaps[place]),
        });
        Ok(Self { labels: regions.collect(), mean_dice: overlaps.map(|overlaps| Dice::mean(&overlaps)) })
    }
}

/// Calls `call` with each voxel whose label is among `numbers`, and the index of the label there.
fn for_each(numbers: &[i32], map: &Volume, mut call: impl FnMut(usize, usize)) {
    let (mut last, mut place) = (0, None);
    for (voxel, &number) in map.voxels.iter().enumerate() {
        if number as i32 != last {
            last = number as i32;
            place = numbers.binary_search(&last).ok();
        }
        if let Some(place) = place {
            call(voxel, place);
        }
    }
}

/// The Dice coefficient of each label in `numbers`, on the grid of the fixed image.
fn overlaps(found: &Deformation, numbers: &[i32], fixed: &Labels, moving: &Labels) -> Result<Vec<Dice>> {
    let how = Resampling { interpolator: Interpolator::Nearest, outside: 0.0 };
    let (start, field) = (found.start.transform.to_affine(), found.field.map());
    let on_fixed = |map: &(dyn Fn(DVec3) -> DVec3 + Sync)| -> Result<Vec<f64>> {
        let moved = resample_through(moving.map, &fixed.map.geometry, map, &how)?.volume;
        let mut counts = vec![[0_usize; 2]; numbers.len()];
        for_each(numbers, fixed.map, |voxel, place| {
            counts[place][0] += 1;
            counts[place][1] += 2 * usize::from(moved.voxels[voxel] == fixed.map.voxels[voxel]);
        });
        for_each(numbers, &moved, |_, place| counts[place][0] += 1);
        Ok(counts.into_iter().map(|[all, common]| common as f64 / all.max(1) as f64).collect())
    };
    let before = on_fixed(&|point| start.transform_point3(point))?;
    let after = on_fixed(&|point| field.transform_point3(point))?;
    Ok(before.into_iter().zip(after).map(|(before, after)| Dice { before, after }).collect())
}

impl Dice {
    fn mean(all: &[Self]) -> Self {
        let mean = |of: fn(&Self) -> f64| all.iter().map(of).sum::<f64>() / all.len().max(1) as f64;
        Self { before: mean(|dice| dice.before), after: mean(|dice| dice.after) }
    }
}

impl Spread {
    fn of(mut values: Vec<f32>) -> Option<Self> {
        let last = values.len().checked_sub(1)?;
        let mean = values.iter().copied().map(f64::from).sum::<f64>() / values.len() as f64;
        values.sort_unstable_by(f32::total_cmp);
        Some(Self { mean, percentile_5: values[last * 5 / 100], percentile_95: values[last * 95 / 100] })
    }
}
