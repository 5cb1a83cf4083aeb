//! `mireg apply`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use glam::DVec3;
use gpu::math::interpolate::Interpolator;
use mireg::backend::BackendKind;
use mireg::io::transform::{Format, Grids};
use mireg::{Error, Resampling, Result, Silent, io};

use crate::arguments::choice::choice;
use crate::arguments::compute::Compute;
use crate::interrupt::Held;
use crate::summary::line;
use crate::transforms::Chain;

pub const EXAMPLES: &str = "\
A transform takes a point of LIKE to the point of IMAGE, as the one that `mireg register LIKE
IMAGE` writes. Several are applied in the order given, the first to the point of LIKE;
antsApplyTransforms takes them in this order too (what ANTs calls reversed is the way of the image).
Without any, the headers place the images. One of FSL or RIRE must be the only one. The mesh.json of `mireg mesh` is a transform too, and so are
displacement fields (.nii.gz, .mha, .nrrd) and ITK text with several of them (.tfm). IMAGE reaches to
its outermost voxel centres (ITK goes on for half a voxel, with the values there). Where voxels of
LIKE are larger than those of IMAGE nothing is smoothed. The pixel type is that of IMAGE: integers
are rounded and clamped.

Examples:
  mireg apply mr.nii.gz --like ct.nii.gz -t out/transform.tfm --out mr_on_ct.nii.gz
  mireg apply labels.nii.gz --like ct.nii.gz -t out/transform.tfm --labels --out on_ct.nii.gz
  mireg apply ct.nii.gz --like mr.nii.gz -t out/transform.tfm --invert --outside -1000 --out b.nii.gz
  mireg apply mr.nii.gz --like ct.nii.gz -t 1Warp.nii.gz -t 0GenericAffine.mat --out moved.nii.gz
  mireg apply mr.nii.gz --like ct.nii.gz -t flirt.mat --spacing 1 --interpolation b-spline --out c.nii";

#[derive(Args)]
pub struct Apply {
    /// The image to resample
    pub image: PathBuf,
    /// The image whose grid it is resampled on
    #[arg(long, value_name = "LIKE")]
    pub like: PathBuf,
    /// From a point of LIKE to the point of IMAGE; may be given several times
    #[arg(long, short, value_name = "FILE")]
    pub transform: Vec<PathBuf>,
    /// Format of the transforms [default: what the content looks like]; `mireg convert --help` lists them
    #[arg(long, value_parser = choice::<Format>(), value_name = "FORMAT", hide_possible_values = true, requires = "transform")]
    pub from: Option<Format>,
    /// Apply the inverse of the transform, or of all of them together
    #[arg(long)]
    pub invert: bool,
    /// The file to write; the end of its name says the format
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// What lies between voxels
    #[arg(long, value_enum, default_value_t = Interpolation::Linear, help_heading = "Resampling")]
    pub interpolation: Interpolation,
    /// IMAGE holds labels: take the nearest voxel
    #[arg(long, conflicts_with = "interpolation", help_heading = "Resampling")]
    pub labels: bool,
    /// The intensity where IMAGE does not reach
    #[arg(long, value_name = "VALUE", default_value_t = 0.0, allow_negative_numbers = true, value_parser = finite)]
    #[arg(help_heading = "Resampling")]
    pub outside: f32,
    /// Other voxels in the box of LIKE: one number for all axes, or I,J,K, mm
    #[arg(long, value_name = "MM", value_parser = spacing, allow_negative_numbers = true, help_heading = "Resampling")]
    pub spacing: Option<DVec3>,
    #[command(flatten)]
    pub compute: Compute,
}

/// What can be resampled with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Interpolation {
    Nearest,
    Linear,
    /// Tricubic through the voxels
    CatmullRom,
    /// Tricubic B-spline
    BSpline,
}

impl From<Interpolation> for Interpolator {
    fn from(interpolation: Interpolation) -> Self {
        match interpolation {
            Interpolation::Nearest => Self::Nearest,
            Interpolation::Linear => Self::Linear,
            Interpolation::CatmullRom => Self::CatmullRom,
            Interpolation::BSpline => Self::BSpline,
        }
    }
}

/// Reads an image and a grid, resamples and writes.
pub fn run(arguments: &Apply) -> Result<()> {
    let Apply { image, like, out, .. } = arguments;
    crate::keep_inputs(out, [image, like])?;
    // A device is opened for what it computes alone.
    let engine = arguments.compute.engine_on(BackendKind::Cpu, &Silent)?;
    let (like, volume, chain) = engine.install(|| {
        let (like, volume) = rayon::join(|| io::geometry(like), || io::read(image));
        let (like, volume) = (like?, volume?);
        let chain = between(arguments, &Grids::of(&like, &volume.geometry))?;
        Ok((like, volume, chain))
    })?;
    let map = chain.map(arguments.invert);
    let grid = arguments.spacing.map_or(like, |spacing| like.respaced(spacing));
    let how = Resampling {
        interpolator: if arguments.labels { Interpolator::Nearest } else { arguments.interpolation.into() },
        outside: arguments.outside,
    };
    let engine = if map.affine().is_some() { engine.on(arguments.compute.backend, &Silent)? } else { engine };
    let resampled = engine.resample(&volume, &grid, &map, &how)?;
    chain.met(&map)?;
    if resampled.inside == 0 {
        return Err(Error::untrusted(format!(
            "no voxel of the grid falls inside {}: check the headers, and whether the transform leads the other way (--invert)",
            image.display()
        )));
    }
    let _held = Held::new();
    engine.install(|| io::write(out, &resampled.volume))?;
    let ([i, j, k], spacing) = (grid.size, grid.spacing);
    let part = 100.0 * resampled.inside as f64 / grid.voxels() as f64;
    let size = format!("{i} x {j} x {k} voxels of {:.4} x {:.4} x {:.4} mm", spacing.x, spacing.y, spacing.z);
    crate::print(&line("wrote", &format!("{}, {size}", out.display())));
    crate::print(&line("inside", &format!("{part:.1} % of them lie in {}", image.display())));
    Ok(())
}

/// What is between points of LIKE and of IMAGE, whose grids these are.
fn between(arguments: &Apply, grids: &Grids) -> Result<Chain> {
    let Apply { transform, from, invert, .. } = arguments;
    let grids = if *invert { grids.swapped() } else { *grids };
    Chain::read(transform, *from, &grids)
}

fn finite(text: &str) -> std::result::Result<f32, String> {
    text.parse().ok().filter(|value: &f32| value.is_finite()).ok_or_else(|| "it must be a finite number".into())
}

fn spacing(text: &str) -> std::result::Result<DVec3, String> {
    let numbers: Option<Vec<f64>> = text.split(',').map(|number| number.trim().parse().ok()).collect();
    let spacing = match numbers.as_deref() {
        Some(&[all]) => Some(DVec3::splat(all)),
        Some(&[i, j, k]) => Some(DVec3::new(i, j, k)),
        _ => None,
    };
    let spacing = spacing.filter(|spacing| spacing.is_finite() && spacing.min_element() > 0.0);
    spacing.ok_or_else(|| "one or three positive numbers are possible, as in 1 or 1,1,2.5".into())
}
