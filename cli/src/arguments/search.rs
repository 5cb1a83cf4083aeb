//! The arguments of the search of `mireg register`: transform, initialisation, optimizer, levels and sampling.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum};
use mireg::Result;
use mireg::io::transform::{Format, Grids};
use mireg::metric::Metric;
use mireg::optimizer::OptimizerKind;
use mireg::registration::{Init, Options, Sampling};
use mireg::transform::Kind;

use super::choice::choice;
use super::number::whole;
use crate::transforms;

#[derive(Args)]
#[command(next_help_heading = "Registration")]
pub struct Search {
    /// Kind of transform
    #[arg(long, value_parser = choice::<Kind>(), value_name = "KIND", default_value_t = Kind::Rigid)]
    pub dof: Kind,
    /// Initialisation:
    /// - header:   the positions in the headers
    /// - geometry: aligns the centres of the grids
    /// - mass:     aligns the centres of mass
    /// - moments:  aligns the centres of mass and the principal axes
    /// - search:   aligns the centres of mass and tries 600 rotations
    /// - auto:     tries all of these and continues from the best
    /// - FILE:     a transform in any format that `mireg convert` reads
    #[arg(long, value_name = "START|FILE", default_value = "auto", verbatim_doc_comment)]
    pub init: Start,
    /// Format of an --init FILE; `mireg convert --help` lists them [default: detected from the content]
    #[arg(long, value_parser = choice::<Format>(), value_name = "FORMAT", hide_possible_values = true)]
    pub from: Option<Format>,
    /// Optimizer [default: bfgs for mattes, mattes-symmetric and viola; batch for all other metrics]
    #[arg(long, value_parser = choice::<OptimizerKind>(), value_name = "NAME")]
    pub optimizer: Option<OptimizerKind>,
    /// Voxel sizes of the pyramid levels, coarse to fine: 8mm,4mm,2mm,1mm [default: those of the images, doubled while 16 voxels
    /// remain along each axis]
    #[arg(long, value_name = "MM,...", value_delimiter = ',', value_parser = millimetres, allow_negative_numbers = true)]
    pub levels: Vec<f64>,
    /// Sampling of the fixed image at each level: every voxel, a regular grid, or random voxels
    #[arg(long, value_enum, value_name = "HOW", default_value_t = SamplingKind::Grid)]
    pub sampling: SamplingKind,
    /// Approximate number of samples per level for grid and random sampling [default: 2097152]. For viola it is the number of
    /// samples at the finest level; coarser levels use fewer [default: 8000]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = whole::<u64>(1..))]
    pub samples: Option<u64>,
    /// Seed of the random samples
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole::<u64>(..), allow_negative_numbers = true)]
    pub seed: u64,
}

impl Search {
    /// Returns the number of samples that is asked for.
    pub fn samples(&self) -> Option<usize> {
        self.samples.map(|samples| usize::try_from(samples).unwrap_or(usize::MAX))
    }

    /// Returns `others` with these arguments. An initial transform in a file is read with the grids of both images.
    pub fn options(&self, others: Options, grids: &Grids) -> Result<Options> {
        // For viola, --samples is the number of samples that it draws from those of the sampling.
        let asked = self.samples().filter(|_| !matches!(others.metric, Metric::Viola(_)));
        let samples = asked.unwrap_or(Sampling::SAMPLES);
        Ok(Options {
            dof: self.dof,
            init: self.init.read(self.from, grids)?,
            optimizer: self.optimizer,
            levels: Some(self.levels.clone()).filter(|levels| !levels.is_empty()),
            sampling: match self.sampling {
                SamplingKind::Full => Sampling::Full,
                SamplingKind::Grid => Sampling::Grid { samples },
                SamplingKind::Random => Sampling::Random { samples, seed: self.seed },
            },
            ..others
        })
    }
}

/// An initialisation by its name, or the file of an initial transform.
#[derive(Debug, Clone)]
pub enum Start {
    Named(Init),
    File(PathBuf),
}

impl FromStr for Start {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> std::result::Result<Self, Self::Err> {
        Ok(match text {
            "auto" => Self::Named(Init::Auto),
            "header" => Self::Named(Init::Header),
            "geometry" => Self::Named(Init::Geometry),
            "mass" => Self::Named(Init::Mass),
            "moments" => Self::Named(Init::Moments),
            "search" => Self::Named(Init::Search),
            file => Self::File(file.into()),
        })
    }
}

impl Start {
    /// Returns the initialisation for the library. A file is read in `format`, with the grids of both images.
    pub fn read(&self, format: Option<Format>, grids: &Grids) -> Result<Init> {
        match self {
            Self::Named(init) => Ok(init.clone()),
            Self::File(path) => transforms::read(path, format, grids).map(Init::Transform),
        }
    }
}

/// How the samples are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SamplingKind {
    Full,
    Grid,
    Random,
}

/// Parses a length above 0 mm, with or without its unit.
pub fn millimetres(text: &str) -> std::result::Result<f64, String> {
    let mm = length(text).filter(|mm| *mm > 0.0);
    mm.ok_or_else(|| "lengths above 0 are possible, such as 4mm".into())
}

/// Parses a length of 0 mm or more, with or without its unit.
pub fn millimetres_or_none(text: &str) -> std::result::Result<f64, String> {
    let mm = length(text).filter(|mm| *mm >= 0.0);
    mm.ok_or_else(|| "0 and lengths above it are possible, such as 2mm".into())
}

fn length(text: &str) -> Option<f64> {
    let number = text.trim().trim_end_matches("mm").trim_end();
    number.parse().ok().filter(|mm: &f64| mm.is_finite())
}
