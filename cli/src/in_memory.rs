//! Images, transforms and points that a caller, such as a Python program, has in memory.

use std::path::{Path, PathBuf};

use glam::DVec3;
use mireg::backend::Resident;
use mireg::error::Setting;
use mireg::transform::{Linear, Transform};
use mireg::{Error, Geometry, Result, Volume};

/// The voxels of the fixed and of the moving image in the memory of an engine's device; `None` for an image that is not
/// there.
pub type OnDevice<'e> = [Option<Resident<'e>>; 2];

/// Images, transforms and points that a command uses instead of reading the files that its arguments name. For the
/// command line, it is empty.
#[derive(Default)]
pub struct InMemory<'e> {
    pub fixed: Option<Volume>,
    pub moving: Option<Volume>,
    /// The voxels of `fixed` and `moving` that are already on the engine's device.
    pub on_device: OnDevice<'e>,
    pub fixed_mask: Option<Volume>,
    pub moving_mask: Option<Volume>,
    pub fixed_labels: Option<Volume>,
    pub moving_labels: Option<Volume>,
    /// Extra fixed and moving images, in the order of the arguments; `None` for those that are read from a file.
    pub extra: [Vec<Option<Volume>>; 2],
    /// The images of a template, in the order of the arguments; `None` for those that are read from a file.
    pub images: Vec<Option<Volume>>,
    /// The folder in which a template keeps the steps that are finished. Without one, a temporary folder is used.
    pub unfinished: Option<PathBuf>,
    /// The image that is resampled.
    pub image: Option<Volume>,
    /// The grid on which `image` is resampled, the grid of a template, or that of the fixed image for a command that
    /// needs only this.
    pub grid: Option<Geometry>,
    /// The transform of a command that takes one, or the initial transform of a registration.
    pub transform: Option<Transform>,
    /// The true transform that another one is compared with.
    pub truth: Option<Transform>,
    /// Points of the fixed image, LPS mm.
    pub points: Option<Vec<DVec3>>,
    /// The corresponding points of the moving image, LPS mm.
    pub moving_points: Option<Vec<DVec3>>,
}

/// Returns what is in memory, or else what `read` returns for the file, if there is one.
///
/// # Errors
/// Those of `read`.
pub fn or_read<T>(held: Option<T>, path: Option<&Path>, read: impl FnOnce(&Path) -> Result<T>) -> Result<Option<T>> {
    match held {
        None => path.map(read).transpose(),
        held => Ok(held),
    }
}

/// Runs `work`. Runs of the engine in it use the voxels of `images` that are already on the device instead of uploading
/// them.
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

impl InMemory<'_> {
    /// Returns the transform for a command that needs a linear one.
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
