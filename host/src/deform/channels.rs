//! Further pairs of images of the same anatomy.

use crate::error::{Message, Setting, message};
use crate::image::{IntensityRange, Prepared};
use crate::{Error, Result, Volume, metric};

/// A pair of images on the grids of the fixed and the moving image that show the same anatomy: another modality, or a
/// structure that was outlined in both. The two are compared with each other, as the fixed and the moving image are.
#[derive(Debug, Clone)]
pub struct Channel {
    pub fixed: Volume,
    pub moving: Volume,
    /// The weight, by which its forces and their precisions are multiplied; above 0.
    pub weight: f64,
}

/// Prepares the images of a channel, which must lie on the grids of `images`, the fixed and the moving one, and share
/// their masks.
///
/// # Errors
/// [`Error::Option`] says why they cannot be compared.
pub fn prepare<'a>(
    Channel { fixed, moving, weight }: &'a Channel,
    images: [&Volume; 2],
    masks: [Option<&'a Volume>; 2],
) -> Result<[Prepared<'a>; 2]> {
    if !(weight.is_finite() && *weight > 0.0) {
        return Err(Error::option(Setting::ExtraWeight, "each weight is a number of more than 0"));
    }
    let which = [(Setting::FixedExtra, fixed, "fixed"), (Setting::MovingExtra, moving, "moving")];
    for ((setting, extra, name), image) in which.into_iter().zip(images) {
        if !extra.geometry.is_close(&image.geometry) {
            return Err(Error::option(
                setting,
                message!(
                    "an extra {name} image is not on the {name} image's grid";
                    "resample it onto the {name} image"
                ),
            ));
        }
    }
    let prepared = metric::check::images([fixed, moving], masks, [IntensityRange::Auto; 2]);
    prepared.map_err(of_extra)
}

/// Attributes an error about the images of a channel to the options that name them.
fn of_extra(error: Error) -> Error {
    let (setting, message) = match error {
        Error::Option { setting: Setting::Fixed, message } => (Setting::FixedExtra, message),
        Error::Option { setting: Setting::Moving, message } => (Setting::MovingExtra, message),
        other => return other,
    };
    Error::Option { setting, message: Message::from("extra images: ").then(&message) }
}
