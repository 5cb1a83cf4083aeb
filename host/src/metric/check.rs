//! Checks whether two images can be compared, and prepares them for metrics.

use crate::error::{Setting, message};
use crate::image::{Intensities, IntensityRange, Prepared};
use crate::{Error, Observer, Result, Volume};

/// Prepares the fixed and the moving image, unless they or their masks cannot be compared.
///
/// # Errors
/// [`Error::Option`] if the images, masks or ranges cannot be used.
pub fn images<'a>(
    [fixed, moving]: [&'a Volume; 2],
    masks: [Option<&'a Volume>; 2],
    ranges: [IntensityRange; 2],
) -> Result<[Prepared<'a>; 2]> {
    shape(Setting::Fixed, fixed)?;
    shape(Setting::Moving, moving)?;
    if fixed.geometry.is_flat() != moving.geometry.is_flat() {
        return Err(Error::option(
            Setting::Moving,
            "one of the images is two-dimensional and the other is not: mireg registers images of the same number of axes",
        ));
    }
    mask(Setting::FixedMask, masks[0], fixed)?;
    mask(Setting::MovingMask, masks[1], moving)?;
    let (fixed, moving) = rayon::join(
        || prepared(Setting::Fixed, fixed, masks[0], ranges[0]),
        || prepared(Setting::Moving, moving, masks[1], ranges[1]),
    );
    Ok([fixed?, moving?])
}

fn prepared<'a>(
    which: Setting,
    image: &'a Volume,
    mask: Option<&'a Volume>,
    range: IntensityRange,
) -> Result<Prepared<'a>> {
    let name = which.name();
    let setting = if which == Setting::Fixed { Setting::FixedRange } else { Setting::MovingRange };
    if let IntensityRange::Between(low, high) = range
        && !(low < high && low.is_finite() && high.is_finite())
    {
        return Err(Error::option(
            setting,
            format!("the {name} image's range must be two numbers, the smaller one first"),
        ));
    }
    let prepared = Prepared::new(image, mask, range);
    let found = &prepared.intensities;
    let (low, high) = found.full;
    let refused = |which, text: String| Err(Error::option(which, text));
    match range {
        _ if found.missing == found.voxels => {
            refused(which, format!("the {name} image has no data: every voxel is NaN"))
        }
        _ if !(low.is_finite() && high.is_finite()) => refused(
            which,
            format!("the {name} image has an infinite voxel; replace it by a number, or by NaN for no data"),
        ),
        _ if low == high => {
            refused(which, format!("the {name} image is constant (every voxel is {low}): nothing to register"))
        }
        IntensityRange::Between(from, to) if to <= low || from >= high => Err(Error::option(
            setting,
            message!(
                "no intensity of the {name} image lies between {from} and {to}";
                "choose a range that overlaps {low} to {high}"
            ),
        )),
        _ if prepared.mask().is_some_and(|mask| !mask.voxels.iter().any(|&voxel| voxel >= 0.5)) => {
            let text = format!("the {name} mask leaves no voxel with data: nothing to register");
            refused(if which == Setting::Fixed { Setting::FixedMask } else { Setting::MovingMask }, text)
        }
        _ => Ok(prepared),
    }
}

fn shape(which: Setting, volume: &Volume) -> Result<()> {
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
    Ok(())
}

/// Notifies an observer of voxels without data, and of frames.
pub fn note_left_out(images: &[Prepared; 2], observer: &dyn Observer) {
    for (name, image) in ["fixed", "moving"].into_iter().zip(images) {
        let Intensities { missing, framed, voxels, .. } = image.intensities;
        if missing > 0 {
            observer
                .note(&format!("{missing} of the {name} image's {voxels} voxels are NaN, no data: they are left out"));
        }
        if framed > 0 {
            let part = 100.0 * framed as f64 / voxels as f64;
            observer.note(&format!("the {name} image has a uniform frame, {part:.1} % of its pixels: it is left out"));
        }
    }
}

fn mask(which: Setting, mask: Option<&Volume>, image: &Volume) -> Result<()> {
    let Some(mask) = mask else { return Ok(()) };
    on_grid(which, mask, image)?;
    if mask.voxels.iter().all(|&voxel| voxel < 0.5) {
        let name = mask_name(which);
        return Err(Error::option(which, format!("the {name} mask has no voxel of 0.5 or more: nothing to register")));
    }
    Ok(())
}

/// Refuses a mask that is not on the grid of its image.
///
/// # Errors
/// [`Error::Option`]
pub fn on_grid(which: Setting, mask: &Volume, image: &Volume) -> Result<()> {
    if mask.geometry.is_close(&image.geometry) && mask.voxels.len() == image.voxels.len() {
        return Ok(());
    }
    let name = mask_name(which);
    Err(Error::option(
        which,
        message!("the {name} mask is not on the {name} image's grid"; "resample it, nearest, onto the {name} image"),
    ))
}

fn mask_name(which: Setting) -> &'static str {
    if which == Setting::FixedMask { "fixed" } else { "moving" }
}
