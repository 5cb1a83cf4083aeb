//! The interpolators that can be named on the command line.

use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use mireg::metric::Interpolator;
use serde::Serialize;

/// The interpolator of the moving image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Interpolation {
    Nearest,
    Linear,
    /// Cubic convolution (Catmull-Rom)
    CatmullRom,
    /// Cubic B-spline
    BSpline,
    /// Partial volume: each of the eight neighbours is counted by its weight
    PartialVolume,
}

impl Interpolation {
    /// Parses all interpolators but partial volume, which gives weights of neighbours instead of a value.
    pub fn of_values() -> impl TypedValueParser<Value = Self> {
        let values = Self::value_variants().iter().filter(|&&way| way != Self::PartialVolume);
        let names = PossibleValuesParser::new(values.filter_map(Self::to_possible_value));
        names.try_map(|name| Self::from_str(&name, false))
    }

    /// Returns the name that the library and the tables use.
    pub fn name(self) -> &'static str {
        Interpolator::from(self).name()
    }
}

impl From<Interpolation> for Interpolator {
    fn from(interpolation: Interpolation) -> Self {
        match interpolation {
            Interpolation::Nearest => Self::Nearest,
            Interpolation::Linear => Self::Linear,
            Interpolation::CatmullRom => Self::CatmullRom,
            Interpolation::BSpline => Self::BSpline,
            Interpolation::PartialVolume => Self::PartialVolume,
        }
    }
}
