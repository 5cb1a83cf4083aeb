//! report.html of a mesh.

use super::facts::{self, ImageFacts};
use super::strip::{self, Window};
use super::verdict::{self, Verdict};
use super::view::View;
use super::{Plane, plot, plot::Plot};
use crate::report::Warning;
use crate::report::mesh::MeshReport;
use askama::Template;
use glam::{DAffine3, DVec2};
use image::ImageResult;
use mireg::Volume;
use mireg::mesh::Found;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Of JPEGs.
const QUALITY: u8 = 80;

/// A picture with meshes over it, as an SVG shows it.
struct Drawing {
    title: &'static str,
    width: u32,
    height: u32,
    picture: String,
    /// Class and path of each mesh.
    meshes: Vec<(&'static str, String)>,
}

/// What mesh.html shows.
#[derive(Template)]
#[template(path = "mesh.html")]
struct Page<'a> {
    report: &'a MeshReport,
    warnings: &'a [Warning],
    verdict: Verdict,
    planes: [Plane; 1],
    drawings: [Drawing; 2],
    images: [ImageFacts<'a>; 2],
    plot: Plot,
    command: String,
}

/// The content of report.html. `images`: the fixed and the moving one, and the moving one through the mesh.
///
/// # Errors
/// Where a picture cannot be encoded or the template fails.
pub fn page(report: &MeshReport, images: [&Volume; 3], found: &Found) -> Result<String, String> {
    let [fixed, moving, _] = images;
    let pictures = pictures(images, found).map_err(|e| e.to_string())?;
    let page = Page {
        report,
        warnings: &report.warnings,
        verdict: Verdict::new(&report.warnings),
        planes: [pictures.0],
        drawings: pictures.1,
        images: [ImageFacts::new("fixed", &report.fixed, fixed), ImageFacts::new("moving", &report.moving, moving)],
        plot: Plot::of_mesh(&report.levels),
        command: facts::command(&report.command),
    };
    page.render().map_err(|e| e.to_string())
}

fn pictures([fixed, moving, moved]: [&Volume; 3], found: &Found) -> ImageResult<(Plane, [Drawing; 2])> {
    let (fixed_window, moving_window) = (Window::new(fixed), Window::new(moving));
    let [view, moving_view] = [fixed, moving].map(|volume| View::flat(&volume.geometry));
    let none = DAffine3::IDENTITY;
    let draw =
        |view: &View, volume, window, map: &DAffine3| strip::data_uri(&strip::draw(view, volume, window, map), QUALITY);
    let fixed = draw(&view, fixed, fixed_window, &none)?;
    let mesh = |class, view: &View, points: &[DVec2]| (class, path(view, points, &found.after.triangles));
    let drawings = [
        Drawing {
            title: "fixed",
            width: view.width,
            height: view.height,
            picture: fixed.clone(),
            meshes: vec![mesh("after", &view, &found.before.fixed)],
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
    Ok((Plane { view, fixed, before, after }, drawings))
}

/// Every edge of a mesh once.
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
