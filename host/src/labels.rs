//! Label maps of the images of a deformation: how it changes the volume of each label, and how well the maps agree.

use std::collections::BTreeSet;

use glam::DVec3;
use gpu::math::interpolate::Interpolator;
use rayon::prelude::*;

use crate::deform::Deformation;
use crate::error::{Setting, message};
use crate::resample::{Resampling, resample_through};
use crate::{Error, Result, Volume};

/// A map of whole numbers on the grid of an image: 0 for the background, any other number for what has it.
#[derive(Debug, Clone)]
pub struct Labels<'a> {
    map: &'a Volume,
    /// Without 0, in ascending order.
    numbers: Vec<i32>,
}

/// What a deformation does to labels.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Regions {
    /// The mean over the labels, of two maps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_dice: Option<Dice>,
    /// All labels of both maps, in ascending order.
    pub labels: Vec<Region>,
}

/// A label.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Region {
    pub label: i32,
    /// Voxels of the fixed image's map.
    pub voxels: usize,
    /// The Jacobian determinant over these voxels, start included; `None` where there are none.
    pub jacobian: Option<Spread>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dice: Option<Dice>,
}

/// Of many numbers.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Spread {
    pub mean: f64,
    pub percentile_5: f32,
    pub percentile_95: f32,
}

/// Twice the voxels that two maps have in common by those that they have, as the linear start places them and as the field does. 0 for a
/// label that one of the maps does not have.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Dice {
    pub before: f64,
    pub after: f64,
}

impl<'a> Labels<'a> {
    /// The maps of the fixed image and of the moving one; `None` where there are none.
    ///
    /// # Errors
    /// [`Error::Option`] for a map on another grid than its image, with values that are no whole numbers, or with the background alone,
    /// and for a map of the moving image alone.
    pub fn both(maps: [Option<&'a Volume>; 2], images: [&Volume; 2]) -> Result<Option<(Self, Option<Self>)>> {
        let [fixed, moving] = maps;
        let fixed = fixed.map(|map| Self::new(Setting::FixedLabels, map, images[0])).transpose()?;
        let moving = moving.map(|map| Self::new(Setting::MovingLabels, map, images[1])).transpose()?;
        if fixed.is_none() && moving.is_some() {
            let text = message!("labels of the moving image alone say nothing"; "give ", FixedLabels, ", too");
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

/// What to say of labels that voxels, which are f32, do not keep.
pub fn too_large(map: &Volume) -> Option<String> {
    const MOST: i32 = (1 << 24) - 1;
    let beyond = map.voxels.par_iter().any(|voxel| voxel.abs() > MOST as f32);
    beyond.then(|| format!("labels above {MOST} cannot be told apart: renumber them"))
}

impl Regions {
    /// What `found` does to the labels of the fixed image and, where there are some, to those of the moving one.
    ///
    /// # Errors
    /// [`Error::Option`] for a map too large.
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

/// Calls back with each voxel that is labelled by one of the `numbers`, and with its place among them.
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

/// The Dice of each of the `numbers`, on the fixed image's grid.
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
