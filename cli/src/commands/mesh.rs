//! `mireg mesh`.

use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::arguments::choice::choice;
use crate::report::{self, MeshReport, MeshRun};
use clap::{Args, value_parser};
use mireg::Result;
use mireg::backend::Exponentials;
use mireg::io::transform::{self, Format, Grids};
use mireg::io::{self, OutputFolder};
use mireg::mesh::{self, Found};

use super::register;
use crate::arguments::compute::Compute;
use crate::arguments::search::Start;
use crate::interrupt::{self, Held};
use crate::progress::Progress;
use crate::summary::line;

pub const EXAMPLES: &str = "\
FIXED and MOVING are 2-D images, such as pictures of one retina. An affine registration puts
a mesh of triangles over FIXED into MOVING; then its corners climb the mutual information of
their triangles (Lin & Medioni, section 4). No triangle folds.

DIR gets all of these or, where something fails, none; files of these names are replaced:
  mesh.json      the mesh: `mireg points` and `mireg apply` take it as a transform
  mesh.vtk       the same for ParaView and 3D Slicer
  field.mha      displacement of every pixel of FIXED, LPS mm, as ITK has it
  transform.tfm  the affine transform that the mesh started from
  moved.nii.gz   MOVING on the grid of FIXED; moved.png where MOVING is PNG, JPEG or TIFF
  report.json    mutual information by iteration, mesh, start, warnings, seconds
  report.html    the same with pictures: open it and look

Exit codes:
  0   done; the warnings, if any, are on stderr and in the report
  1   the result should not be used: it is written for the eye, and `trust` in the report says why
  2   something is wrong with the input or the device; the line on stderr says what to do
  70  a fault in mireg itself

Examples:
  mireg mesh fundus.jpg angiogram.jpg --out out
      an affine transform, then the mesh
  mireg mesh fundus.jpg angiogram.jpg --out out --start affine.tfm --spacing 60
      from a transform that is there, with triangles of 60 pixels";

#[derive(Args)]
pub struct Mesh {
    /// The image that the mesh lies over
    pub fixed: PathBuf,
    /// The image in which its corners move
    pub moving: PathBuf,
    /// Folder for the results
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub out: PathBuf,
    /// Side of a cell of two triangles, pixels of FIXED, 10 at least [default: a 16th of the longer side, but 25 at least]
    #[arg(long, value_name = "PX", allow_negative_numbers = true, help_heading = "Mesh")]
    pub spacing: Option<f64>,
    /// Iterations a level, at most
    #[arg(long, value_name = "N", default_value_t = 50, allow_negative_numbers = true, help_heading = "Mesh")]
    #[arg(value_parser = value_parser!(u32).range(1..))]
    pub iterations: u32,
    /// Sigmas of the Gaussian windows over FIXED and over MOVING, in local standard deviations [default: the likeliest]
    #[arg(long, value_name = "F,M", value_parser = sigmas, allow_negative_numbers = true, help_heading = "Mesh")]
    pub sigmas: Option<[f64; 2]>,
    /// How exponentials are computed
    #[arg(long, value_parser = choice::<Exponentials>(), default_value_t = Exponentials::Exact, help_heading = "Mesh")]
    pub exponentials: Exponentials,
    /// Mesh only where this image, on the grid of FIXED, is 0.5 or more [default: where FIXED is not black]
    #[arg(long, value_name = "FILE", help_heading = "Mesh")]
    pub fixed_mask: Option<PathBuf>,
    /// Start from this transform, without an affine registration
    #[arg(long, value_name = "TRANSFORM", conflicts_with = "init", help_heading = "Start")]
    pub start: Option<PathBuf>,
    /// Where the affine registration starts: auto searches places, turns and sizes; the others are those of `mireg register`
    #[arg(long, value_name = "START|FILE", default_value = "auto", help_heading = "Start")]
    pub init: Start,
    /// Format of a transform to start from [default: what the content looks like]
    #[arg(long, value_parser = choice::<Format>(), value_name = "FORMAT", hide_possible_values = true, help_heading = "Start")]
    pub from: Option<Format>,
    #[command(flatten)]
    pub compute: Compute,
    /// Print errors and warnings only
    #[arg(long, short, help_heading = "Output")]
    pub quiet: bool,
}

/// Reads two pictures, finds the mesh, writes the results and prints a summary.
pub fn run(arguments: &Mesh, started: Instant) -> Result<()> {
    let Mesh { fixed, moving, out, .. } = arguments;
    crate::keep_inputs(&out.join(report::moved(moving)), [fixed, moving])?;
    crate::keep_inputs(&out.join(report::FIELD), [fixed, moving])?;
    let _held = Held::new();
    let folder = OutputFolder::create(out)?;
    let progress = Progress::new(arguments.quiet);
    progress.step("reading");
    let reading = Instant::now();
    let engine = arguments.compute.engine(&progress)?;
    let (images, options) = engine.install(|| {
        let images = crate::read(fixed, moving)?;
        let options = arguments.options(&Grids::of(&images.0.geometry, &images.1.geometry))?;
        Ok((images, options))
    })?;
    let read = reading.elapsed().as_secs_f64() - engine.opening_seconds();
    let found = engine.mesh(&images.0, &images.1, &options, &progress)?;
    progress.step("writing");
    let run = MeshRun { started, fixed, moving, read, start: arguments.start.as_deref() };
    let report = engine.install(|| run.write([&images.0, &images.1], &found, &folder))?;
    interrupt::proceed()?;
    folder.commit()?;
    progress.finish();
    register::warn(&report.warnings);
    if !arguments.quiet {
        crate::print(&summary(&report, &found, moving, out));
    }
    register::trusted(&report.warnings, out)
}

impl Mesh {
    /// What the library wants to know about pictures on these grids; reads the mask and the transform to start from.
    fn options(&self, grids: &Grids) -> Result<mesh::Options> {
        let start = match &self.start {
            Some(path) => mesh::Start::Transform(transform::read_linear(path, self.from, grids)?),
            None => mesh::Start::Register(self.init.read(self.from, grids)?),
        };
        Ok(mesh::Options {
            start,
            spacing: self.spacing,
            iterations: self.iterations as usize,
            sigmas: self.sigmas,
            exponentials: self.exponentials,
            fixed_mask: self.fixed_mask.as_deref().map(io::read).transpose()?,
        })
    }
}

/// What came out, a line a fact.
fn summary(report: &MeshReport, found: &Found, moving: &Path, out: &Path) -> String {
    let (mesh, seconds) = (&report.mesh, &report.seconds);
    let lines = [
        ("mesh", format!("{} triangles, {} corners", mesh.triangles, mesh.corners)),
        ("moved", format!("corners by {:.2} mm on average, {:.2} mm at most", mesh.mean_mm, mesh.most_mm)),
        ("metric", format!("MI {:.4} -> {:.4} nats, from {}", report.before(), report.after(), report.start)),
        (
            "time",
            format!(
                "{:.2} s in all, {:.2} s of it the affine start, {:.2} s the mesh",
                seconds.total, seconds.align, seconds.mesh
            ),
        ),
        ("computed on", format!("{} ({})", found.backend, found.device)),
        (
            "files",
            format!(
                "mesh.json, mesh.vtk, field.mha, transform.tfm, {}, report.json, report.html in {}",
                report::moved(moving),
                out.display()
            ),
        ),
    ];
    lines.iter().map(|(label, text)| line(label, text)).collect()
}

fn sigmas(text: &str) -> std::result::Result<[f64; 2], String> {
    let sigma = |text: &str| text.trim().parse().ok().filter(|sigma: &f64| sigma.is_finite() && *sigma > 0.0);
    let sigmas = text.split_once(',').and_then(|(fixed, moving)| Some([sigma(fixed)?, sigma(moving)?]));
    sigmas.ok_or_else(|| "two numbers above 0 are possible, as in 0.2,0.3".into())
}
