//! `mireg points`.

use std::path::PathBuf;

use clap::Args;
use mireg::Result;
use mireg::io::points::{Format, Frame, Landmarks};

use crate::arguments::choice::choice;
use crate::arguments::grids::{ImageGrids, Reading};
use crate::interrupt::Held;
use crate::summary::line;
use crate::transforms::Chain;

pub const EXAMPLES: &str = "\
Without --invert the points are of the fixed image and go to the moving image, mm.
(An image goes the other way through the same transform: see `mireg apply`.) OUT has
the format of IN and keeps all of it but the coordinates. A file of 3D Slicer says
itself whether it is in LPS or RAS. The mesh.json of `mireg mesh` is a transform too, and
so are displacement fields (.nii.gz, .mha, .nrrd) and ITK text with several of them.
Several are applied in the order given, as by antsApplyTransformsToPoints.

Examples:
  mireg points ct_landmarks.csv --transform out/transform.tfm --out mr_landmarks.csv
  mireg points mr.mrk.json --transform out/transform.tfm --invert --out ct.mrk.json
  mireg points ct.txt --frame ras --transform out/transform.tfm --out mr.txt
  mireg points fundus.csv --transform out/mesh.json --out angiogram.csv
  mireg points fixed.csv -t 1Warp.nii.gz -t 0GenericAffine.mat --out moving.csv";

#[derive(Args)]
pub struct Points {
    /// The points: .csv, .mrk.json, .fcsv, .vtk or .txt
    #[arg(value_name = "IN")]
    pub points: PathBuf,
    /// From a point of the fixed image to the point of the moving image; several are applied in the order given
    #[arg(long, short, value_name = "FILE", required = true)]
    pub transform: Vec<PathBuf>,
    /// From the moving image to the fixed image instead
    #[arg(long)]
    pub invert: bool,
    /// The file to write
    #[arg(long, value_name = "OUT")]
    pub out: PathBuf,
    /// Axes of the coordinates [default: what the file says, or else lps]
    #[arg(long, value_parser = choice::<Frame>())]
    pub frame: Option<Frame>,
    /// How the file holds points [default: by the end of its name]
    #[arg(long, value_parser = choice::<Format>())]
    pub format: Option<Format>,
    #[command(flatten)]
    pub reading: Reading,
}

/// Reads points, takes them through the transforms and writes them.
pub fn run(arguments: &Points) -> Result<()> {
    crate::keep_inputs(&arguments.out, [&arguments.points])?;
    let Points { transform, reading, invert, .. } = arguments;
    let images = ImageGrids::read(reading)?;
    let chain = Chain::read(transform, reading.from, &images.grids())?;
    let mut landmarks = Landmarks::read(&arguments.points, arguments.format, arguments.frame)?;
    let map = chain.map(*invert);
    landmarks.transform(|point| map.transform_point3(point));
    chain.met(&map)?;
    let _held = Held::new();
    landmarks.write(&arguments.out)?;
    crate::print(&line("wrote", &format!("{} points, {}", landmarks.points().len(), arguments.out.display())));
    Ok(())
}
