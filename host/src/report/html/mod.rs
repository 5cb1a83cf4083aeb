//! report.html: one file that lets a person see whether a registration can be used. It loads nothing else.

mod facts;
mod joint;
pub mod mesh;
mod plot;
mod strip;
mod verdict;
mod view;

use super::{Report, words};
use crate::Volume;
use crate::registration::{Options, Registration};
use askama::Template;
use facts::{Fact, ImageFacts};
use glam::DAffine3;
use image::ImageResult;
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
        let windows = images.map(Window::new);
        let transform = found.transform.to_affine();
        let mut planes = Vec::new();
        for (slices, quality) in ATTEMPTS {
            let views = View::all(&images[0].geometry, slices);
            let plane = |view| Plane::new(view, images, windows, &transform, quality);
            planes = views.into_par_iter().map(plane).collect::<ImageResult<Vec<_>>>()?;
            if planes.iter().map(Plane::bytes).sum::<usize>() <= BUDGET {
                break;
            }
        }
        let [before, after] = found.histograms.each_ref().map(|counts| {
            let bins = counts.len().isqrt();
            strip::exact_data_uri(&joint::draw(counts, bins))
        });
        Ok(Self { planes, joints: [before?, after?] })
    }
}

impl Plane {
    fn new(
        view: View,
        [fixed, moving]: [&Volume; 2],
        [fixed_window, moving_window]: [Window; 2],
        transform: &DAffine3,
        quality: u8,
    ) -> ImageResult<Self> {
        let none = DAffine3::IDENTITY;
        let strips = [(fixed, fixed_window, &none), (moving, moving_window, &none), (moving, moving_window, transform)];
        let encode = |(volume, window, transform): (&Volume, Window, &DAffine3)| {
            strip::data_uri(&strip::draw(&view, volume, window, transform), quality)
        };
        let [fixed, before, after] = strips.map(encode);
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
