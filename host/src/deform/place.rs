//! Whether the images agree through a field more than around it: a field can be found between any two images.

use super::levels::{Channel, Level};
use crate::image::{Intensities, Prepared};
use crate::plane::even::longer_side;
use crate::registration::{Insides, Place};
use crate::resample::resample_through;
use crate::transform::Field;
use crate::{Resampling, Result, Volume};
use glam::DAffine3;
use std::borrow::Cow;

/// Pixels along the longer side of pictures, voxels along the longest of volumes that are enough to tell.
const ENOUGH: [f64; 2] = [250.0, 64.0];

/// How much more the images agree through a field from the fixed to the moving one than around it; none where too little of them is image.
///
/// # Errors
/// [`Error::Stopped`](crate::Error::Stopped)
pub fn place(levels: &[Level], field: &Field, intensities: [Intensities; 2]) -> Result<Option<Place>> {
    let Some(level) = levels.iter().find(|level| enough(level)).or(levels.last()) else { return Ok(None) };
    let Channel { fixed, moving, masks } = &level.channels[0];
    let [fixed_mask, moving_mask] =
        [(fixed, &masks[0]), (moving, &masks[1])].map(|(image, mask)| as_volume(image, mask));
    let map = field.map();
    let through = |image: &Volume, outside: f32| {
        let how = Resampling { outside, ..Resampling::default() };
        resample_through(image, &fixed.geometry, |point| map.transform_point3(point), &how)
            .map(|moved| Cow::Owned(moved.volume))
    };
    let moved = Prepared {
        image: through(moving, intensities[1].range.0)?,
        mask: moving_mask.map(|mask| through(&mask, 0.0)).transpose()?,
        intensities: intensities[1],
    };
    let fixed =
        Prepared { image: Cow::Borrowed(&**fixed), mask: fixed_mask.map(Cow::Owned), intensities: intensities[0] };
    Insides::of([&fixed, &moved], [&[], &[]])?.map(|insides| insides.place(&DAffine3::IDENTITY)).transpose()
}

fn enough(level: &Level) -> bool {
    let grid = level.grids()[0];
    let enough = ENOUGH[usize::from(!grid.is_flat())];
    longer_side(grid) >= enough * super::smallest(grid)
}

/// A level's mask, if there is one.
fn as_volume(image: &Volume, mask: &[u8]) -> Option<Volume> {
    (!mask.is_empty()).then(|| image.with(|n| f32::from(mask[n])))
}
