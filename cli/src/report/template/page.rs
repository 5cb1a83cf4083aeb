//! report.html of a template.

use super::Report;
use crate::report::html::facts;
use crate::report::html::plot::{self, Curve, Plot};
use crate::report::html::strip::{self, Window};
use crate::report::html::verdict::{self, Verdict};
use crate::report::html::view::View;
use askama::Template;
use glam::DAffine3;
use mireg::Volume;
use mireg::template::Template as Averaged;

/// Quality of JPEGs.
const QUALITY: u8 = 85;

/// What page.html shows.
#[derive(Template)]
#[template(path = "template/page.html")]
struct Page<'a> {
    common: Common<'a>,
    report: &'a Report,
    /// The affine mean and the template.
    drawings: [(&'static str, Vec<Drawing>); 2],
    plot: Plot,
    command: String,
}

/// What verdict.html shows.
struct Common<'a> {
    verdict: Verdict,
    warnings: &'a [crate::report::Warning],
    notes: &'a [String],
}

/// The middle slice of a view.
struct Drawing {
    view: View,
    picture: String,
}

/// Returns the content of report.html.
///
/// # Errors
/// Where a picture or the template fails.
pub fn page(template: &Averaged, report: &Report) -> Result<String, String> {
    let window = Window::new(&template.mean);
    let draw = |volume: &Volume| {
        let drawing = |view| {
            let picture = strip::draw(&view, volume, window, &DAffine3::IDENTITY);
            Ok(Drawing { picture: strip::data_uri(&picture, QUALITY)?, view })
        };
        View::all(&volume.geometry, 1).into_iter().map(drawing).collect::<image::ImageResult<Vec<_>>>()
    };
    let drawn = |volume| draw(volume).map_err(|e| e.to_string());
    let sharpness = report.rounds.iter().map(|round| round.sharpness);
    let all = std::iter::once(report.affine_sharpness).chain(sharpness);
    let points: Vec<_> = all.enumerate().collect();
    let curve = Curve { title: "mean gradient, part of the range per mm".into(), steps: points.len() - 1, points };
    let page = Page {
        common: Common { verdict: Verdict::new(&report.warnings), warnings: &report.warnings, notes: &report.notes },
        report,
        drawings: [("Affine mean", drawn(&template.affine_mean)?), ("Template", drawn(&template.mean)?)],
        plot: Plot::new(vec![curve], "rounds"),
        command: facts::command(&report.command),
    };
    page.render().map_err(|e| e.to_string())
}
