//! `mireg template`.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use mireg::deform::{self, Forces};
use mireg::io;
use mireg::template::Options;
use mireg::{Error, Result, Volume};

use crate::arguments::compute::Compute;
use crate::arguments::images::Single;
use crate::arguments::number::whole;
use crate::arguments::search::millimetres;
use crate::commands::deform::forces;
use crate::files;
use crate::in_memory::{InMemory, or_read};
use crate::interrupt;
use crate::invocation::Invocation;
use crate::job;
use crate::opening::Opening;
use crate::report::REPORT;
use crate::report::template::{Made, field_name};
use crate::terminal::line;

/// The end of the name of the folder in which finished steps are kept.
pub const UNFINISHED: &str = ".unfinished";

pub const OUTPUTS: &str = "\
The unbiased mean of images of one kind in shape and intensity. All images are registered to the
first one by affine transforms, from which their mean is taken away. In each round, every image is
deformed to the mean of all, and the mean displacement is taken away, so that the template lies in
the middle of the images (Guimond et al. 2000, Avants & Gee 2004). Intensities are averaged as
fractions of each image's range.

What is finished is kept in DIR.unfinished. If a run is stopped, the same command goes on from there,
with the same results, and removes it at its end.

Output files in DIR. Existing files of these names are replaced. If anything fails, none is written:
  template.nii.gz     the template
  affine_mean.nii.gz  the mean of the images after the affine registrations alone
  field_1.nii.gz ...  for each image in the order given, the displacement field from the template to
                      the image: LPS mm, in the convention of ITK and ANTs
  report.json         sharpness and mean displacement by round, images, warnings, timing
  report.html         the same with pictures, for visual inspection";

pub const EXAMPLES: &str = "\
Examples:
  mireg template a.nii.gz b.nii.gz c.nii.gz d.nii.gz --out out
  mireg template */t1.nii.gz --out out --like mni.nii.gz --rounds 6 --force lcc
  mireg apply a_labels.nii.gz --like out/template.nii.gz -t out/field_1.nii.gz --labels --out on.nii.gz
      takes what belongs to the first image to the template";

#[derive(Args)]
pub struct Template {
    /// Images, two or more
    #[arg(value_name = "IMAGE", num_args = 2.., required = true)]
    pub images: Vec<PathBuf>,
    #[command(flatten)]
    pub single: Single,
    /// Output folder
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub out: PathBuf,
    /// Print errors and warnings only
    #[arg(long, short, help_heading = "Output")]
    pub quiet: bool,
    /// Image on whose grid the template is [default: the first image]
    #[arg(long, value_name = "FILE", help_heading = "Template")]
    pub like: Option<PathBuf>,
    /// Rounds of deformations
    #[arg(long, value_name = "N", default_value_t = 4, allow_negative_numbers = true, help_heading = "Template")]
    #[arg(value_parser = whole::<u32>(1..=100))]
    pub rounds: u32,
    /// Begin anew, even if an earlier run of the same command was stopped
    #[arg(long, help_heading = "Template")]
    pub fresh: bool,
    /// Metric whose gradient drives the deformations, as of `mireg deform`
    #[arg(long, value_name = "METRIC[:WEIGHT],...", value_parser = forces, default_value_t = Forces::default())]
    #[arg(help_heading = "Deformation")]
    pub force: Forces,
    /// Regularisation of the update field, as of `mireg deform` [default: found from the images]
    #[arg(long, value_name = "MM", value_parser = millimetres, allow_negative_numbers = true, help_heading = "Deformation")]
    pub smooth: Option<f64>,
    /// Voxel sizes of the pyramid levels, coarse to fine [default: as of `mireg deform`]
    #[arg(long, value_name = "MM,...", value_delimiter = ',', value_parser = millimetres, allow_negative_numbers = true)]
    #[arg(help_heading = "Deformation")]
    pub levels: Vec<f64>,
    /// Maximum iterations per level [default: as of `mireg deform`]
    #[arg(long, value_name = "N,...", value_delimiter = ',', allow_negative_numbers = true)]
    #[arg(value_parser = whole::<u32>(1..), help_heading = "Deformation")]
    pub iterations: Vec<u32>,
    #[command(flatten)]
    pub compute: Compute,
}

/// Reads images, makes their template, writes it and prints a summary.
pub fn run(arguments: &Template, invocation: &Invocation) -> Result<()> {
    let Template { images, out, quiet, fresh, .. } = arguments;
    let names = (0..images.len()).map(field_name).chain(Made::FILES.map(str::to_owned));
    for name in names {
        files::keep_inputs(&out.join(name), images.iter().chain(&arguments.like))?;
    }
    let (guard, folder, progress) = job::begin(out, *quiet)?;
    let opening = Opening::begin(&arguments.compute, &progress)?;
    let engine = opening.engine;
    progress.step("reading");
    let reading = Instant::now();
    let (volumes, options, notes) = engine.install(|| arguments.read(InMemory::default()))?;
    let read = reading.elapsed().as_secs_f64();

    let unfinished = unfinished(out);
    if *fresh {
        removed(&unfinished)?;
    }
    let final_path = |error| files::with_final_path(error, folder.temporary(), out);
    let mut write =
        |number: usize, field: &_| io::field::write(&folder.path(&field_name(number)), field).map_err(final_path);
    let template = engine.template(&volumes, &options, &unfinished, &mut write, &progress)?;
    let made = Made { template: &template, options: &options, files: images, notes: &notes, invocation, read };
    progress.step("writing");
    let report = engine.install(|| made.write(&folder)).map_err(final_path)?;

    guard.release();
    interrupt::proceed()?;
    folder.commit()?;
    removed(&unfinished)?;
    progress.finish();
    let summary: String = made.summary(out).into_iter().map(|(label, text)| line(label, &text)).collect();
    job::tell(&report.warnings, &report.notes, &summary, *quiet);
    match template.trusted() {
        true => Ok(()),
        false => {
            Err(Error::untrusted(format!("the template should not be used; look at {}", out.join(REPORT).display())))
        }
    }
}

impl Template {
    /// Returns the images, the options, and notes on how the images were read, one line each. Reads the images that are
    /// not in memory.
    ///
    /// # Errors
    /// Those of files that cannot be read.
    pub fn read(&self, in_memory: InMemory) -> Result<(Vec<Volume>, Options, Vec<String>)> {
        let (mut notes, mut images) = (Vec::new(), in_memory.images.into_iter());
        let mut read = |path: &PathBuf| {
            if let Some(image) = images.next().flatten() {
                return Ok(image);
            }
            let image = io::read_with(path, &self.single.options())?;
            notes.extend(files::notes(path, &image));
            Ok(image.volume)
        };
        let volumes = self.images.iter().map(&mut read).collect::<Result<_>>()?;
        let listed = |all: &[u32]| (!all.is_empty()).then(|| all.iter().map(|&n| n as usize).collect());
        let options = Options {
            grid: or_read(in_memory.grid, self.like.as_deref(), io::geometry)?,
            rounds: self.rounds as usize,
            deform: deform::Options {
                force: self.force.clone(),
                smooth_mm: self.smooth,
                levels: Some(self.levels.clone()).filter(|levels| !levels.is_empty()),
                iterations: listed(&self.iterations),
                ..Default::default()
            },
        };
        Ok((volumes, options, notes))
    }
}

/// Returns the folder in which finished steps are kept. It lies beside the output folder, which does not exist before
/// the end.
fn unfinished(out: &Path) -> PathBuf {
    match out.file_name() {
        Some(name) => {
            let mut name = name.to_owned();
            name.push(UNFINISHED);
            out.with_file_name(name)
        }
        // A path such as `..` has no name.
        None => out.join(UNFINISHED),
    }
}

/// Removes the folder of the finished steps, if there is one.
///
/// # Errors
/// [`Error::File`] if it cannot be removed.
pub fn removed(folder: &Path) -> Result<()> {
    match folder.exists() {
        true => {
            fs::remove_dir_all(folder).map_err(|e| Error::file(folder, format!("cannot be removed ({})", e.kind())))
        }
        false => Ok(()),
    }
}
