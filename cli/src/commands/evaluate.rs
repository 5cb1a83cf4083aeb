//! `mireg evaluate`.

use mireg::error::Setting;
use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args};
use glam::DVec3;
use mireg::io::points::Frame;
use mireg::io::transform::{Format, Grids};
use mireg::tre::{self, Tre};
use mireg::{Error, Geometry, Result, io};
use rayon::prelude::*;
use serde::Serialize;

use crate::arguments::choice::choice;
use crate::files;
use crate::in_memory::{InMemory, or_read};
use crate::terminal::{self, line};
use crate::transforms::Chain;

pub const EXAMPLES: &str = "\
The target registration error at a point of the fixed image is the distance in mm between
the transformed point and its true position in the moving image. The true position comes
from --truth or from --moving-points. `before` is the error of the identity. Transforms can
also be displacement fields.

Examples:
  mireg evaluate out/transform.tfm --truth truth.tfm --fixed ct.nii.gz
  mireg evaluate out/transform.tfm --truth truth.tfm --mask ct_brain.nii.gz --limit 1
  mireg evaluate out/warp.nii.gz --truth true_field.mha --mask ct_brain.nii.gz
  mireg evaluate out/transform.tfm --points ct.csv --moving-points mr.csv --json";

#[derive(Args)]
#[command(group = ArgGroup::new("over").required(true).multiple(true).args(["fixed", "mask", "points"]))]
pub struct Evaluate {
    /// Transform from points of the fixed image to points of the moving image
    #[arg(value_name = "TRANSFORM")]
    pub transform: PathBuf,
    /// Format of TRANSFORM; `mireg convert --help` lists them [default: detected from the content]
    #[arg(long, value_parser = choice::<Format>(), value_name = "FORMAT", hide_possible_values = true)]
    pub from: Option<Format>,
    /// True transform
    #[arg(long, value_name = "FILE", required_unless_present = "moving_points")]
    pub truth: Option<PathBuf>,
    /// Fixed image; without --mask or --points, the error is measured at its eight corner voxels
    #[arg(long, value_name = "FILE")]
    pub fixed: Option<PathBuf>,
    /// Moving image, for transforms of FSL, RIRE and AFNI; only its header is read
    #[arg(long, value_name = "FILE")]
    pub moving: Option<PathBuf>,
    /// Mask: the error is measured at its voxels that are 0.5 or more
    #[arg(long, value_name = "FILE", conflicts_with = "points")]
    pub mask: Option<PathBuf>,
    /// Points of the fixed image at which the error is measured: .csv, .mrk.json, .fcsv, .vtk or .txt
    #[arg(long, value_name = "FILE")]
    pub points: Option<PathBuf>,
    /// Corresponding points of the moving image, in the same order
    #[arg(long, value_name = "FILE", requires = "points", conflicts_with = "truth")]
    pub moving_points: Option<PathBuf>,
    /// Coordinate system of the points [default: as in the file, otherwise lps]
    #[arg(long, value_parser = choice::<Frame>())]
    pub frame: Option<Frame>,
    /// Exit with code 1 if the mean error is larger
    #[arg(long, value_name = "MM", value_parser = limit, allow_negative_numbers = true)]
    pub limit: Option<f64>,
    /// Print JSON with all digits
    #[arg(long)]
    pub json: bool,
}

/// Measures the error of a transform, and prints it for the identity and for the transform.
pub fn run(arguments: &Evaluate) -> Result<()> {
    let found = arguments.measure(InMemory::default())?;
    let Measured { over, before, after, .. } = &found;
    terminal::answer(&match arguments.json {
        true => found.json(),
        false => [line("over", over), line("before", &text(before)), line("after", &text(after))].concat(),
    })?;
    match arguments.limit {
        Some(limit) if after.mean_mm > limit => {
            Err(Error::untrusted(format!("the mean error is {:.3} mm, more than {limit} mm", after.mean_mm)))
        }
        _ => Ok(()),
    }
}

/// The errors, and the points over which they were measured.
#[derive(Serialize)]
pub struct Measured {
    over: String,
    points: usize,
    before: Tre,
    after: Tre,
}

impl Measured {
    /// Returns JSON with all digits.
    pub fn json(&self) -> String {
        format!("{:#}\n", serde_json::json!(self))
    }
}

impl Evaluate {
    /// Measures the error of the transform. Reads what is not in memory.
    ///
    /// # Errors
    /// Those of files that cannot be read, and of lists of points that do not correspond.
    pub fn measure(&self, mut in_memory: InMemory) -> Result<Measured> {
        let moving = self.moving.as_deref().map(io::geometry).transpose()?;
        let Over { what: over, points, grid } = over(self, &mut in_memory)?;
        let grids = Grids { fixed: grid.as_ref(), moving: moving.as_ref() };
        let transform = std::slice::from_ref(&self.transform);
        let chain = Chain::held_or_read(in_memory.transform.take(), transform, self.from, &grids)?;
        let map = chain.map(false);
        let targets = targets(self, &points, &grids, in_memory)?;
        let nothing = || Error::option(Setting::FixedMask, format!("{over}: nothing to measure"));
        let before = Tre::of(|point| point, &points, &targets).ok_or_else(nothing)?;
        let after = Tre::of(|point| map.transform_point3(point), &points, &targets).ok_or_else(nothing)?;
        chain.check_grids_reached(&map)?;
        Ok(Measured { over, points: points.len(), before, after })
    }
}

/// The points at which the error is measured.
struct Over {
    what: String,
    /// Points of the fixed image, LPS mm.
    points: Vec<DVec3>,
    /// The grid of the fixed image, if it is known.
    grid: Option<Geometry>,
}

fn over(arguments: &Evaluate, in_memory: &mut InMemory) -> Result<Over> {
    let Evaluate { fixed, mask, points, .. } = arguments;
    let fixed_grid = or_read(in_memory.grid, fixed.as_deref(), io::geometry)?;
    let (kind, path, points, grid) = match (fixed, mask, points) {
        (_, Some(path), _) => {
            let mask = in_memory.fixed_mask.take().map_or_else(|| io::read(path), Ok)?;
            ("voxels", path, tre::mask_points(&mask), fixed_grid.or(Some(mask.geometry)))
        }
        (_, _, Some(path)) => ("points", path, landmarks(path, arguments, in_memory.points.take())?, fixed_grid),
        (Some(path), ..) => ("corners", path, fixed_grid.iter().flat_map(Geometry::corners).collect(), fixed_grid),
        _ => return Err(Error::option(Setting::Fixed, "give --fixed, --mask or --points")),
    };
    Ok(Over { what: format!("{} {kind} of {}", points.len(), path.display()), points, grid })
}

/// Returns the true positions of the points in the moving image, LPS mm.
fn targets(arguments: &Evaluate, points: &[DVec3], grids: &Grids, in_memory: InMemory) -> Result<Vec<DVec3>> {
    let Some(path) = &arguments.moving_points else {
        let truth = Chain::held_or_read(in_memory.truth, arguments.truth.as_slice(), None, grids)?;
        let map = truth.map(false);
        let targets = points.par_iter().map(|&point| map.transform_point3(point)).collect();
        truth.check_grids_reached(&map)?;
        return Ok(targets);
    };
    let targets = landmarks(path, arguments, in_memory.moving_points)?;
    match targets.len() == points.len() {
        true => Ok(targets),
        false => Err(Error::file(path, format!("has {} points, not {}", targets.len(), points.len()))),
    }
}

fn landmarks(path: &Path, arguments: &Evaluate, held: Option<Vec<DVec3>>) -> Result<Vec<DVec3>> {
    held.map_or_else(|| files::points(path, arguments.frame), Ok)
}

fn text(error: &Tre) -> String {
    let Tre { mean_mm, median_mm, percentile_95_mm, max_mm } = error;
    format!("mean {mean_mm:.3} mm, median {median_mm:.3}, 95th percentile {percentile_95_mm:.3}, max {max_mm:.3}")
}

fn limit(text: &str) -> std::result::Result<f64, String> {
    let limit = text.parse().ok().filter(|limit: &f64| limit.is_finite() && *limit >= 0.0);
    limit.ok_or_else(|| "it must be a number of mm, 0 or more".into())
}
