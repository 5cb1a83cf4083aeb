//! The report of `mireg template`.

mod page;

use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::Serialize;

use super::{PAGE, REPORT, Warning, json};
use crate::files;
use crate::invocation::Invocation;
use mireg::io::transform::Motion;
use mireg::io::{self, OutputFolder};
use mireg::template::{Options, Round, Template};
use mireg::{Error, Result};

/// File names in the output folder.
const TEMPLATE: &str = "template.nii.gz";
const AFFINE_MEAN: &str = "affine_mean.nii.gz";

/// Returns the file name of the field of an image, by the image's number from 0.
pub fn field_name(number: usize) -> String {
    format!("field_{}.nii.gz", number + 1)
}

/// A template, and its options.
pub struct Made<'a> {
    pub template: &'a Template,
    pub options: &'a Options,
    /// The files of the images.
    pub files: &'a [PathBuf],
    /// Notes on how the images were read, one line each.
    pub notes: &'a [String],
    pub invocation: &'a Invocation<'a>,
    /// Seconds that reading took.
    pub read: f64,
}

/// The content of report.json. Lengths in mm.
#[derive(Debug, Serialize)]
pub struct Report {
    /// The command line as it was typed, a part per argument.
    pub command: Vec<String>,
    /// mireg's version.
    pub version: &'static str,
    /// `cpu`, `cuda` or `emulated`.
    pub backend: &'static str,
    /// The device's own name.
    pub device: String,
    /// The metrics that drive the deformations, as they are typed for `--force`.
    pub force: String,
    /// Sharpness of the mean of the affinely registered images: its mean gradient, as a fraction of the intensity range
    /// per mm.
    pub affine_sharpness: f64,
    pub rounds: Vec<Round>,
    pub images: Vec<Image>,
    /// Number of steps that an earlier run had finished.
    pub resumed: usize,
    pub seconds: Seconds,
    /// `passed`, or `failed` for a template that should not be used.
    pub trust: &'static str,
    pub warnings: Vec<Warning>,
    pub notes: Vec<String>,
}

/// An image of the template.
#[derive(Debug, Serialize)]
pub struct Image {
    pub file: String,
    /// The file of its field, from the template to the image.
    pub field: String,
    /// The affine transform from the affine mean to the image.
    pub affine: Motion,
    /// The metric before and after the last deformation.
    pub values: [f64; 2],
    /// Smallest and largest Jacobian determinant of its field, including the affine part.
    pub jacobian_range: [f64; 2],
}

/// Seconds spent.
#[derive(Debug, Serialize)]
pub struct Seconds {
    pub total: f64,
    pub read: f64,
    pub write: f64,
}

impl Report {
    /// Returns the content of report.html. `template` is the one that this report is about.
    ///
    /// # Errors
    /// [`Error::File`] where a picture or the page cannot be made.
    pub fn page(&self, template: &Template) -> Result<String> {
        page::page(template, self).map_err(|text| Error::file(PAGE, text))
    }
}

impl Made<'_> {
    /// The files that are written in addition to the fields.
    pub const FILES: [&'static str; 4] = [TEMPLATE, AFFINE_MEAN, REPORT, PAGE];

    /// Writes [`Made::FILES`] to `folder` and returns the report.
    ///
    /// # Errors
    /// [`Error::File`] where a file cannot be written.
    pub fn write(&self, folder: &OutputFolder) -> Result<Report> {
        let writing = Instant::now();
        io::write(&folder.path(TEMPLATE), &self.template.mean)?;
        io::write(&folder.path(AFFINE_MEAN), &self.template.affine_mean)?;
        let report = self.report(writing.elapsed().as_secs_f64());
        files::write(&folder.path(REPORT), json(&report)?)?;
        files::write(&folder.path(PAGE), report.page(self.template)?)?;
        Ok(report)
    }

    /// Returns the report. `write` is the seconds that writing took.
    pub fn report(&self, write: f64) -> Report {
        let Self { template, options, files, notes, invocation, read } = self;
        let image = |(number, (path, member)): (usize, (&PathBuf, &mireg::template::Member))| Image {
            file: path.display().to_string(),
            field: field_name(number),
            affine: Motion::from(&member.affine),
            values: member.values,
            jacobian_range: member.jacobian_range,
        };
        Report {
            command: invocation.command(),
            version: env!("CARGO_PKG_VERSION"),
            backend: template.backend,
            device: template.device.clone(),
            force: options.deform.force.to_string(),
            affine_sharpness: template.affine_sharpness,
            rounds: template.rounds.clone(),
            images: files.iter().zip(&template.images).enumerate().map(image).collect(),
            resumed: template.resumed,
            seconds: Seconds { total: invocation.started.elapsed().as_secs_f64(), read: *read, write },
            trust: if template.trusted() { "passed" } else { "failed" },
            warnings: template.doubts.iter().map(Warning::new).collect(),
            notes: notes.to_vec(),
        }
    }

    /// Returns the result in words, as pairs of a label and a text.
    pub fn summary(&self, out: &Path) -> Vec<(&'static str, String)> {
        let Self { template, files, .. } = self;
        let last = template.rounds.last().map_or((0.0, 0.0), |round| (round.mean_displacement_mm, round.sharpness));
        let sharper = 100.0 * (last.1 / template.affine_sharpness - 1.0);
        let mut lines = vec![
            ("template", format!("of {} images, {} rounds", files.len(), template.rounds.len())),
            ("displacement", format!("mean of all {:.3} mm, taken away in the last round", last.0)),
            ("sharpness", format!("{sharper:+.1} % compared with the affine mean")),
        ];
        if template.resumed > 0 {
            lines.push(("resumed", format!("{} steps that an earlier run had finished", template.resumed)));
        }
        lines.push(("computed on", format!("{} ({})", template.backend, template.device)));
        let fields = format!("{} to {}", field_name(0), field_name(files.len().max(1) - 1));
        lines.push(("files", format!("{}, {fields} in {}", Self::FILES.join(", "), out.display())));
        lines
    }
}
