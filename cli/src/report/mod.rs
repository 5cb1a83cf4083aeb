//! The files that a run writes, above all its reports. This file holds what all kinds of report share. Each kind has a
//! folder with its measurements, its page and the template of the page.

pub mod deform;
mod html;
pub mod mesh;
pub mod outputs;
pub mod registration;
pub mod template;
pub mod thumbnail;
mod words;

use std::path::Path;
use std::time::Instant;

use image::ImageResult;
use serde::Serialize;

use crate::files;
use crate::flags;
use crate::invocation::Invocation;
pub use html::facts::command;
use mireg::image::Intensities;
use mireg::io::{self, OutputFolder};
use mireg::{Check, Doubt, Error, Result, Volume};
use outputs::{Output, Outputs};
use rayon::prelude::*;
pub use words::{intensities, motion};

/// File names in the output folder.
pub const TRANSFORM: &str = "transform.tfm";
pub const REPORT: &str = "report.json";
pub const PAGE: &str = "report.html";

/// Returns the file name of the moved image: PNG if the moving image is a picture, otherwise NIfTI.
pub fn moved(moving: &Path) -> &'static str {
    if io::is_picture(moving) { "moved.png" } else { "moved.nii.gz" }
}

/// What a report says about a run that is not part of its result.
pub struct Run<'a> {
    pub invocation: &'a Invocation<'a>,
    pub fixed: &'a Path,
    pub moving: &'a Path,
    /// The fixed and the moving image as they were read.
    pub images: [&'a Volume; 2],
    /// Notes on how they were read, one line each.
    pub notes: &'a [String],
    /// Seconds that reading both images took.
    pub read: f64,
    /// Seconds that opening the device took.
    pub open: f64,
}

/// A kind of result, with a report of its own.
pub trait Kind: Sync {
    /// What report.json contains in addition to what all reports contain. Its seconds come last.
    type Facts: Serialize;
    /// The pictures of the page. Most of the time that a page takes is spent on them.
    type Pictures: Send;
    /// The files that only this kind of run writes.
    const FILES: &'static [(Output, &'static str)];
    /// Returns further files of this kind, which are written only if an option asks for them.
    fn more_files(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// Returns the name of the backend and that of the device.
    fn device(&self) -> (&'static str, &str);
    /// Returns the moving image on the grid of the fixed one, if it was asked for.
    fn moved(&self) -> Option<&Volume>;
    /// Returns which intensities of the fixed and of the moving image were used.
    fn intensities(&self) -> [Intensities; 2];
    /// Returns the checks that the result did not pass.
    fn doubts(&self) -> &[Doubt];
    /// Writes the file of this name, which is one of [`Kind::FILES`] or [`Kind::more_files`].
    ///
    /// # Errors
    /// [`Error::File`] where it cannot be written.
    fn write(&self, name: &str, path: &Path) -> Result<()>;
    fn facts(&self, spent: &Spent) -> Self::Facts;
    /// Returns the result in words, as pairs of a label and a text.
    fn summary(&self, facts: &Self::Facts) -> Vec<(&'static str, String)>;
    /// Draws the pictures of the page. `images` are the fixed and the moving one.
    ///
    /// # Errors
    /// Where a picture cannot be encoded.
    fn draw(&self, images: [&Volume; 2]) -> ImageResult<Self::Pictures>;
    /// Returns the content of report.html.
    ///
    /// # Errors
    /// Where the template fails.
    fn page(
        &self,
        report: &Report<Self::Facts>,
        images: [&Volume; 2],
        pictures: &Self::Pictures,
    ) -> askama::Result<String>;
}

/// The content of report.json. Lengths in mm, angles in degrees, LPS; entropies and mutual information in nats.
#[derive(Debug, Serialize)]
pub struct Report<Facts> {
    #[serde(flatten)]
    pub head: Head,
    #[serde(flatten)]
    pub facts: Facts,
    /// `passed`, or `failed` for a result that should not be used.
    pub trust: &'static str,
    /// The checks that the result did not pass.
    pub warnings: Vec<Warning>,
    /// Notes on how the images were read, one line each.
    pub notes: Vec<String>,
}

/// Returns the text of report.json.
///
/// # Errors
/// [`Error::File`] where it cannot be written as JSON.
pub fn json(report: &impl Serialize) -> Result<String> {
    let text = serde_json::to_string_pretty(report).map_err(|e| Error::file(REPORT, e.to_string()))?;
    Ok(text + "\n")
}

/// A check that the result did not pass, in the words of the command line.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Warning {
    #[serde(rename = "name")]
    pub check: Check,
    /// What was found, as one line.
    pub text: String,
    /// Whether the result should not be used.
    pub grave: bool,
}

impl Warning {
    fn new(doubt: &Doubt) -> Self {
        Self { check: doubt.check, text: flags::message(&doubt.message), grave: doubt.grave }
    }

    /// Returns the text as a sentence.
    fn sentence(&self) -> String {
        format!("{}{}", self.text, if self.text.ends_with('?') { "" } else { "." })
    }
}

/// The command, its images, and where it was computed.
#[derive(Debug, Serialize)]
pub struct Head {
    /// The command line as it was typed, a part per argument.
    pub command: Vec<String>,
    /// mireg's version.
    pub version: &'static str,
    pub fixed: String,
    pub moving: String,
    pub intensities: Used,
    /// `cpu`, `cuda` or `emulated`.
    pub backend: &'static str,
    /// The device's own name.
    pub device: String,
}

/// Which intensities of each image were used.
#[derive(Debug, Serialize)]
pub struct Used {
    pub fixed: Intensities,
    pub moving: Intensities,
}

/// Seconds spent outside the computation.
#[derive(Debug, Clone, Copy)]
pub struct Spent {
    /// From the start of the process to the writing of the report.
    pub total: f64,
    pub read: f64,
    /// Opening the device.
    pub open: f64,
    /// All files but the report, and the pictures of the page.
    pub write: f64,
}

impl Run<'_> {
    /// Writes the results that were asked for to `folder`, in parallel, and returns the report. `write_moved` writes
    /// the moved image to a file.
    ///
    /// # Errors
    /// [`Error::File`] where a file cannot be written.
    pub fn write<K: Kind>(
        &self,
        found: &K,
        outputs: &Outputs,
        folder: &OutputFolder,
        write_moved: &(dyn Fn(&Path) -> Result<()> + Sync),
    ) -> Result<Report<K::Facts>> {
        let writing = Instant::now();
        let names = [outputs.own::<K>(), found.more_files()].concat();
        let own = || names.par_iter().map(|name| found.write(name, &folder.path(name))).collect::<Result<()>>();
        let moved = || if outputs.has(Output::Moved) { write_moved(&folder.path(moved(self.moving))) } else { Ok(()) };
        let draw = || outputs.has_page().then(|| found.draw(self.images));
        let ((own, moved), pictures) = rayon::join(|| rayon::join(own, moved), draw);
        own.and(moved)?;
        let report = self.report(found, &self.spent(writing.elapsed().as_secs_f64()));
        if outputs.has_report() {
            files::write(&folder.path(REPORT), json(&report)?)?;
        }
        let Some(pictures) = pictures else { return Ok(report) };

        let path = folder.path(PAGE);
        let pictures = pictures.map_err(|e| Error::file(&path, e.to_string()))?;
        let page = found.page(&report, self.images, &pictures).map_err(|e| Error::file(&path, e.to_string()))?;
        files::write(&path, page)?;
        Ok(report)
    }

    /// Returns the content of report.html without writing a file.
    ///
    /// # Errors
    /// [`Error::File`] where a picture or the page cannot be made.
    pub fn page<K: Kind>(&self, found: &K, spent: &Spent) -> Result<String> {
        let pictures = found.draw(self.images).map_err(|e| Error::file(PAGE, e.to_string()))?;
        let report = self.report(found, spent);
        found.page(&report, self.images, &pictures).map_err(|e| Error::file(PAGE, e.to_string()))
    }

    /// Returns the seconds of a run that ends now and spent `write` seconds on files and pictures.
    pub fn spent(&self, write: f64) -> Spent {
        let total = self.invocation.started.elapsed().as_secs_f64();
        Spent { total, read: self.read, open: self.open, write }
    }

    /// Returns the report.
    pub fn report<K: Kind>(&self, found: &K, spent: &Spent) -> Report<K::Facts> {
        let text = |path: &Path| path.display().to_string();
        let (backend, device) = found.device();
        let [fixed, moving] = found.intensities();
        let warnings: Vec<_> = found.doubts().iter().map(Warning::new).collect();
        Report {
            head: Head {
                command: self.invocation.command(),
                version: env!("CARGO_PKG_VERSION"),
                fixed: text(self.fixed),
                moving: text(self.moving),
                intensities: Used { fixed, moving },
                backend,
                device: device.to_owned(),
            },
            facts: found.facts(spent),
            trust: if warnings.iter().any(|warning| warning.grave) { "failed" } else { "passed" },
            warnings,
            notes: self.notes.to_vec(),
        }
    }
}
