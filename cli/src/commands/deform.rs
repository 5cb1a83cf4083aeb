//! `mireg deform`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use glam::DVec3;
use mireg::deform::{Channel, Deformation, Forces, Landmarks, Options, Start};
use mireg::error::Setting;
use mireg::io::points::Frame;
use mireg::io::transform::{Format, Grids};
use mireg::labels::{Labels, Regions};
use mireg::transform::Kind;
use mireg::{Engine, Error, Observer, Result, Volume, io};

use crate::arguments::choice::{choice, outputs};
use crate::arguments::compute::Compute;
use crate::arguments::number::{number, whole};
use crate::arguments::pair::Pair;
use crate::arguments::ranges::Ranges;
use crate::arguments::search::{millimetres, millimetres_or_none};
use crate::files;
use crate::in_memory::{InMemory, or_read};
use crate::invocation::Invocation;
use crate::job::Job;
use crate::report::deform::{Deformed, OptionalFiles};
use crate::report::outputs::{Output, Outputs};
use crate::transforms;

pub const OUTPUTS: &str = "\
Diffeomorphic registration by compositions of small, smooth update fields after a linear
registration (Ledig & Chefd'hotel, section 3.2). The transform is invertible: nothing folds.

Metrics:
  mi   mutual information: two modalities, such as CT and MR or T1 and T2
  nmi  normalised mutual information
  lcc  local cross-correlation: one modality, even if intensities vary locally (coil
       sensitivity, contrast agent, breathing)
  ssd  sum of squared differences: one modality with the same intensities, such as two CTs

Output files in DIR. Existing files of these names are replaced. If anything fails, none is written:
  field.nii.gz     displacement field on the grid of FIXED, including the initial transform: LPS mm,
                   in the convention of ITK and ANTs
  inverse.nii.gz   displacement field of the inverse, on the grid of MOVING
  moved.nii.gz     MOVING resampled on the grid of FIXED; moved.png if MOVING is PNG, JPEG or TIFF
  jacobian.nii.gz  Jacobian determinant: above 1 where MOVING is larger than FIXED
  start.tfm        the initial linear transform
  report.json      metric by iteration, Jacobian, inverse consistency, warnings, timing
  report.html      the same with pictures and the warped grid, for visual inspection";

pub const EXAMPLES: &str = "\
Examples:
  mireg deform t1.nii.gz t2.nii.gz --out out
      affine registration, then deformation
  mireg deform inhale.nii.gz exhale.nii.gz --out out --force lcc --start rigid.tfm
      one modality, from an existing transform
  mireg deform anna.nii.gz ben.nii.gz --out out --symmetric
      neither image is preferred: exchanged, they have the inverse field
  mireg deform t1.nii.gz atlas_t1.nii.gz --fixed-extra t2.nii.gz --moving-extra atlas_t2.nii.gz --out out
      T1 and T2 together; --force mi,lcc:0.5 for two metrics at once
  mireg deform exhale.nii.gz inhale.nii.gz --out out --fixed-points exhale.csv --moving-points inhale.csv
      landmarks, such as branches of vessels, as a guide where the images alone lead astray
  mireg deform a.nii.gz b.nii.gz --out out --levels 8mm,4mm,2mm --iterations 200,100,50 --smooth 6mm
      three levels, more iterations, stronger regularisation
  mireg deform a.nii b.nii --out out --fixed-labels a_labels.nii --moving-labels b_labels.nii
      Jacobian and Dice of each label in report.json and report.html
  mireg apply labels.nii.gz --like t1.nii.gz -t out/field.nii.gz --labels --out moved_labels.nii.gz
  mireg points t1_landmarks.csv -t out/field.nii.gz --out t2_landmarks.csv
  antsApplyTransforms -d 3 -i t2.nii.gz -r t1.nii.gz -t out/field.nii.gz -o moved.nii.gz
      transform other images and landmarks; -t out/inverse.nii.gz is the inverse
  mireg deform t1.nii.gz t2.nii.gz --out out --composite
  antsApplyTransforms -d 3 -i t2.nii.gz -r t1.nii.gz -t out/composite.h5 -o moved.nii.gz
      one file with the field and the initial transform apart, as of antsRegistration";

#[derive(Args)]
pub struct Deform {
    #[command(flatten)]
    pub pair: Pair,
    /// Outputs to write; what is left out is not computed either, unless a check of the result needs it [default: all]
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', value_parser = outputs::<Deformed>(), help_heading = "Output")]
    pub write: Vec<Output>,
    /// Initial transform, instead of a linear registration
    #[arg(long, value_name = "TRANSFORM", conflicts_with = "linear", help_heading = "Initialisation")]
    pub start: Option<PathBuf>,
    /// Format of --start; `mireg convert --help` lists them [default: detected from the content]
    #[arg(long, value_parser = choice::<Format>(), value_name = "FORMAT", hide_possible_values = true, requires = "start")]
    #[arg(help_heading = "Initialisation")]
    pub from: Option<Format>,
    /// Linear registration that comes first; none starts from the positions in the headers
    #[arg(long, value_enum, value_name = "KIND", default_value_t = LinearStage::Affine, help_heading = "Initialisation")]
    pub linear: LinearStage,
    /// Metric whose gradient drives the deformation: mi, nmi, lcc or ssd. Several have weights, mi,lcc:0.5, which may differ by level,
    /// coarse to fine: mi:1/0.5,lcc:0/1
    #[arg(long, value_name = "METRIC[:WEIGHT],...", value_parser = forces, default_value_t = Forces::default())]
    #[arg(help_heading = "Deformation")]
    pub force: Forces,
    /// Deform both images to a common middle, so that neither is preferred: exchanging them gives the inverse field.
    /// Takes about twice the time
    #[arg(long, help_heading = "Deformation")]
    pub symmetric: bool,
    /// Another image on the grid of FIXED, such as T2 beside T1 or an outlined structure, compared with the
    /// --moving-extra at the same position; may be repeated
    #[arg(long, value_name = "FILE", help_heading = "Deformation")]
    pub fixed_extra: Vec<PathBuf>,
    /// Another image on the grid of MOVING, likewise
    #[arg(long, value_name = "FILE", help_heading = "Deformation")]
    pub moving_extra: Vec<PathBuf>,
    /// Weights of the extra images beside FIXED and MOVING, which have 1; the last number holds for all further ones [default: 1]
    #[arg(long, value_name = "WEIGHT,...", value_delimiter = ',', value_parser = number, allow_negative_numbers = true)]
    #[arg(help_heading = "Deformation")]
    pub extra_weight: Vec<f64>,
    /// Landmarks of FIXED, which guide the deformation together with the images: .csv, .mrk.json, .fcsv, .vtk or .txt
    #[arg(long, value_name = "FILE", visible_alias = "points", requires = "moving_points", help_heading = "Landmarks")]
    pub fixed_points: Option<PathBuf>,
    /// Corresponding landmarks of MOVING, in the same order
    #[arg(long, value_name = "FILE", requires = "fixed_points", help_heading = "Landmarks")]
    pub moving_points: Option<PathBuf>,
    /// Coordinate system of the landmarks [default: as in the file, otherwise lps]
    #[arg(long, value_parser = choice::<Frame>(), requires = "fixed_points", help_heading = "Landmarks")]
    pub frame: Option<Frame>,
    /// Uncertainty of the landmarks: standard deviation along each axis. The smaller it is, the more weight they have
    /// [default: the spacing of the finest level]
    #[arg(long, value_name = "MM", value_parser = millimetres, allow_negative_numbers = true, requires = "fixed_points")]
    #[arg(help_heading = "Landmarks")]
    pub points_error: Option<f64>,
    /// Regularisation of the update field: standard deviation of the Gaussian at the finest level. On coarser levels it grows with
    /// the voxel size [default: found from the images]
    #[arg(long, value_name = "MM", value_parser = millimetres, allow_negative_numbers = true, help_heading = "Deformation")]
    pub smooth: Option<f64>,
    /// Regularisation of the total field after each update, likewise; 0 for none [default: found from the images, or a third of
    /// --smooth]
    #[arg(long, value_name = "MM", value_parser = millimetres_or_none, allow_negative_numbers = true)]
    #[arg(help_heading = "Deformation")]
    pub smooth_field: Option<f64>,
    /// Voxel sizes of the pyramid levels, coarse to fine: 4mm,2mm,1mm [default: 8, 4, 2 and 1 times the smallest spacing of FIXED]
    #[arg(long, value_name = "MM,...", value_delimiter = ',', value_parser = millimetres, allow_negative_numbers = true)]
    #[arg(help_heading = "Deformation")]
    pub levels: Vec<f64>,
    /// Maximum iterations per level: 100,100,50. The last number holds for all further levels [default: 12 on the finest level (50
    /// if parts of a small volume move by themselves), 50 on the one before, 100 on coarser ones]
    #[arg(
        long,
        value_name = "N,...",
        value_delimiter = ',',
        allow_negative_numbers = true,
        help_heading = "Deformation"
    )]
    #[arg(value_parser = whole::<u32>(1..))]
    pub iterations: Vec<u32>,
    /// Histogram bins per image, 8 to 255
    #[arg(long, value_name = "N", default_value_t = 100, allow_negative_numbers = true, help_heading = "Deformation")]
    #[arg(value_parser = whole::<u32>(8..=255))]
    pub bins: u32,
    /// Mask on the grid of FIXED: where it is below 0.5, such as in a lesion, the images do not drive the deformation
    /// and the regularisation fills in
    #[arg(long, value_name = "FILE", help_heading = "Deformation")]
    pub fixed_mask: Option<PathBuf>,
    /// Mask on the grid of MOVING, likewise
    #[arg(long, value_name = "FILE", help_heading = "Deformation")]
    pub moving_mask: Option<PathBuf>,
    /// Label map on the grid of FIXED, whole numbers with 0 for the background: the report says how much the volume of each label
    /// changes
    #[arg(long, value_name = "FILE", visible_alias = "labels", help_heading = "Labels")]
    pub fixed_labels: Option<PathBuf>,
    /// The same on the grid of MOVING: with it, the report also has the Dice of each label before and after the deformation
    #[arg(long, value_name = "FILE", help_heading = "Labels")]
    pub moving_labels: Option<PathBuf>,
    /// Also write the deformation without the initial transform: warp.nii.gz, and composite.h5, one ITK transform of warp.nii.gz and
    /// then start.tfm
    #[arg(long, help_heading = "Output")]
    pub composite: bool,
    /// Also write the natural logarithm of the Jacobian determinant: log_jacobian.nii.gz, and log_jacobian_warp.nii.gz without the
    /// initial transform
    #[arg(long, help_heading = "Output")]
    pub log_jacobian: bool,
    #[command(flatten)]
    pub ranges: Ranges,
    #[command(flatten)]
    pub compute: Compute,
}

/// The linear registration before the deformation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LinearStage {
    Affine,
    Rigid,
    None,
}

/// Reads two images, deforms the moving one, writes the results and prints a summary.
pub fn run(arguments: &Deform, invocation: &Invocation) -> Result<()> {
    let optional_files = arguments.optional_files();
    let outputs = Outputs::new(&arguments.write);
    let job = Job::open::<Deformed>(&arguments.pair, outputs, &optional_files.files(), &arguments.compute, invocation)?;
    let loaded = job.read(|grids| arguments.request(grids, InMemory::default()))?;
    let (found, regions) = loaded.options.run([&loaded.fixed, &loaded.moving], job.engine, &job.progress)?;
    let (options, start) = (&loaded.options.options, arguments.start.as_deref());
    job.finish(&loaded, &Deformed { found: &found, options, start, regions: regions.as_ref(), optional_files })
}

/// What a deformation of two images needs to know.
pub struct DeformRequest {
    pub options: Options,
    /// The label maps of the fixed and of the moving image.
    labels: [Option<Volume>; 2],
}

impl DeformRequest {
    /// Deforms the moving image onto the fixed one, and measures what that does to the labels.
    ///
    /// # Errors
    /// Those of [`Labels::both`], before the deformation begins, and of [`Engine::deform`].
    pub fn run(
        &self,
        images: [&Volume; 2],
        engine: &Engine,
        observer: &dyn Observer,
    ) -> Result<(Deformation, Option<Regions>)> {
        let labels = Labels::both(self.labels.each_ref().map(Option::as_ref), images)?;
        let found = engine.deform(images[0], images[1], &self.options, observer)?;
        let regions = |(fixed, moving): &(Labels, Option<Labels>)| {
            engine.install(|| Regions::new(&found, fixed, moving.as_ref()))
        };
        let regions = labels.as_ref().map(regions).transpose()?;
        Ok((found, regions))
    }
}

impl Deform {
    /// Returns which of the optional files are written.
    pub fn optional_files(&self) -> OptionalFiles {
        OptionalFiles { composite: self.composite, log_jacobian: self.log_jacobian }
    }

    /// Returns the options, and the label maps. Reads those that are not in memory.
    ///
    /// # Errors
    /// Those of files that cannot be read.
    pub fn request(&self, grids: &Grids, mut in_memory: InMemory) -> Result<DeformRequest> {
        let labels = [
            or_read(in_memory.fixed_labels.take(), self.fixed_labels.as_deref(), io::read)?,
            or_read(in_memory.moving_labels.take(), self.moving_labels.as_deref(), io::read)?,
        ];
        Ok(DeformRequest { options: self.options(grids, in_memory)?, labels })
    }

    /// Returns the options for the library. Reads extra images, landmarks, masks and the initial transform that are not
    /// in memory; `grids` are those of the two images.
    ///
    /// # Errors
    /// Those of files that cannot be read.
    fn options(&self, grids: &Grids, mut in_memory: InMemory) -> Result<Options> {
        let extra = self.extra(std::mem::take(&mut in_memory.extra))?;
        let landmarks = self.landmarks([in_memory.points.take(), in_memory.moving_points.take()])?;
        let start = match (&self.start, self.linear) {
            _ if in_memory.transform.is_some() => in_memory.linear()?.map_or(Start::Headers, Start::Transform),
            (Some(path), _) => Start::Transform(transforms::read_linear(path, self.from, grids)?),
            (None, LinearStage::Affine) => Start::Register(Kind::Affine),
            (None, LinearStage::Rigid) => Start::Register(Kind::Rigid),
            (None, LinearStage::None) => Start::Headers,
        };
        let iterations = self.iterations.iter().map(|&n| n as usize).collect();
        Ok(Options {
            start,
            force: self.force.clone(),
            extra,
            symmetric: self.symmetric,
            levels: Some(self.levels.clone()).filter(|levels| !levels.is_empty()),
            iterations: Some(iterations).filter(|iterations: &Vec<_>| !iterations.is_empty()),
            smooth_mm: self.smooth,
            smooth_field_mm: self.smooth_field,
            bins: self.bins,
            fixed_mask: or_read(in_memory.fixed_mask, self.fixed_mask.as_deref(), files::on_grid)?,
            moving_mask: or_read(in_memory.moving_mask, self.moving_mask.as_deref(), files::on_grid)?,
            landmarks,
            fixed_range: self.ranges.fixed_range,
            moving_range: self.ranges.moving_range,
            moved: [Output::Moved, Output::Report].iter().any(|&output| Outputs::new(&self.write).has(output)),
        })
    }

    /// Returns the landmarks, if there are any. Reads those that are not in memory.
    fn landmarks(&self, [fixed, moving]: [Option<Vec<DVec3>>; 2]) -> Result<Option<Landmarks>> {
        let read = |path: &Path| files::points(path, self.frame);
        let fixed = or_read(fixed, self.fixed_points.as_deref(), read)?;
        let moving = or_read(moving, self.moving_points.as_deref(), read)?;
        let error_mm = self.points_error;
        Ok(fixed.zip(moving).map(|(fixed, moving)| Landmarks { fixed, moving, error_mm }))
    }

    /// Returns the extra images. Reads those that are not in memory.
    fn extra(&self, held: [Vec<Option<Volume>>; 2]) -> Result<Vec<Channel>> {
        let mut held = held.into_iter();
        let mut read = |paths: &[PathBuf]| {
            let mut held = held.next().unwrap_or_default().into_iter();
            let image = |path: &PathBuf| held.next().flatten().map_or_else(|| files::on_grid(path), Ok);
            paths.iter().map(image).collect::<Result<Vec<_>>>()
        };
        let (fixed, moving) = (read(&self.fixed_extra)?, read(&self.moving_extra)?);
        if fixed.len() != moving.len() {
            let (setting, few) = match fixed.len() < moving.len() {
                true => (Setting::FixedExtra, "fixed"),
                false => (Setting::MovingExtra, "moving"),
            };
            let text = format!("there are {} fixed and {} moving extra images", fixed.len(), moving.len());
            return Err(Error::option(setting, format!("{text}; give as many {few} ones as others")));
        }
        let weight = |number: usize| self.extra_weight.get(number).or(self.extra_weight.last()).copied().unwrap_or(1.0);
        let pairs = fixed.into_iter().zip(moving).enumerate();
        Ok(pairs.map(|(number, (fixed, moving))| Channel { fixed, moving, weight: weight(number) }).collect())
    }
}

/// Parses the value of `--force`.
pub fn forces(text: &str) -> std::result::Result<Forces, String> {
    text.parse().map_err(|error: Error| crate::flags::error(&error))
}
