//! What can be compared at all.

use crate::error::{Setting, message};
use crate::image::Range;
use crate::{Error, Result, Volume};

/// The intensity ranges of the fixed and the moving image, unless they or their masks cannot be compared.
///
/// # Errors
/// [`Error::Option`] says why.
pub fn images([fixed, moving]: [&Volume; 2], masks: [Option<&Volume>; 2]) -> Result<[Range; 2]> {
    let ranges = [range(Setting::Fixed, fixed)?, range(Setting::Moving, moving)?];
    if fixed.geometry.is_flat() != moving.geometry.is_flat() {
        return Err(Error::option(
            Setting::Moving,
            "one of the images is two-dimensional and the other is not: mireg registers images of the same number of axes",
        ));
    }
    mask(Setting::FixedMask, masks[0], fixed)?;
    mask(Setting::MovingMask, masks[1], moving)?;
    Ok(ranges)
}

fn range(which: Setting, volume: &Volume) -> Result<Range> {
    let name = which.name();
    let [i, j, k] = volume.geometry.size;
    if i.checked_mul(j).and_then(|plane| plane.checked_mul(k)) != Some(volume.voxels.len()) {
        let voxels = volume.voxels.len();
        return Err(Error::option(
            which,
            format!("the {name} image has {voxels} voxels, which do not fill {i} x {j} x {k}"),
        ));
    }
    if !volume.geometry.is_addressable() {
        return Err(Error::option(
            which,
            message!(
                "the {name} image of {i} x {j} x {k} voxels is too large";
                "crop it or make it coarser, to 2^31 voxels and 32768 along an axis at most"
            ),
        ));
    }
    if volume.geometry.size[..2].iter().any(|&n| n < 2) {
        return Err(Error::option(
            which,
            format!("the {name} image has an axis with a single voxel: two or more are needed"),
        ));
    }
    let (low, high) = volume.range();
    if low == high {
        return Err(Error::option(
            which,
            format!("the {name} image is constant (every voxel is {low}): nothing to register"),
        ));
    }
    Ok((low, high))
}

fn mask(which: Setting, mask: Option<&Volume>, image: &Volume) -> Result<()> {
    let Some(mask) = mask else { return Ok(()) };
    let name = if which == Setting::FixedMask { "fixed" } else { "moving" };
    if !mask.geometry.is_close(&image.geometry) {
        return Err(Error::option(
            which,
            message!(
                "the {name} mask is not on the {name} image's grid";
                "resample it, nearest, onto the {name} image"
            ),
        ));
    }
    if mask.voxels.len() != image.voxels.len() || mask.voxels.iter().all(|&voxel| voxel < 0.5) {
        return Err(Error::option(which, format!("the {name} mask has no voxel of 0.5 or more: nothing to register")));
    }
    Ok(())
}
