//! `mireg evaluate`.

use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args};
use glam::{DAffine3, DVec3};
use mireg::io::points::{Frame, Landmarks};
use mireg::tre::{self, Tre};
use mireg::{Error, Result, io};
use rayon::prelude::*;

use super::summary::line;
use super::transforms;

pub const EXAMPLES: &str = "\
The error at a point of the fixed image is how far, in mm, the transform takes it from
where it belongs: from where the truth takes it or from its counterpart among the moving
image's points. `before` is the same without any transform.

Examples:
  mireg evaluate out/transform.tfm --truth truth.tfm --fixed ct.nii.gz
  mireg evaluate out/transform.tfm --truth truth.tfm --mask ct_brain.nii.gz --limit 1
  mireg evaluate out/transform.tfm --points ct.csv --moving-points mr.csv --json";

#[derive(Args)]
#[command(group = ArgGroup::new("over").required(true).args(["fixed", "mask", "points"]))]
pub struct Evaluate {
    /// From a point of the fixed image to the point of the moving image
    #[arg(value_name = "TRANSFORM")]
    pub transform: PathBuf,
    /// The transform that is known to be right
    #[arg(long, value_name = "FILE", required_unless_present = "moving_points")]
    pub truth: Option<PathBuf>,
    /// Over the eight outermost voxel centres of this image
    #[arg(long, value_name = "FILE")]
    pub fixed: Option<PathBuf>,
    /// Over the voxels of this image that are 0.5 or more
    #[arg(long, value_name = "FILE")]
    pub mask: Option<PathBuf>,
    /// Over these points of the fixed image: .csv, .mrk.json, .fcsv, .vtk or .txt
    #[arg(long, value_name = "FILE")]
    pub points: Option<PathBuf>,
    /// Where those points belong in the moving image, in the same order
    #[arg(long, value_name = "FILE", requires = "points", conflicts_with = "truth")]
    pub moving_points: Option<PathBuf>,
    /// Axes of the points' coordinates [default: what the file says, or else lps]
    #[arg(long, value_enum)]
    pub frame: Option<Frame>,
    /// Exit with code 1 where the mean error is larger
    #[arg(long, value_name = "MM", value_parser = limit, allow_negative_numbers = true)]
    pub limit: Option<f64>,
    /// Print JSON with every digit
    #[arg(long)]
    pub json: bool,
}

/// Reads a transform and what is true, and prints the errors before and after.
pub fn run(arguments: &Evaluate) -> Result<()> {
    let map = transforms::read(&arguments.transform)?;
    let (over, points) = points(arguments)?;
    let targets = targets(arguments, &points)?;
    let error =
        |map| Tre::of(&map, &points, &targets).ok_or_else(|| Error::Input(format!("{over}: nothing to measure")));
    let (before, after) = (error(DAffine3::IDENTITY)?, error(map)?);
    super::print(&match arguments.json {
        true => {
            let object = serde_json::json!({ "over": over, "points": points.len(), "before": before, "after": after });
            format!("{object:#}\n")
        }
        false => [line("over", &over), line("before", &text(&before)), line("after", &text(&after))].concat(),
    });
    match arguments.limit {
        Some(limit) if after.mean_mm > limit => {
            Err(Error::Untrusted(format!("the mean error is {:.3} mm, more than {limit} mm", after.mean_mm)))
        }
        _ => Ok(()),
    }
}

/// What the error is measured over, in words and as points of the fixed image.
fn points(arguments: &Evaluate) -> Result<(String, Vec<DVec3>)> {
    let shown = |points: Vec<DVec3>, what: &str, path: &Path| {
        (format!("{} {what} of {}", points.len(), path.display()), points)
    };
    let Evaluate { fixed, mask, points, .. } = arguments;
    Ok(match (fixed, mask, points) {
        (Some(path), _, _) => shown(io::read(path)?.geometry.corners().into(), "corners", path),
        (_, Some(path), _) => shown(tre::mask_points(&io::read(path)?), "voxels", path),
        (_, _, Some(path)) => shown(landmarks(path, arguments)?, "points", path),
        _ => return Err(Error::Input("give --fixed, --mask or --points".into())),
    })
}

/// Where those points belong in the moving image.
fn targets(arguments: &Evaluate, points: &[DVec3]) -> Result<Vec<DVec3>> {
    let Some(path) = &arguments.moving_points else {
        let truth = arguments.truth.as_deref().map_or(Ok(DAffine3::IDENTITY), transforms::read)?;
        return Ok(points.par_iter().map(|&point| truth.transform_point3(point)).collect());
    };
    let targets = landmarks(path, arguments)?;
    match targets.len() == points.len() {
        true => Ok(targets),
        false => Err(Error::file(path, format!("has {} points, not {}", targets.len(), points.len()))),
    }
}

fn landmarks(path: &Path, arguments: &Evaluate) -> Result<Vec<DVec3>> {
    Ok(Landmarks::read(path, None, arguments.frame)?.points().to_vec())
}

fn text(error: &Tre) -> String {
    let Tre { mean_mm, median_mm, percentile_95_mm, max_mm } = error;
    format!("mean {mean_mm:.3} mm, median {median_mm:.3}, 95th percentile {percentile_95_mm:.3}, max {max_mm:.3}")
}

fn limit(text: &str) -> std::result::Result<f64, String> {
    let limit = text.parse().ok().filter(|limit: &f64| limit.is_finite() && *limit >= 0.0);
    limit.ok_or_else(|| "it must be a number of mm, 0 or more".into())
}
