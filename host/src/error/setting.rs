//! Names of the options and inputs that errors can be about.

use strum::{IntoStaticStr, VariantArray};

/// An option or an input. Its name is that of the field or argument that holds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Setting {
    /// The image on whose grid the result is defined.
    Fixed,
    /// The image that is moved or resampled.
    Moving,
    FixedMask,
    MovingMask,
    /// A label map on the grid of the fixed image.
    FixedLabels,
    /// The same of the moving image.
    MovingLabels,
    /// A second image of the same anatomy as the fixed image.
    FixedExtra,
    /// A second image of the same anatomy as the moving image.
    MovingExtra,
    /// The weight of the extra images.
    ExtraWeight,
    /// Landmarks of the fixed image.
    FixedPoints,
    /// The same landmarks in the moving image.
    MovingPoints,
    /// The accuracy with which landmarks were placed.
    PointsError,
    /// The range of intensities of the fixed image that is used.
    FixedRange,
    /// The same of the moving image.
    MovingRange,
    /// The DICOM series of a folder that is the fixed image.
    FixedSeries,
    MovingSeries,
    /// The same of the only image.
    Series,
    /// The volume of a four-dimensional image that is the fixed image.
    FixedVolume,
    MovingVolume,
    /// The same of the only image.
    Volume,
    /// The channel of the fixed image that is used.
    FixedChannel,
    MovingChannel,
    /// The same of the only image.
    Channel,
    /// The kind of linear transform.
    Dof,
    /// The initialisation of a registration.
    Init,
    /// The initial transform of a deformation or a mesh.
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
    /// The metric whose force drives a deformation.
    Force,
    /// Whether both images are deformed towards the middle.
    Symmetric,
    Iterations,
    /// The smoothing of the update field of a deformation.
    SmoothMm,
    /// The smoothing of the displacement field of a deformation.
    SmoothFieldMm,
    /// The side of the cells of a mesh.
    Spacing,
    Transform,
    /// The file format of a transform.
    #[strum(serialize = "format")]
    TransformFormat,
    /// The file format of points.
    #[strum(serialize = "format")]
    PointsFormat,
    /// The coordinate frame of points.
    Frame,
    Backend,
    Threads,
}

impl Setting {
    /// Its name in this library.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The name as it is quoted in a sentence.
    pub(super) fn quoted(self) -> String {
        format!("`{}`", self.name())
    }
}
