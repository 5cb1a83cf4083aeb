//! What can be typed, and what runs then. A command's arguments are beside it, in its own file.

mod apply;
mod compose;
mod convert;
mod deform;
mod demo;
mod devices;
mod evaluate;
mod invert;
mod mesh;
mod metric;
mod points;
mod register;

use std::time::Instant;

use clap::{Parser, Subcommand};
use mireg::Result;

use crate::bench;

const EXAMPLES: &str = "\
Examples:
  mireg demo                                      see it work on a made-up patient
  mireg register ct.nii.gz mr.nii.gz --out out    align mr with ct
  mireg metric ct.nii.gz out/moved.nii.gz         say how well they match

Exit codes:
  0   done
  1   the registration cannot be trusted
  2   something is wrong with the input; the line on stderr says what
  70  a fault in mireg itself

Images are NIfTI (.nii, .nii.gz, .hdr with .img), MetaImage (.mha, .mhd), NRRD (.nrrd, .nhdr)
and, to read, the folder of a DICOM series or a DICOM file of it; 2-D images also PNG, JPEG and
TIFF, a pixel of which is 1 mm. Transforms are those of ITK, ANTs, elastix, FSL, NiftyReg, RIRE
and greedy, 4x4 matrices and JSON: see `mireg convert --help`. Coordinates are LPS mm, as in
DICOM and ITK.";

/// Aligns medical images by mutual information, with the same bits on CPU and GPU
#[derive(Parser)]
#[command(name = "mireg", version, about, after_help = EXAMPLES, arg_required_else_help = true, max_term_width = 100)]
#[command(disable_help_subcommand = true)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

/// In the order in which they are needed.
#[derive(Subcommand)]
pub enum Command {
    /// Align MOVING with FIXED: write the transform, the moved image and a report
    #[command(after_help = register::EXAMPLES)]
    Register(register::Register),
    /// Deform MOVING onto FIXED: write displacement fields both ways, the moved image and a report
    #[command(after_help = deform::EXAMPLES)]
    Deform(deform::Deform),
    /// Align 2-D images by a mesh of triangles, each with an affine map of its own
    #[command(after_help = mesh::EXAMPLES)]
    Mesh(mesh::Mesh),
    /// Resample an image on the grid of another, through transforms
    #[command(after_help = apply::EXAMPLES)]
    Apply(apply::Apply),
    /// Take landmarks through transforms
    #[command(after_help = points::EXAMPLES)]
    Points(points::Points),
    /// Print how well two images match: mutual information, entropies, overlap
    #[command(after_help = metric::EXAMPLES)]
    Metric(metric::Metric),
    /// Print how far a transform is from the truth, in mm
    #[command(after_help = evaluate::EXAMPLES)]
    Evaluate(evaluate::Evaluate),
    /// Write a transform in another program's format
    #[command(after_help = convert::EXAMPLES)]
    Convert(convert::Convert),
    /// Write the transform that does what several do one after the other
    #[command(after_help = compose::EXAMPLES)]
    Compose(compose::Compose),
    /// Write the way back of a transform
    #[command(after_help = invert::EXAMPLES)]
    Invert(invert::Invert),
    /// Register a made-up patient and print the error in mm
    #[command(after_help = demo::EXAMPLES)]
    Demo(demo::Demo),
    /// List the places where mireg can compute on this machine
    Devices,
    /// Measure how long evaluations of the metric take on this machine
    #[command(after_help = bench::arguments::EXAMPLES)]
    Bench(bench::arguments::Bench),
}

impl Command {
    /// Runs it. `started`: when the process did.
    pub fn run(&self, started: Instant) -> Result<()> {
        match self {
            Self::Register(register) => register::run(register, started),
            Self::Deform(deform) => deform::run(deform, started),
            Self::Mesh(mesh) => mesh::run(mesh, started),
            Self::Apply(apply) => apply::run(apply),
            Self::Points(points) => points::run(points),
            Self::Metric(metric) => metric::run(metric),
            Self::Evaluate(evaluate) => evaluate::run(evaluate),
            Self::Convert(convert) => convert::run(convert),
            Self::Compose(compose) => compose::run(compose),
            Self::Invert(invert) => invert::run(invert),
            Self::Demo(demo) => demo::run(demo, started),
            Self::Devices => devices::run(),
            Self::Bench(bench) => bench::run(bench),
        }
    }
}
