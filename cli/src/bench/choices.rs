//! The choices of the arguments.

use clap::ValueEnum;
use mireg::backend::HistogramMethod;
use serde::Serialize;

use crate::arguments::interpolation::Interpolation;

/// The angle of the rotation, radians.
pub const TURN: f64 = 0.1;
/// Transforms of a batch.
pub const BATCH: usize = 16;

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Estimator {
    /// Joint histograms and what follows from them
    Histogram,
    /// Viola's mutual information, from all pairs of two sets of samples
    Viola,
    /// Recursive Gaussian smoothing, compared with a plain copy
    Gaussian,
}

/// The images.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Data {
    /// Independent uniform random voxels
    Random,
    /// Constant voxels: the worst case of methods that retry
    Constant,
    /// A synthetic head in air; --fixed and --moving replace it
    Head,
    #[value(skip)]
    Files,
}

impl Data {
    /// Returns the name that the tables use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Constant => "constant",
            Self::Head => "head",
            Self::Files => "files",
        }
    }
}

/// An axis through the middle of the fixed image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Axis {
    /// (1, 1, 1): rows of voxels are not kept
    Oblique,
    /// From foot to head
    Z,
}

/// A comparison of a paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Paper {
    /// Ledig and Chefd'hotel: mbe-bc and mbe-stl against warp-tagged by bins, a head, trilinear and tricubic
    #[value(name = "ledig-figure-3")]
    LedigFigure3,
    /// The same on random, constant and head images of many sizes, as average reductions
    #[value(name = "ledig-table-3")]
    LedigTable3,
    /// Shams and others 2009: methods 1, 2 and 3 (warp-tagged, per-thread, sort-count) by bins, random and a head
    #[value(name = "shams-figure-7")]
    ShamsFigure7,
    /// Lin and Medioni: Viola's mutual information by samples, beside one CPU core
    #[value(name = "lin-section-5")]
    LinSection5,
}

impl Paper {
    /// Returns what the paper measures.
    pub fn estimator(self) -> Estimator {
        match self {
            Self::LedigFigure3 | Self::LedigTable3 | Self::ShamsFigure7 => Estimator::Histogram,
            Self::LinSection5 => Estimator::Viola,
        }
    }

    /// Returns the methods that the paper compares.
    pub fn methods(self) -> Vec<HistogramMethod> {
        use HistogramMethod::{Auto, MbeBc, MbeStl, PerThread, SortCount, WarpTagged, WarpTaggedDirect};
        match self {
            Self::LedigFigure3 | Self::LedigTable3 => vec![WarpTagged, MbeBc, WarpTaggedDirect, MbeStl],
            Self::ShamsFigure7 => vec![WarpTagged, PerThread, SortCount],
            Self::LinSection5 => vec![Auto],
        }
    }

    /// Returns the images on which the paper compares them. [`Data::Head`] stands for its real images.
    pub fn data(self) -> Vec<Data> {
        match self {
            Self::LedigFigure3 | Self::LinSection5 => vec![Data::Head],
            Self::LedigTable3 | Self::ShamsFigure7 => vec![Data::Random, Data::Head],
        }
    }

    /// Returns the interpolators of the moving image.
    pub fn interpolations(self) -> Vec<Interpolation> {
        match self {
            Self::LedigFigure3 | Self::LedigTable3 => vec![Interpolation::Linear, Interpolation::CatmullRom],
            Self::ShamsFigure7 | Self::LinSection5 => vec![Interpolation::Linear],
        }
    }
}
