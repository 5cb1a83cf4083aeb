//! `mireg mesh`.

use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::arguments::choice::choice;
use crate::invocation::Invocation;
use crate::report::mesh::{FIELD, Facts, Meshed, Start as Started};
use crate::report::{self, Report, Run};
use clap::{Args, value_parser};
use glam::DAffine3;
use mireg::backend::Exponentials;
use mireg::io::transform::{self, Format, Grids};
use mireg::io::{self, OutputFolder};
use mireg::mesh::{self, Found};
use mireg::registration::{Doubt, Init};
use mireg::transform::Linear;
use mireg::{Result, Volume};

use super::register;
use crate::arguments::compute::Compute;
use crate::arguments::search::Start;
use crate::progress::Progress;
use crate::summary::line;

pub const EXAMPLES: &str = "\
FIXED and MOVING are 2-D images, such as two pictures of a retina. An affine registration maps
a mesh of triangles over FIXED into MOVING. Then its vertices move to maximise the mutual
information within the triangles (Lin & Medioni, section 4). No triangle folds.

Output files in DIR. Existing files of these names are replaced. If anything fails, none is written:
  mesh.json      the mesh; `mireg points` and `mireg apply` accept it as a transform
  mesh.vtk       the same for ParaView and 3D Slicer
  field.mha      displacement field on the grid of FIXED, LPS mm, in the convention of ITK
  transform.tfm  the initial affine transform
  moved.nii.gz   MOVING resampled on the grid of FIXED; moved.png if MOVING is PNG, JPEG or TIFF
  report.json    mutual information by iteration, mesh, initialisation, warnings, timing
  report.html    the same with pictures, for visual inspection

Exit codes:
  0   done; warnings, if any, are on stderr and in the report
  1   the result should not be used; it is written for inspection, and the report says why
  2   bad input or device; the line on stderr says what is wrong and what to do
  70  a fault in mireg itself

Examples:
  mireg mesh fundus.jpg angiogram.jpg --out out
      affine registration, then the mesh
  mireg mesh fundus.jpg angiogram.jpg --out out --start affine.tfm --spacing 60
      from an existing transform, with cells of 60 pixels";

#[derive(Args)]
pub struct Mesh {
    /// Fixed image (the reference)
    pub fixed: PathBuf,
    /// Moving image
    pub moving: PathBuf,
    /// Output folder
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub out: PathBuf,
    /// Cell size of the mesh in pixels of FIXED, at least 10; a cell is two triangles [default: 1/16 of the longer side, at least 25]
    #[arg(long, value_name = "PX", allow_negative_numbers = true, help_heading = "Mesh")]
    pub spacing: Option<f64>,
    /// Maximum iterations per level
    #[arg(long, value_name = "N", default_value_t = 50, allow_negative_numbers = true, help_heading = "Mesh")]
    #[arg(value_parser = value_parser!(u32).range(1..))]
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
    /// Initialisation of the affine registration: auto searches translations, rotations and scales; the others are those of
    /// `mireg register`
    #[arg(long, value_name = "START|FILE", default_value = "auto", help_heading = "Initialisation")]
    pub init: Start,
    /// Format of the initial transform [default: detected from the content]
    #[arg(long, value_parser = choice::<Format>(), value_name = "FORMAT", hide_possible_values = true, help_heading = "Initialisation")]
    pub from: Option<Format>,
    #[command(flatten)]
    pub compute: Compute,
    /// Print errors and warnings only
    #[arg(long, short, help_heading = "Output")]
    pub quiet: bool,
}

/// Where the mesh starts.
struct Begin {
    transform: Linear,
    from: String,
    doubts: Vec<Doubt>,
}

/// Reads two pictures, finds the mesh, writes the results and prints a summary.
pub fn run(arguments: &Mesh, invocation: &Invocation) -> Result<()> {
    let Mesh { fixed, moving, out, .. } = arguments;
    crate::keep_inputs(&out.join(report::moved(moving)), [fixed, moving])?;
    crate::keep_inputs(&out.join(FIELD), [fixed, moving])?;
    let folder = OutputFolder::create(out)?;
    let progress = Progress::new(arguments.quiet);
    progress.step("reading");
    let reading = Instant::now();
    let images = crate::read(fixed, moving)?;
    let options = arguments.options()?;
    let read = reading.elapsed().as_secs_f64();
    // What cannot be meshed is told before the affine registration, not after it.
    mesh::Mesh::build(&images.0, &DAffine3::IDENTITY, options.spacing, options.fixed_mask.as_ref())?;

    let aligning = Instant::now();
    let begin = begin(arguments, &images, &options, &progress)?;
    let align = aligning.elapsed().as_secs_f64();
    progress.step("mesh");
    let found = mesh::register(&images.0, &images.1, &begin.transform.to_affine(), &options, &progress)?;
    progress.step("writing");
    let pair = [&images.0, &images.1];
    let Begin { transform, from, doubts } = &begin;
    let meshed = Meshed::new(&found, Started { transform, from, doubts, seconds: align }, pair)?;
    let report = Run { invocation, fixed, moving, images: pair, read }.write(&meshed, &folder)?;
    folder.commit()?;
    progress.finish();
    register::warn(&report.warnings);
    if !arguments.quiet {
        crate::print(&summary(&report, &found, moving, out));
    }
    register::trusted(&report.warnings, out)
}

impl Mesh {
    fn options(&self) -> Result<mesh::Options> {
        Ok(mesh::Options {
            spacing: self.spacing,
            iterations: self.iterations as usize,
            sigmas: self.sigmas,
            exponentials: self.exponentials,
            backend: self.compute.backend,
            threads: self.compute.threads(),
            fixed_mask: self.fixed_mask.as_deref().map(io::read).transpose()?,
        })
    }
}

/// The transform that was given, or what an affine registration finds.
fn begin(
    arguments: &Mesh,
    (fixed, moving): &(Volume, Volume),
    options: &mesh::Options,
    progress: &Progress,
) -> Result<Begin> {
    let grids = Grids::of(&fixed.geometry, &moving.geometry);
    if let Some(path) = &arguments.start {
        let transform = transform::read(path, arguments.from, &grids)?;
        return Ok(Begin { transform, from: path.display().to_string(), doubts: Vec::new() });
    }
    let init = arguments.init.read(arguments.from, &grids)?;
    let found = mesh::align(fixed, moving, &init, options, progress)?;
    let from = if init == Init::Auto { "a search" } else { found.started.from };
    Ok(Begin { transform: found.transform, from: from.to_owned(), doubts: found.doubts })
}

/// What came out, a line a fact.
fn summary(report: &Report<Facts>, found: &Found, moving: &Path, out: &Path) -> String {
    let facts = &report.facts;
    let (mesh, seconds) = (&facts.mesh, &facts.seconds);
    let lines = [
        ("mesh", format!("{} triangles, {} vertices", mesh.triangles, mesh.corners)),
        ("displacement", format!("mean {:.2} mm, maximum {:.2} mm", mesh.mean_mm, mesh.most_mm)),
        ("metric", format!("MI {:.4} -> {:.4} nats, from {}", facts.before(), facts.after(), facts.start)),
        (
            "time",
            format!(
                "{:.2} s, of which affine registration {:.2} s, mesh {:.2} s",
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
