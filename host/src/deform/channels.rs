//! More images of the same anatomy.

use crate::error::{Message, Setting, message};
use crate::image::{IntensityRange, Prepared};
use crate::{Error, Result, Volume, metric};

/// Two images of the same anatomy as the fixed and the moving one, on their grids: of another modality, or a structure that was outlined in
/// both. They are compared with each other, as the two are.
#[derive(Debug, Clone)]
pub struct Channel {
    pub fixed: Volume,
    pub moving: Volume,
    /// What its forces and their precision are multiplied by, more than 0.
    pub weight: f64,
}

/// Prepares the images of a channel, which have the masks and the grids of the fixed and the moving one.
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

/// An error of the images of a channel, told of the options that they come from.
fn of_extra(error: Error) -> Error {
    let (setting, message) = match error {
        Error::Option { setting: Setting::Fixed, message } => (Setting::FixedExtra, message),
        Error::Option { setting: Setting::Moving, message } => (Setting::MovingExtra, message),
        other => return other,
    };
    Error::Option { setting, message: Message::from("of the extra images ").then(&message) }
}
