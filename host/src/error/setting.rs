//! What callers choose, by name.

use strum::{IntoStaticStr, VariantArray};

/// An option or an input. Its name is that of the field or the argument that holds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Setting {
    /// The image on whose grid the result is.
    Fixed,
    /// The image that is moved, or resampled.
    Moving,
    FixedMask,
    MovingMask,
    /// What the fixed image shows, voxel by voxel.
    FixedLabels,
    /// The same of the moving image.
    MovingLabels,
    /// Another image of the fixed image's anatomy.
    FixedExtra,
    /// The same of the moving image's.
    MovingExtra,
    /// How much the extra images count.
    ExtraWeight,
    /// Landmarks of the fixed image.
    FixedPoints,
    /// Where they belong in the moving image.
    MovingPoints,
    /// How exactly landmarks were set.
    PointsError,
    /// The fixed image's intensities that are looked at.
    FixedRange,
    /// The same of the moving image.
    MovingRange,
    /// Which DICOM series of a folder is the fixed image.
    FixedSeries,
    MovingSeries,
    /// The same of the only image.
    Series,
    /// Which volume of an image of four dimensions is the fixed image.
    FixedVolume,
    MovingVolume,
    /// The same of the only image.
    Volume,
    /// What is taken of the fixed image's channels.
    FixedChannel,
    MovingChannel,
    /// The same of the only image.
    Channel,
    /// The kind of transform.
    Dof,
    /// Where a registration starts.
    Init,
    /// The transform that a deformation or a mesh starts from.
    Start,
    Metric,
    Bins,
    Interpolator,
    Histogram,
    Sigmas,
    Exponentials,
    Optimizer,
    Levels,
    Sampling,
    Samples,
    Seed,
    /// What a deformation climbs.
    Force,
    /// Whether both images flow to the middle.
    Symmetric,
    Iterations,
    /// How much a step of a deformation is smoothed.
    SmoothMm,
    /// How much the field of a deformation is smoothed.
    SmoothFieldMm,
    /// The side of a mesh's cells.
    Spacing,
    Transform,
    /// How a file of a transform is written.
    #[strum(serialize = "format")]
    TransformFormat,
    /// How a file of points is written.
    #[strum(serialize = "format")]
    PointsFormat,
    /// The axes of points.
    Frame,
    Backend,
    Threads,
}

impl Setting {
    /// Its name in this library.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The name as it stands in a sentence.
    pub(super) fn quoted(self) -> String {
        format!("`{}`", self.name())
    }
}
