//! report.html of a mesh.

use super::Facts;
use crate::report::Report;
use crate::report::html::facts;
use crate::report::html::plot::{self, Curve, Plot};
use crate::report::html::strip::{self, Window};
use crate::report::html::view::View;
use crate::report::html::viewer::Plane;
use crate::report::html::{Common, intensities, verdict};
use askama::Template;
use glam::{DAffine3, DVec2};
use image::ImageResult;
use mireg::Volume;
use mireg::mesh::{Climbed, Found};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Triangles with less confidence than this are marked.
const UNSURE: f64 = 0.25;
/// Quality of JPEGs.
const QUALITY: u8 = 80;

/// A picture with meshes drawn over it, for an SVG.
struct Drawing {
    title: &'static str,
    width: u32,
    height: u32,
    picture: String,
    /// Class and path of each mesh.
    meshes: Vec<(&'static str, String)>,
}

/// The pictures of the page. Most of the time that a page takes is spent on them.
pub struct Pictures {
    planes: [Plane; 1],
    drawings: [Drawing; 2],
}

/// What page.html shows.
#[derive(Template)]
#[template(path = "mesh/page.html")]
struct Page<'a> {
    common: Common<'a>,
    facts: &'a Facts,
    drawings: &'a [Drawing; 2],
    plot: Plot,
}

/// Returns the content of report.html.
///
/// # Errors
/// Where the template fails.
pub fn page(report: &Report<Facts>, images: [&Volume; 2], pictures: &Pictures) -> askama::Result<String> {
    let facts = &report.facts;
    let page = Page {
        common: Common::new(report, images, &pictures.planes, Vec::new(), facts.seconds.parts().to_vec()),
        facts,
        drawings: &pictures.drawings,
        plot: Plot::new(vec![curve(&facts.climb)], "iterations"),
    };
    page.render()
}

fn curve(climb: &Climbed) -> Curve {
    Curve {
        title: plot::title(climb.pixel_mm),
        steps: climb.iterations,
        points: climb.trace.iter().copied().enumerate().collect(),
    }
}

impl Pictures {
    /// Draws the fixed and the moving image, and the moving one resampled by the mesh.
    ///
    /// # Errors
    /// Where a picture cannot be encoded.
    pub fn new([fixed, moving, moved]: [&Volume; 3], found: &Found) -> ImageResult<Self> {
        let (fixed_window, moving_window) = (Window::new(fixed), Window::new(moving));
        let [view, moving_view] = [fixed, moving].map(|volume| View::flat(&volume.geometry));
        let none = DAffine3::IDENTITY;
        let draw = |view: &View, volume, window, map: &DAffine3| {
            strip::data_uri(&strip::draw(view, volume, window, map), QUALITY)
        };
        let fixed = draw(&view, fixed, fixed_window, &none)?;
        let mesh = |class, view: &View, points: &[DVec2]| (class, path(view, points, &found.after.triangles));
        let drawings = [
            Drawing {
                title: "fixed",
                width: view.width,
                height: view.height,
                picture: fixed.clone(),
                meshes: vec![("unsure", unsure(&view, found)), mesh("after", &view, &found.before.fixed)],
            },
            Drawing {
                title: "moving",
                width: moving_view.width,
                height: moving_view.height,
                picture: draw(&moving_view, moving, moving_window, &none)?,
                meshes: vec![
                    mesh("before", &moving_view, &found.before.moving),
                    mesh("after", &moving_view, &found.after.moving),
                ],
            },
        ];
        let before = draw(&view, moving, moving_window, &found.start.transform.to_affine())?;
        let after = draw(&view, moved, moving_window, &none)?;
        Ok(Self { planes: [Plane { view, fixed, before, after }], drawings })
    }
}

/// Returns the edges of a mesh, each once, as a path of an SVG.
fn path(view: &View, points: &[DVec2], triangles: &[[u32; 3]]) -> String {
    let sides = |&[a, b, c]: &[u32; 3]| [(a, b), (b, c), (c, a)].map(|(a, b)| (a.min(b), a.max(b)));
    let edges: BTreeSet<_> = triangles.iter().flat_map(sides).collect();
    let mut path = String::new();
    for (a, b) in edges {
        let [a, b] = [a, b].map(|corner| view.place(points[corner as usize].extend(0.0)));
        let _ = write!(path, "M{:.1} {:.1}L{:.1} {:.1}", a.x, a.y, b.x, b.y);
    }
    path
}

/// Returns the triangles with little confidence as a path of an SVG over the fixed picture.
fn unsure(view: &View, found: &Found) -> String {
    let mut path = String::new();
    for (triangle, _) in found.after.triangles.iter().zip(&found.confidence).filter(|(_, sure)| **sure < UNSURE) {
        let [a, b, c] = triangle.map(|corner| view.place(found.after.fixed[corner as usize].extend(0.0)));
        let _ = write!(path, "M{:.1} {:.1}L{:.1} {:.1}L{:.1} {:.1}Z", a.x, a.y, b.x, b.y, c.x, c.y);
    }
    path
}
