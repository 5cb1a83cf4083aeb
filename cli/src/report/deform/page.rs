//! report.html of a deformation.

use super::jacobian::{self, Scale};
use super::{Deformed, Facts, grid};
use crate::report::html::facts::{self, Fact};
use crate::report::html::plot::{self, Curve, Plot};
use crate::report::html::strip::{self, Window};
use crate::report::html::view::View;
use crate::report::html::viewer::{self, Plane};
use crate::report::html::{Common, intensities, verdict};
use crate::report::{Report, words};
use askama::Template;
use glam::{DAffine3, DVec3};
use image::ImageResult;
use mireg::Volume;
use mireg::deform::{Deformation, Level, Options};
use rayon::prelude::*;

/// Quality of JPEGs.
const QUALITY: u8 = 80;

/// The middle slice of a view: the moving image after the initial transform, the warped grid, and the Jacobian
/// determinant.
struct Drawing {
    view: View,
    picture: String,
    lines: String,
    jacobian: String,
}

/// The pictures of the page. Most of the time that a page takes is spent on them.
pub struct Pictures {
    planes: Vec<Plane>,
    drawings: Vec<Drawing>,
    /// Distance between the lines of the grid, mm.
    every_mm: f64,
    scale: Scale,
}

impl Pictures {
    /// Draws the fixed and the moving image of a deformation.
    ///
    /// # Errors
    /// Where a picture cannot be encoded.
    pub fn new([fixed, moving]: [&Volume; 2], found: &Deformation) -> ImageResult<Self> {
        let map = found.start.transform.to_affine();
        let window = Window::new(moving);
        let none = DAffine3::IDENTITY;
        let before = [((fixed, Window::new(fixed)), none), ((moving, window), map)];
        let planes = |moved| viewer::planes([before[0], before[1], ((moved, window), none)]);
        let scale = Scale::new(&found.jacobian);
        let views = View::all(&fixed.geometry, 1);
        let every = grid::every(&views);
        let every_mm = f64::from(every) * views[0].mm;
        let drawing = |view| Drawing::new(view, every, (moving, window), &map, found, scale);
        let drawings = views.into_par_iter().map(drawing).collect::<ImageResult<_>>()?;
        Ok(Self { planes: found.moved.as_ref().map_or(Ok(Vec::new()), planes)?, drawings, every_mm, scale })
    }
}

/// What page.html shows.
#[derive(Template)]
#[template(path = "deform/page.html")]
struct Page<'a> {
    common: Common<'a>,
    facts: &'a Facts,
    drawings: &'a [Drawing],
    every_mm: f64,
    gradient: String,
    scale: [String; 3],
    folded: bool,
    plot: Plot,
    metric: String,
    began: String,
}

/// Returns the content of report.html.
///
/// # Errors
/// Where the template fails.
pub fn page(
    of: &Deformed,
    report: &Report<Facts>,
    images: [&Volume; 2],
    pictures: &Pictures,
) -> askama::Result<String> {
    let facts = &report.facts;
    let page = Page {
        common: Common::new(
            report,
            images,
            &pictures.planes,
            chosen(of.options, facts),
            facts.seconds.named().to_vec(),
        ),
        facts,
        drawings: &pictures.drawings,
        every_mm: pictures.every_mm,
        gradient: Scale::gradient(),
        scale: pictures.scale.labels(),
        folded: facts.jacobian_range[0] <= 0.0,
        plot: Plot::new(
            of.found.levels.iter().map(|level| curve(level, images[0].geometry.is_flat())).collect(),
            "iterations",
        ),
        metric: words::metric_of(of.options, of.found.compared),
        began: words::initial_transform(&facts.start, &of.found.start.transform),
    };
    page.render()
}

fn curve(level: &Level, flat: bool) -> Curve {
    Curve {
        title: plot::grid(&level.spacing_mm, flat),
        steps: level.values.len().max(1) - 1,
        points: level.values.iter().copied().enumerate().collect(),
    }
}

/// Returns the options, with the values that were found from the images.
fn chosen(options: &Options, facts: &Facts) -> Vec<Fact> {
    let sigmas = |axis: usize| {
        let mm = |level: &super::Level| facts::rounded(level.found.smooth_mm[axis]).to_string();
        format!("{} mm by level", facts.levels.iter().map(mm).collect::<Vec<_>>().join(", "))
    };
    let from = if options.smooth_mm.or(options.smooth_field_mm).is_some() { "given" } else { "found from the images" };
    vec![
        ("force", facts.force.clone()),
        ("channels", facts.channels.to_string()),
        ("compared", words::compared(facts.compared).to_owned()),
        ("symmetric", if facts.symmetric { "yes" } else { "no" }.to_owned()),
        ("bins", facts.bins.to_string()),
        ("regularisation", from.to_owned()),
        ("smoothing of the update field", sigmas(0)),
        ("smoothing of the whole field", sigmas(1)),
    ]
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
        // The picture is the moving image after the initial transform. There, a warped line lies on the anatomy that
        // the regular line crosses in the fixed image.
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
