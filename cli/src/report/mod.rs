//! What a run leaves behind: transform.tfm, moved.nii.gz or moved.png, report.json and report.html.

mod deform;
mod html;
mod mesh;
mod words;

use std::path::Path;
use std::time::Instant;

use crate::flags;
use serde::Serialize;

pub use deform::{DISPLACEMENTS, DeformReport, DeformRun, Displacement, INVERSE, JACOBIAN, START};
pub use mesh::{FIELD, MESH, MeshReport, MeshRun, MeshSeconds, Shape, VTK};
use mireg::io::transform::{self, Grids, Motion};
use mireg::io::{self, OutputFolder};
use mireg::metric::{Evaluation, Histogram, Metric};
use mireg::optimizer::OptimizerKind;
use mireg::registration::{self, Options, Registration, RegistrationLevel, Started};
use mireg::{Check, Doubt, Error, Result, Volume};

use crate::interrupt;
pub use words::{began, climbed, motion};

/// File names in the output folder.
pub const TRANSFORM: &str = "transform.tfm";
pub const REPORT: &str = "report.json";
pub const PAGE: &str = "report.html";

/// The name of the moved image: a picture is moved to a picture, all else to NIfTI.
pub fn moved(moving: &Path) -> &'static str {
    if io::is_picture(moving) { "moved.png" } else { "moved.nii.gz" }
}

/// What a run knows beyond the registration itself.
pub struct Run<'a> {
    /// When the process started.
    pub started: Instant,
    pub fixed: &'a Path,
    pub moving: &'a Path,
    /// Seconds that reading both took.
    pub read: f64,
    /// The same of opening the device.
    pub open: f64,
    pub options: &'a Options,
}

/// What speaks against a result, as report.json has it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Warning {
    #[serde(rename = "name")]
    pub check: Check,
    /// What was found, in a line.
    pub text: String,
    /// Whether the result should not be used.
    pub grave: bool,
}

/// The library's doubts in the words of the command line.
fn warnings(doubts: &[Doubt]) -> Vec<Warning> {
    let warning =
        |doubt: &Doubt| Warning { check: doubt.check, text: flags::message(&doubt.message), grave: doubt.grave };
    doubts.iter().map(warning).collect()
}

/// The content of report.json. Lengths in mm, angles in degrees, LPS; entropies and MI in nats.
#[derive(Debug, Serialize)]
pub struct Report {
    /// The command line as it was typed, a part an argument.
    pub command: Vec<String>,
    /// mireg's version.
    pub version: &'static str,
    pub fixed: String,
    pub moving: String,
    /// `cpu`, `cuda` or `emulated`.
    pub backend: &'static str,
    /// The device's own name.
    pub device: String,
    pub bins: u32,
    /// How values between voxels were made.
    pub interpolation: &'static str,
    /// What counted the joint histograms.
    pub histogram: &'static str,
    /// What was maximised.
    pub metric: Metric,
    /// Who searched.
    pub optimizer: OptimizerKind,
    pub start: Value,
    #[serde(rename = "final")]
    pub end: Value,
    /// Part of the fixed image's voxels that lie inside the moving image at the end, 0 to 1.
    pub overlap_fraction: f64,
    /// Which start won.
    pub started: Started,
    /// Coarse to fine.
    pub levels: Vec<RegistrationLevel>,
    pub transform: Motion,
    pub seconds: Seconds,
    /// `passed`, or `failed` for a result that should not be used.
    pub trust: &'static str,
    /// What speaks against the result; empty when nothing does.
    pub warnings: Vec<Warning>,
}

/// Both images at full resolution in one position.
#[derive(Debug, Serialize)]
pub struct Value {
    /// Of the metric that was maximised; of a smooth one on the finest level.
    pub value: f64,
    #[serde(flatten)]
    pub evaluation: Evaluation,
}

/// Seconds spent.
#[derive(Debug, Serialize)]
pub struct Seconds {
    /// From the start of the process to the writing of the report.
    pub total: f64,
    /// From volumes in memory to the transform: upload, pyramid and optimise.
    pub register: f64,
    pub read: f64,
    /// Opening the device.
    pub open: f64,
    /// Those of the registration.
    #[serde(flatten)]
    pub parts: registration::RegistrationSeconds,
    /// Transform, moved image and the pictures of the page.
    pub write: f64,
}

impl Run<'_> {
    /// Writes all results into `folder` and returns what the report says. `images`: the fixed and the moving one.
    ///
    /// # Errors
    /// [`Error::File`] where a file cannot be written.
    pub fn write(&self, images: [&Volume; 2], found: &Registration, folder: &OutputFolder) -> Result<Report> {
        let writing = Instant::now();
        transform::write_linear(&folder.path(TRANSFORM), None, &found.transform, &Grids::default())?;
        let write = || io::write(&folder.path(moved(self.moving)), &found.moved);
        let (written, pictures) = rayon::join(write, || html::Pictures::new(images, found));
        written?;
        interrupt::proceed()?;
        let report = self.report(found, writing.elapsed().as_secs_f64());

        let path = folder.path(REPORT);
        std::fs::write(&path, text_of(&report, &path)?).map_err(|e| Error::file(&path, e.to_string()))?;

        let path = folder.path(PAGE);
        let pictures = pictures.map_err(|e| Error::file(&path, e.to_string()))?;
        let page = html::page(&report, images, found, self.options, &pictures)
            .map_err(|e| Error::file(&path, e.to_string()))?;
        std::fs::write(&path, page).map_err(|e| Error::file(&path, e.to_string()))?;
        Ok(report)
    }

    fn report(&self, found: &Registration, write: f64) -> Report {
        let Histogram { bins, interpolator, .. } = self.options.metric.histogram();
        let [before, after] = found.values;
        let text = |path: &Path| path.display().to_string();
        Report {
            command: command(),
            version: env!("CARGO_PKG_VERSION"),
            fixed: text(self.fixed),
            moving: text(self.moving),
            backend: found.backend,
            device: found.device.clone(),
            bins,
            interpolation: interpolator.name(),
            histogram: found.histogram,
            metric: self.options.metric,
            optimizer: self.options.optimizer(),
            start: Value { value: before, evaluation: found.start },
            end: Value { value: after, evaluation: found.end },
            overlap_fraction: found.end.overlap_fraction(),
            started: found.started.clone(),
            levels: found.levels.clone(),
            transform: Motion::from(&found.transform),
            seconds: self.seconds(found, write),
            trust: if found.trusted() { "passed" } else { "failed" },
            warnings: warnings(&found.doubts),
        }
    }

    fn seconds(&self, found: &Registration, write: f64) -> Seconds {
        let parts = &found.seconds;
        Seconds {
            total: self.started.elapsed().as_secs_f64(),
            register: parts.upload + parts.pyramid + parts.optimise,
            read: self.read,
            open: self.open,
            parts: parts.clone(),
            write,
        }
    }
}

/// The command line as it was typed, a part an argument.
fn command() -> Vec<String> {
    std::env::args_os().map(|part| part.to_string_lossy().into_owned()).collect()
}

/// A report as JSON, for the file at `path`.
fn text_of(report: &impl Serialize, path: &Path) -> Result<String> {
    serde_json::to_string_pretty(report).map(|text| text + "\n").map_err(|e| Error::file(path, e.to_string()))
}
