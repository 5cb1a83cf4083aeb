//! report.html: one file that lets a person see whether a result can be used. It loads nothing else. This folder holds what all
//! pages share: the template around them, the viewer, tables and plots.

pub mod facts;
pub mod intensities;
pub mod plot;
pub mod strip;
pub mod verdict;
pub mod view;
pub mod viewer;

use super::{Report, Warning};
use facts::{Fact, ImageFacts};
use mireg::Volume;
use verdict::Verdict;
use viewer::Plane;

/// What base.html shows, around the parts of each kind of report.
pub struct Common<'a> {
    pub verdict: Verdict,
    pub warnings: &'a [Warning],
    pub notes: &'a [String],
    /// The fixed and the moving image.
    pub images: [ImageFacts<'a>; 2],
    pub planes: &'a [Plane],
    pub options: Vec<Fact>,
    pub seconds: Vec<(&'static str, f64)>,
    pub command: String,
    pub version: &'static str,
}

impl<'a> Common<'a> {
    /// Creates the common parts of a page. `options` are those of the kind of report; where it was computed is added to
    /// them.
    pub fn new<F>(
        report: &'a Report<F>,
        [fixed, moving]: [&Volume; 2],
        planes: &'a [Plane],
        mut options: Vec<Fact>,
        seconds: Vec<(&'static str, f64)>,
    ) -> Self {
        let head = &report.head;
        options.push(("computed on", format!("{} ({})", head.backend, head.device)));
        options.push(("mireg", head.version.to_owned()));
        Self {
            verdict: Verdict::new(&report.warnings),
            warnings: &report.warnings,
            notes: &report.notes,
            images: [
                ImageFacts::new("fixed", &head.fixed, fixed, &head.intensities.fixed),
                ImageFacts::new("moving", &head.moving, moving, &head.intensities.moving),
            ],
            planes,
            options,
            seconds,
            command: facts::command(&head.command),
            version: head.version,
        }
    }
}
