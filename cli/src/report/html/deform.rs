//! report.html of a deformation.

use super::facts::{self, Fact, ImageFacts};
use super::jacobian::{self, Scale};
use super::strip::{self, Window};
use super::verdict::{self, Verdict};
use super::view::View;
use super::{Plane, grid, planes, plot, plot::Plot};
use crate::report::DeformReport;
use crate::report::Warning;
use crate::report::words;
use askama::Template;
use glam::{DAffine3, DVec3};
use image::ImageResult;
use mireg::Volume;
use mireg::deform::{Deformation, Options};
use rayon::prelude::*;

/// Of JPEGs.
const QUALITY: u8 = 80;

/// The slice through the middle: what the start makes of the moving image with the grid over it, and the Jacobian.
struct Drawing {
    view: View,
    picture: String,
    lines: String,
    jacobian: String,
}

/// What deform.html shows.
#[derive(Template)]
#[template(path = "deform.html")]
struct Page<'a> {
    report: &'a DeformReport,
    warnings: &'a [Warning],
    verdict: Verdict,
    planes: Vec<Plane>,
    drawings: Vec<Drawing>,
    /// From line to line of the grid.
    every_mm: f64,
    gradient: String,
    scale: [String; 3],
    folded: bool,
    images: [ImageFacts<'a>; 2],
    plot: Plot,
    climbed: &'static str,
    began: String,
    options: Vec<Fact>,
    command: String,
}

/// The content of report.html. `images`: the fixed and the moving one.
///
/// # Errors
/// Where a picture cannot be encoded or the template fails.
pub fn page(
    report: &DeformReport,
    [fixed, moving]: [&Volume; 2],
    options: &Options,
    found: &Deformation,
) -> Result<String, String> {
    let start = &found.start.transform;
    let map = start.to_affine();
    let window = Window::new(moving);
    let none = DAffine3::IDENTITY;
    let shown = [((fixed, Window::new(fixed)), none), ((moving, window), map), ((&found.moved, window), none)];
    let scale = Scale::new(&found.jacobian);
    let text = |e: image::ImageError| e.to_string();
    let views = View::all(&fixed.geometry, 1);
    let every = grid::every(&views);
    let every_mm = f64::from(every) * views[0].mm;
    let drawings = views.into_par_iter().map(|view| Drawing::new(view, every, (moving, window), &map, found, scale));
    let page = Page {
        report,
        warnings: &report.warnings,
        verdict: Verdict::new(&report.warnings),
        planes: planes(shown).map_err(text)?,
        every_mm,
        drawings: drawings.collect::<ImageResult<_>>().map_err(text)?,
        gradient: Scale::gradient(),
        scale: scale.labels(),
        folded: report.jacobian_range[0] <= 0.0,
        images: [ImageFacts::new("fixed", &report.fixed, fixed), ImageFacts::new("moving", &report.moving, moving)],
        plot: Plot::of_flow(&found.levels),
        climbed: words::climbed(report.force),
        began: words::began(&report.start, start),
        options: facts::deform(options, report),
        command: facts::command(&report.command),
    };
    page.render().map_err(|e| e.to_string())
}

impl Drawing {
    fn new(
        view: View,
        every: u32,
        (moving, window): (&Volume, Window),
        start: &DAffine3,
        found: &Deformation,
        scale: Scale,
    ) -> ImageResult<Self> {
        // Where the start puts the moving image, a line lies on the same anatomy as the regular one does in the fixed image.
        let (map, back) = (found.field.map(), start.inverse());
        let there = |point: DVec3| map.holds(point).then(|| back.transform_point3(map.transform_point3(point)));
        Ok(Self {
            picture: strip::data_uri(&strip::draw(&view, moving, window, start), QUALITY)?,
            lines: grid::path(&view, every, there),
            jacobian: strip::data_uri(&jacobian::draw(&view, &found.jacobian, scale), QUALITY)?,
            view,
        })
    }
}
