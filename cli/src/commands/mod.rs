//! The commands of the command line. Each one has a file with its arguments and what it does.

mod apply;
mod batch;
mod compose;
mod convert;
pub mod deform;
mod demo;
mod devices;
mod evaluate;
mod invert;
pub mod mesh;
mod metric;
mod points;
pub mod register;
pub mod template;

use clap::{Parser, Subcommand};
use mireg::Result;

use crate::bench;
use crate::invocation::Invocation;

const EXAMPLES: &str = "\
Examples:
  mireg demo                                      register a synthetic patient
  mireg register ct.nii.gz mr.nii.gz --out out    align mr with ct
  mireg metric ct.nii.gz out/moved.nii.gz         print how well they match";

const EXIT_CODES: &str = "\
Exit codes:
  0         done; warnings, if any, are on stderr and in the report
  1         the result should not be used; a report, if any, is written all the same and says why
  2         bad input or device; the line on stderr says what is wrong and what to do
  70        a fault in mireg itself
  130, 143  interrupted by Ctrl-C or SIGTERM; nothing is left behind";

const FORMATS: &str = "\
Images are NIfTI (.nii, .nii.gz, .hdr with .img), MetaImage (.mha, .mhd), NRRD (.nrrd, .nhdr) or
FreeSurfer's (.mgh, .mgz); of four dimensions, --fixed-volume and --moving-volume choose a volume.
DICOM is read only: the folder of a series, or one of its files. 2-D images can also be PNG, JPEG
or TIFF, with pixels of 1 mm; --fixed-volume chooses a page, --fixed-channel a colour. Transforms
are those of ITK, ANTs, elastix, FSL, NiftyReg, RIRE, FreeSurfer, AFNI, MINC and greedy, 4x4
matrices and JSON: see `mireg convert --help`. Coordinates are LPS mm, as in DICOM and ITK.";

/// Returns the end of a help text: the exit codes between two texts.
fn end(before: &str, after: &str) -> String {
    [before, EXIT_CODES, after].join("\n\n")
}

/// Registers medical images by mutual information, with the same bits on CPU and GPU
#[derive(Parser)]
#[command(name = "mireg", version, about, after_help = end(EXAMPLES, FORMATS), arg_required_else_help = true)]
#[command(max_term_width = 100, disable_help_subcommand = true)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

/// The commands, in the order in which they are needed.
#[derive(Subcommand)]
pub enum Command {
    /// Register MOVING to FIXED: write the transform, the moved image and a report
    #[command(after_help = end(register::OUTPUTS, register::EXAMPLES))]
    Register(register::Register),
    /// Deformable registration of MOVING to FIXED: write the displacement fields, the moved image and a report
    #[command(after_help = end(deform::OUTPUTS, deform::EXAMPLES))]
    Deform(deform::Deform),
    /// Register 2-D images by a mesh of triangles, each with its own affine map
    #[command(after_help = end(mesh::OUTPUTS, mesh::EXAMPLES))]
    Mesh(mesh::Mesh),
    /// Make the unbiased mean of images in shape and intensity
    #[command(after_help = end(template::OUTPUTS, template::EXAMPLES))]
    Template(template::Template),
    /// Register the pairs of a table in one process, which can be stopped and goes on where it was
    #[command(after_help = batch::HELP)]
    Batch(batch::Batch),
    /// Apply transforms to an image: resample it on the grid of another
    #[command(after_help = apply::EXAMPLES)]
    Apply(apply::Apply),
    /// Apply transforms to points
    #[command(after_help = points::EXAMPLES)]
    Points(points::Points),
    /// Print similarity metrics of two images: mutual information, entropies, overlap
    #[command(after_help = metric::EXAMPLES)]
    Metric(metric::Metric),
    /// Print the target registration error of a transform, in mm
    #[command(after_help = evaluate::EXAMPLES)]
    Evaluate(evaluate::Evaluate),
    /// Convert a transform to the format of another program
    #[command(after_help = convert::EXAMPLES)]
    Convert(convert::Convert),
    /// Compose several transforms into one
    #[command(after_help = compose::EXAMPLES)]
    Compose(compose::Compose),
    /// Invert a transform
    #[command(after_help = invert::EXAMPLES)]
    Invert(invert::Invert),
    /// Register a synthetic patient and print the error in mm
    #[command(after_help = demo::EXAMPLES)]
    Demo(demo::Demo),
    /// List the devices on which mireg can compute
    Devices,
    /// Benchmark evaluations of the metric on this machine
    #[command(after_help = bench::arguments::EXAMPLES)]
    Bench(bench::arguments::Bench),
}

impl Command {
    /// Runs the command.
    pub fn run(&self, invocation: &Invocation) -> Result<()> {
        match self {
            Self::Register(register) => register::run(register, invocation),
            Self::Deform(deform) => deform::run(deform, invocation),
            Self::Mesh(mesh) => mesh::run(mesh, invocation),
            Self::Template(template) => template::run(template, invocation),
            Self::Batch(batch) => batch::run(batch, invocation),
            Self::Apply(apply) => apply::run(apply),
            Self::Points(points) => points::run(points),
            Self::Metric(metric) => metric::run(metric),
            Self::Evaluate(evaluate) => evaluate::run(evaluate),
            Self::Convert(convert) => convert::run(convert),
            Self::Compose(compose) => compose::run(compose),
            Self::Invert(invert) => invert::run(invert),
            Self::Demo(demo) => demo::run(demo, invocation),
            Self::Devices => devices::run(),
            Self::Bench(bench) => bench::run(bench),
        }
    }
}
