//! What a caller holds in memory, such as a Python program.

use std::path::{Path, PathBuf};

use glam::DVec3;
use mireg::backend::Resident;
use mireg::error::Setting;
use mireg::transform::{Linear, Transform};
use mireg::{Error, Geometry, Result, Volume};

/// The voxels of a fixed and a moving image in the memory of an engine's device.
pub type OnDevice<'e> = [Option<Resident<'e>>; 2];

/// Images, transforms and points that a command takes instead of reading them from the files of the same names. The command line holds
/// none.
#[derive(Default)]
pub struct Held<'e> {
    pub fixed: Option<Volume>,
    pub moving: Option<Volume>,
    /// Their voxels, where the engine's device has them already.
    pub on_device: OnDevice<'e>,
    pub fixed_mask: Option<Volume>,
    pub moving_mask: Option<Volume>,
    pub fixed_labels: Option<Volume>,
    pub moving_labels: Option<Volume>,
    /// Extra fixed and moving images, each in the place of a file.
    pub extra: [Vec<Option<Volume>>; 2],
    /// The images of a template, each in the place of a file.
    pub images: Vec<Option<Volume>>,
    /// The folder in which a template keeps what is finished; without one it is temporary.
    pub unfinished: Option<PathBuf>,
    /// The image that is resampled.
    pub image: Option<Volume>,
    /// The grid that it is resampled on or of a template, or of the fixed image where only that is needed.
    pub grid: Option<Geometry>,
    /// The transform of a command that takes one, or from which a registration starts.
    pub transform: Option<Transform>,
    pub truth: Option<Transform>,
    /// LPS mm.
    pub points: Option<Vec<DVec3>>,
    pub moving_points: Option<Vec<DVec3>>,
}

/// What is held, or else what the file of this name, if any, gives.
///
/// # Errors
/// Those of `read`.
pub fn or_read<T>(held: Option<T>, path: Option<&Path>, read: impl FnOnce(&Path) -> Result<T>) -> Result<Option<T>> {
    match held {
        None => path.map(read).transpose(),
        held => Ok(held),
    }
}

/// Does some work for which what is on the device of these images is lent to runs.
pub fn lending<T>(on_device: &OnDevice, images: [&Volume; 2], work: impl FnOnce() -> T) -> T {
    let work = || match &on_device[1] {
        Some(there) => there.lending(images[1], work),
        None => work(),
    };
    match &on_device[0] {
        Some(there) => there.lending(images[0], work),
        None => work(),
    }
}

impl Held<'_> {
    /// The transform, where a linear one is needed.
    ///
    /// # Errors
    /// [`Error::Option`] for one that is not linear.
    pub fn linear(&self) -> Result<Option<Linear>> {
        let linear = |transform: &Transform| {
            let wrong = "the transform is not linear, and here it must be; give a matrix, or a file of one";
            transform.to_linear().ok_or_else(|| Error::option(Setting::Transform, wrong))
        };
        self.transform.as_ref().map(linear).transpose()
    }
}
