//! `mireg apply`.

use std::path::PathBuf;

use clap::Args;
use glam::DVec3;
use mireg::backend::BackendKind;
use mireg::io::transform::{Format, Grids};
use mireg::metric::Interpolator;
use mireg::{Engine, Error, Geometry, Resampled, Resampling, Result, Silent, Volume, io};

use crate::arguments::choice::choice;
use crate::arguments::compute::Compute;
use crate::arguments::images::Single;
use crate::arguments::interpolation::Interpolation;
use crate::interrupt::SignalGuard;
use crate::terminal::{self, line};
use crate::transforms::{Chain, verdict};
use crate::{files, in_memory};

pub const EXAMPLES: &str = "\
Transforms map points of LIKE to points of IMAGE, like the one that `mireg register LIKE IMAGE`
writes. They are applied to a point in the order given, the first to the point of LIKE. This is
the order of antsApplyTransforms. Without transforms, the headers give the positions. Transforms
can also be displacement fields (.nii.gz, .mha, .nrrd), ITK files of several transforms (.tfm, .h5)
and the mesh.json of `mireg mesh`. A transform of FSL, RIRE or AFNI must be the only one.

IMAGE ends at its outermost voxel centres (in ITK half a voxel later). IMAGE is not smoothed, even
if the voxels of LIKE are larger. The output has the pixel type of IMAGE: integers are rounded and
clamped.

Examples:
  mireg apply mr.nii.gz --like ct.nii.gz -t out/transform.tfm --out mr_on_ct.nii.gz
  mireg apply labels.nii.gz --like ct.nii.gz -t out/transform.tfm --labels --out on_ct.nii.gz
  mireg apply ct.nii.gz --like mr.nii.gz -t out/transform.tfm --invert --outside -1000 --out b.nii
  mireg apply mr.nii.gz --like ct.nii.gz -t 1Warp.nii.gz -t 0GenericAffine.mat --out moved.nii.gz
  mireg apply mr.nii.gz --like ct.nii.gz -t fsl.mat --spacing 1 --interpolation b-spline --out c.nii";

#[derive(Args)]
pub struct Apply {
    /// Image to resample
    pub image: PathBuf,
    #[command(flatten)]
    pub single: Single,
    /// Reference image: IMAGE is resampled on its grid
    #[arg(long, value_name = "LIKE")]
    pub like: PathBuf,
    /// Transform from points of LIKE to points of IMAGE; can be repeated
    #[arg(long, short, value_name = "FILE")]
    pub transform: Vec<PathBuf>,
    /// Format of the transforms; `mireg convert --help` lists them [default: detected from the content]
    #[arg(long, value_parser = choice::<Format>(), value_name = "FORMAT", hide_possible_values = true, requires = "transform")]
    pub from: Option<Format>,
    /// Apply the inverse of the transform, or of the whole chain
    #[arg(long)]
    pub invert: bool,
    /// Output file; its extension gives the format
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Interpolator
    #[arg(long, value_parser = Interpolation::of_values(), default_value = "linear", help_heading = "Resampling")]
    pub interpolation: Interpolation,
    /// IMAGE holds labels: use nearest-neighbour interpolation
    #[arg(long, conflicts_with = "interpolation", help_heading = "Resampling")]
    pub labels: bool,
    /// Value outside IMAGE
    #[arg(long, value_name = "VALUE", default_value_t = 0.0, allow_negative_numbers = true, value_parser = finite)]
    #[arg(help_heading = "Resampling")]
    pub outside: f32,
    /// Spacing of the output grid, instead of that of LIKE: one number for all axes, or I,J,K, mm
    #[arg(long, value_name = "MM", value_parser = spacing, allow_negative_numbers = true, help_heading = "Resampling")]
    pub spacing: Option<DVec3>,
    #[command(flatten)]
    pub compute: Compute,
}

/// Resamples an image on the grid of another one and writes it.
pub fn run(arguments: &Apply) -> Result<()> {
    let Apply { image, like, out, .. } = arguments;
    files::keep_inputs(out, [image, like])?;
    // A GPU resamples by linear transforms only. Whether it is needed is known once the transforms are read.
    let engine = arguments.compute.engine_on(BackendKind::Cpu, &Silent)?;
    let read = arguments.read(in_memory::InMemory::default(), &engine)?;
    let engine = if read.is_linear() { engine.on(arguments.compute.backend, &Silent)? } else { engine };
    let (resampled, doubt) = arguments.resample(&read, &engine)?;
    let _guard = SignalGuard::new();
    engine.install(|| io::write(out, &resampled.volume))?;
    let grid = resampled.volume.geometry;
    let ([i, j, k], spacing) = (grid.size, grid.spacing);
    files::say(&read.notes);
    let part = 100.0 * resampled.inside as f64 / grid.voxels() as f64;
    let size = format!("{i} x {j} x {k} voxels of {:.4} x {:.4} x {:.4} mm", spacing.x, spacing.y, spacing.z);
    terminal::print(&line("wrote", &format!("{}, {size}", out.display())));
    terminal::print(&line("inside", &format!("{part:.1} % of them lie in {}", image.display())));
    verdict(doubt)
}

/// The inputs of the command.
pub struct Read {
    volume: Volume,
    like: Geometry,
    chain: Chain,
    /// Notes on how the image was read, one line each.
    pub notes: Vec<String>,
}

impl Read {
    /// Returns whether all transforms are linear, so that a GPU can resample.
    pub fn is_linear(&self) -> bool {
        self.chain.transform.to_affine().is_some()
    }
}

impl Apply {
    /// Reads the inputs that are not in memory.
    ///
    /// # Errors
    /// Those of files that cannot be read.
    pub fn read(&self, in_memory: in_memory::InMemory, engine: &Engine) -> Result<Read> {
        let in_memory::InMemory { image, grid, transform, .. } = in_memory;
        let like = || grid.map_or_else(|| io::geometry(&self.like), Ok);
        let image = || image.map_or_else(|| io::read_with(&self.image, &self.single.options()), |held| Ok(held.into()));
        engine.install(|| {
            let (like, image) = rayon::join(like, image);
            let (like, image) = (like?, image?);
            let (notes, volume) = (files::notes(&self.image, &image), image.volume);
            let grids = Grids::of(&like, &volume.geometry);
            let grids = if self.invert { grids.swapped() } else { grids };
            let chain = Chain::held_or_read(transform, &self.transform, self.from, &grids)?;
            Ok(Read { volume, like, chain, notes })
        })
    }

    /// Resamples the image on the grid. Also returns the warning of [`Chain::doubt`].
    ///
    /// # Errors
    /// As [`Engine::resample`]; [`Error::File`] for labels that are too large, [`Error::Untrusted`] if no voxel of the
    /// grid lies in the image.
    pub fn resample(&self, read: &Read, engine: &Engine) -> Result<(Resampled, Option<String>)> {
        let map = read.chain.map(self.invert);
        let grid = self.spacing.map_or(read.like, |spacing| read.like.respaced(spacing));
        let interpolator = if self.labels { Interpolator::Nearest } else { self.interpolation.into() };
        if let Some(text) = self.labels.then(|| mireg::labels::too_large(&read.volume)).flatten() {
            return Err(Error::file(&self.image, text));
        }
        let how = Resampling { interpolator, outside: self.outside };
        let resampled = engine.resample(&read.volume, &grid, &map, &how)?;
        read.chain.check_grids_reached(&map)?;
        if resampled.inside == 0 {
            return Err(Error::untrusted(format!(
                "no voxel of the grid falls inside {}; check the headers, and whether the transform leads the other way (--invert)",
                self.image.display()
            )));
        }
        Ok((resampled, read.chain.doubt(self.invert)))
    }
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
