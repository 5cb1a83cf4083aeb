//! `mireg mesh`.

use std::path::PathBuf;

use clap::Args;
use mireg::backend::Exponentials;
use mireg::io::transform::{Format, Grids};
use mireg::{Result, mesh};

use crate::arguments::choice::{choice, outputs};
use crate::arguments::compute::Compute;
use crate::arguments::number::{number, whole};
use crate::arguments::pair::Pair;
use crate::arguments::ranges::Ranges;
use crate::arguments::search::Start;
use crate::files;
use crate::in_memory::{InMemory, or_read};
use crate::invocation::Invocation;
use crate::job::Job;
use crate::report::mesh::Meshed;
use crate::report::outputs::{Output, Outputs};
use crate::transforms;

pub const OUTPUTS: &str = "\
FIXED and MOVING are 2-D images, such as two pictures of a retina. An affine registration maps
a mesh of triangles over FIXED into MOVING. Its vertices are searched for from coarse to fine
meshes, then move to maximise the mutual information within the triangles (Lin & Medioni,
section 4). No triangle folds.

Output files in DIR. Existing files of these names are replaced. If anything fails, none is written:
  mesh.json      the mesh; `mireg points` and `mireg apply` accept it as a transform
  mesh.vtk       the same for ParaView and 3D Slicer, with the confidence of each triangle
  field.mha      displacement field on the grid of FIXED, LPS mm, in the convention of ITK
  transform.tfm  the initial linear transform
  moved.nii.gz   MOVING resampled on the grid of FIXED; moved.png if MOVING is PNG, JPEG or TIFF
  report.json    mutual information by iteration, mesh, confidence, initialisation, warnings, timing
  report.html    the same with pictures, for visual inspection";

pub const EXAMPLES: &str = "\
Examples:
  mireg mesh fundus.jpg angiogram.jpg --out out
      affine registration, then the mesh
  mireg mesh fundus.jpg angiogram.jpg --out out --start affine.tfm --spacing 60
      from an existing transform, with cells of 60 pixels";

#[derive(Args)]
pub struct Mesh {
    #[command(flatten)]
    pub pair: Pair,
    /// Outputs to write; what is left out is not computed either, unless a check of the result needs it [default: all]
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', value_parser = outputs::<Meshed>(), help_heading = "Output")]
    pub write: Vec<Output>,
    /// Cell size of the mesh in pixels of FIXED, at least 10; a cell is two triangles [default: 1/16 of the longer
    /// side, at most the shorter side, at least 25]
    #[arg(long, value_name = "PX", value_parser = number, allow_negative_numbers = true, help_heading = "Mesh")]
    pub spacing: Option<f64>,
    /// Maximum iterations of the gradient ascent after the search
    #[arg(long, value_name = "N", default_value_t = 50, allow_negative_numbers = true, help_heading = "Mesh")]
    #[arg(value_parser = whole::<u32>(1..))]
    pub iterations: u32,
    /// Standard deviations of the Gaussian windows of FIXED and MOVING, as multiples of the local standard deviation of the
    /// intensities [default: maximum likelihood]
    #[arg(long, value_name = "F,M", value_parser = sigmas, allow_negative_numbers = true, help_heading = "Mesh")]
    pub sigmas: Option<[f64; 2]>,
    /// How the exponentials of the windows are computed
    #[arg(long, value_parser = choice::<Exponentials>(), default_value_t = Exponentials::Exact, help_heading = "Mesh")]
    pub exponentials: Exponentials,
    /// Mask on the grid of FIXED: the mesh covers where it is 0.5 or more [default: where FIXED is not black]
    #[arg(long, value_name = "FILE", help_heading = "Mesh")]
    pub fixed_mask: Option<PathBuf>,
    /// Initial transform, instead of an affine registration
    #[arg(long, value_name = "TRANSFORM", conflicts_with = "init", help_heading = "Initialisation")]
    pub start: Option<PathBuf>,
    /// Initialisation of the affine registration: auto starts from what `mireg register` finds, affine or, if only that
    /// passes its checks, rigid; the others are those of `mireg register`, on pictures of local contrast
    #[arg(long, value_name = "START|FILE", default_value = "auto", help_heading = "Initialisation")]
    pub init: Start,
    /// Format of the initial transform [default: detected from the content]
    #[arg(long, value_parser = choice::<Format>(), value_name = "FORMAT", hide_possible_values = true, help_heading = "Initialisation")]
    pub from: Option<Format>,
    #[command(flatten)]
    pub ranges: Ranges,
    #[command(flatten)]
    pub compute: Compute,
}

/// Reads two images, finds the mesh, writes the results and prints a summary.
pub fn run(arguments: &Mesh, invocation: &Invocation) -> Result<()> {
    let outputs = Outputs::new(&arguments.write);
    let job = Job::open::<Meshed>(&arguments.pair, outputs, &[], &arguments.compute, invocation)?;
    let loaded = job.read(|grids| arguments.options(grids, InMemory::default()))?;
    let (fixed, moving) = (&loaded.fixed, &loaded.moving);
    let found = job.engine.mesh(fixed, moving, &loaded.options, &job.progress)?;
    let meshed = job.engine.install(|| Meshed::new(&found, arguments.start.as_deref(), [fixed, moving]))?;
    job.finish(&loaded, &meshed)
}

impl Mesh {
    /// Returns the options for the library. Reads the mask and the initial transform that are not in memory; `grids`
    /// are those of the two images.
    ///
    /// # Errors
    /// Those of files that cannot be read.
    pub fn options(&self, grids: &Grids, in_memory: InMemory) -> Result<mesh::Options> {
        let held_start = in_memory.linear()?;
        let fixed_mask = or_read(in_memory.fixed_mask, self.fixed_mask.as_deref(), files::on_grid)?;
        let start = match (&self.start, held_start) {
            (_, Some(start)) => mesh::Start::Transform(start),
            (Some(path), None) => mesh::Start::Transform(transforms::read_linear(path, self.from, grids)?),
            (None, None) => mesh::Start::Register(self.init.read(self.from, grids)?),
        };
        Ok(mesh::Options {
            start,
            spacing: self.spacing,
            iterations: self.iterations as usize,
            sigmas: self.sigmas,
            exponentials: self.exponentials,
            fixed_mask,
            fixed_range: self.ranges.fixed_range,
            moving_range: self.ranges.moving_range,
        })
    }
}
fn sigmas(text: &str) -> std::result::Result<[f64; 2], String> {
    let sigma = |text: &str| text.trim().parse().ok().filter(|sigma: &f64| sigma.is_finite() && *sigma > 0.0);
    let sigmas = text.split_once(',').and_then(|(fixed, moving)| Some([sigma(fixed)?, sigma(moving)?]));
    sigmas.ok_or_else(|| "two numbers above 0 are possible, as in 0.2,0.3".into())
}
