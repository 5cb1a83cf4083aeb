//! report.html: one file that lets a person see whether a registration can be used. It loads nothing else.

pub mod deform;
mod facts;
mod grid;
mod jacobian;
mod joint;
pub mod mesh;
mod plot;
mod strip;
mod verdict;
mod view;

use super::{Report, words};
use askama::Template;
use facts::{Fact, ImageFacts};
use glam::DAffine3;
use image::ImageResult;
use mireg::Volume;
use mireg::registration::{Options, Registration};
use plot::Plot;
use rayon::prelude::*;
use strip::Window;
use verdict::Verdict;
use view::View;

/// Slices a view and quality of JPEGs, until the slices keep to [`BUDGET`].
const ATTEMPTS: [(usize, u8); 4] = [(7, 80), (7, 50), (3, 50), (1, 50)];
/// Bytes of all slices in the file, so that it can be mailed.
const BUDGET: usize = 900_000;

/// What takes the most time of a page.
pub struct Pictures {
    planes: Vec<Plane>,
    /// Before and after.
    joints: [String; 2],
}

/// The slices of a view as `data:` URIs.
struct Plane {
    view: View,
    fixed: String,
    before: String,
    after: String,
}

impl Pictures {
    /// Draws the fixed and the moving image of a registration.
    ///
    /// # Errors
    /// Where a picture cannot be encoded.
    pub fn new(images: [&Volume; 2], found: &Registration) -> ImageResult<Self> {
        let [fixed, moving] = images.map(|image| (image, Window::new(image)));
        let planes =
            planes([(fixed, DAffine3::IDENTITY), (moving, DAffine3::IDENTITY), (moving, found.transform.to_affine())])?;
        let [before, after] = found.histograms.each_ref().map(|counts| {
            let bins = counts.len().isqrt();
            strip::exact_data_uri(&joint::draw(counts, bins))
        });
        Ok(Self { planes, joints: [before?, after?] })
    }
}

/// A volume, its window, and a map of points of the fixed image to its own.
type Shown<'a> = ((&'a Volume, Window), DAffine3);

/// Slices of the fixed image, of the moving one before and of the moving one after, as many and as good as the budget allows.
fn planes(shown: [Shown; 3]) -> ImageResult<Vec<Plane>> {
    let mut planes = Vec::new();
    for (slices, quality) in ATTEMPTS {
        let views = View::all(&shown[0].0.0.geometry, slices);
        planes = views.into_par_iter().map(|view| Plane::new(view, shown, quality)).collect::<ImageResult<Vec<_>>>()?;
        if planes.iter().map(Plane::bytes).sum::<usize>() <= BUDGET {
            break;
        }
    }
    Ok(planes)
}

impl Plane {
    fn new(view: View, shown: [Shown; 3], quality: u8) -> ImageResult<Self> {
        let encode =
            |((volume, window), map): Shown| strip::data_uri(&strip::draw(&view, volume, window, &map), quality);
        let [fixed, before, after] = shown.map(encode);
        Ok(Self { fixed: fixed?, before: before?, after: after?, view })
    }

    fn bytes(&self) -> usize {
        self.fixed.len() + self.before.len() + self.after.len()
    }

    /// The slice that is shown first.
    fn middle(&self) -> usize {
        self.view.offsets.len() / 2
    }

    /// Where the slices are, for the script: mm with commas between.
    fn offsets(&self) -> String {
        self.view.offsets.iter().map(|mm| format!("{mm:.1}")).collect::<Vec<_>>().join(",")
    }
}

/// What page.html shows.
#[derive(Template)]
#[template(path = "page.html")]
struct Page<'a> {
    report: &'a Report,
    verdict: Verdict,
    motion: String,
    parts: Vec<Fact>,
    planes: &'a [Plane],
    joints: &'a [String; 2],
    images: [ImageFacts<'a>; 2],
    plot: Plot,
    options: Vec<Fact>,
    metric: Vec<[String; 3]>,
    seconds: Vec<(&'static str, f64)>,
    command: String,
}

/// The content of report.html.
///
/// # Errors
/// Where the template fails.
pub fn page(
    report: &Report,
    [fixed, moving]: [&Volume; 2],
    found: &Registration,
    options: &Options,
    pictures: &Pictures,
) -> askama::Result<String> {
    let page = Page {
        report,
        verdict: Verdict::new(&report.warnings),
        motion: words::motion(&found.transform),
        parts: words::parts(&found.transform),
        planes: &pictures.planes,
        joints: &pictures.joints,
        images: [ImageFacts::new("fixed", &report.fixed, fixed), ImageFacts::new("moving", &report.moving, moving)],
        plot: Plot::new(&report.levels),
        options: facts::options(options, report),
        metric: facts::metric(&found.start, &found.end),
        seconds: facts::seconds(&report.seconds),
        command: facts::command(&report.command),
    };
    page.render()
}

#[cfg(test)]
mod tests;
