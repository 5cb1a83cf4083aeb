//! `mireg points`.

use std::path::PathBuf;

use clap::Args;
use mireg::Result;
use mireg::io::points::{Frame, Landmarks, PointsFormat};

use crate::arguments::choice::choice;
use crate::arguments::grids::{ImageGrids, Reading};
use crate::files;
use crate::interrupt::SignalGuard;
use crate::terminal::{self, line};
use crate::transforms::{Chain, verdict};

pub const EXAMPLES: &str = "\
Points of the fixed image are mapped to the moving image, in mm; with --invert, points of
the moving image to the fixed image. (The same transform resamples the moving image on the
grid of the fixed one: see `mireg apply`.) OUT has the format of IN; only the coordinates
change. Files of 3D Slicer say whether they are in LPS or RAS. Transforms can also be
displacement fields (.nii.gz, .mha, .nrrd), ITK files with several transforms and the
mesh.json of `mireg mesh`. Several transforms are applied in the order given, as in
antsApplyTransformsToPoints.

Examples:
  mireg points ct_landmarks.csv --transform out/transform.tfm --out mr_landmarks.csv
  mireg points mr.mrk.json --transform out/transform.tfm --invert --out ct.mrk.json
  mireg points ct.txt --frame ras --transform out/transform.tfm --out mr.txt
  mireg points fundus.csv --transform out/mesh.json --out angiogram.csv
  mireg points fixed.csv -t 1Warp.nii.gz -t 0GenericAffine.mat --out moving.csv";

#[derive(Args)]
pub struct Points {
    /// Points: .csv, .mrk.json, .fcsv, .vtk or .txt
    #[arg(value_name = "IN")]
    pub points: PathBuf,
    /// Transform from points of the fixed image to points of the moving image; can be repeated
    #[arg(long, short, value_name = "FILE", required = true)]
    pub transform: Vec<PathBuf>,
    /// Map points of the moving image to the fixed image
    #[arg(long)]
    pub invert: bool,
    /// Output file
    #[arg(long, value_name = "OUT")]
    pub out: PathBuf,
    /// Coordinate system of the points [default: as in the file, otherwise lps]
    #[arg(long, value_parser = choice::<Frame>())]
    pub frame: Option<Frame>,
    /// File format of the points [default: by file extension]
    #[arg(long, value_parser = choice::<PointsFormat>())]
    pub format: Option<PointsFormat>,
    #[command(flatten)]
    pub reading: Reading,
}

/// Reads points, maps them by the transforms and writes them.
pub fn run(arguments: &Points) -> Result<()> {
    files::keep_inputs(&arguments.out, [&arguments.points])?;
    let Points { transform, reading, invert, .. } = arguments;
    let images = ImageGrids::read(reading)?;
    let chain = Chain::read(transform, reading.from, &images.grids())?;
    let mut landmarks = Landmarks::read(&arguments.points, arguments.format, arguments.frame)?;
    let map = chain.map(*invert);
    landmarks.transform(|point| map.transform_point3(point));
    chain.check_grids_reached(&map)?;
    let _guard = SignalGuard::new();
    landmarks.write(&arguments.out)?;
    terminal::print(&line("wrote", &format!("{} points, {}", landmarks.points().len(), arguments.out.display())));
    verdict(chain.doubt(*invert))
}
