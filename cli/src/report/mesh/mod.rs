//! The report of `mireg mesh`.

mod page;

use std::path::Path;

use image::ImageResult;
use serde::Serialize;

use super::outputs::Output;
use super::{Kind, Report, Spent, TRANSFORM};
use mireg::image::Intensities;
use mireg::io;
use mireg::io::transform::{self, Grids, Motion};
use mireg::mesh::{Climbed, Found, LevelFound};
use mireg::metric::Interpolator;
use mireg::registration::Place;
use mireg::transform::Mesh;
use mireg::{Doubt, Resampling, Result, Volume, resample_through};

/// File names in the output folder, in addition to those of every registration.
const MESH: &str = "mesh.json";
const VTK: &str = "mesh.vtk";
const FIELD: &str = "field.mha";

/// A mesh, and its initial transform.
pub struct Meshed<'a> {
    found: &'a Found,
    /// The file of the initial transform, if one was given.
    start: Option<&'a Path>,
    /// The moving image through the mesh, on the grid of the fixed one.
    pub moved: Volume,
}

/// What report.json says about a mesh.
#[derive(Debug, Serialize)]
pub struct Facts {
    /// Where the initial transform is from: a kind of registration, an initialisation, or the file that was given.
    pub start: String,
    /// The initial transform.
    pub transform: Motion,
    pub mesh: Shape,
    /// Mutual information of the pictures through the mesh, as a multiple of that at the best place around.
    pub place: Option<Place>,
    /// Coarse to fine.
    pub levels: Vec<LevelFound>,
    /// The gradient ascent with the finest mesh, after the search on all levels.
    pub climb: Climbed,
    /// The confidence of each triangle, in the order of mesh.json.
    pub confidence: Vec<f64>,
    pub seconds: Seconds,
}

/// A mesh in numbers.
#[derive(Debug, Serialize)]
pub struct Shape {
    pub corners: usize,
    pub triangles: usize,
    /// Mean distance of the vertices from their position after the initial transform.
    pub mean_mm: f64,
    /// Largest distance of a vertex from its position after the initial transform.
    pub most_mm: f64,
    /// Mean confidence of the triangles.
    pub mean_confidence: f64,
    /// Smallest ratio of a triangle's area in the moving picture to its area after the initial transform.
    pub least_area_ratio: f64,
}

/// Seconds spent.
#[derive(Debug, Serialize)]
pub struct Seconds {
    /// From the start of the process to the writing of the report.
    pub total: f64,
    pub read: f64,
    /// Finding the initial linear transform.
    pub align: f64,
    /// Moving the vertices.
    pub mesh: f64,
    /// Transform, mesh, field, moved image and the pictures of the page.
    pub write: f64,
}

impl Seconds {
    /// Returns the seconds with their names.
    pub fn parts(&self) -> [(&'static str, f64); 5] {
        [
            ("reading", self.read),
            ("linear start", self.align),
            ("mesh", self.mesh),
            ("writing", self.write),
            ("total", self.total),
        ]
    }
}

impl Shape {
    fn new(found: &Found) -> Self {
        let (from, to) = (&found.before.moving, &found.after.moving);
        let lengths = || from.iter().zip(to).map(|(from, to)| from.distance(*to));
        // Areas are compared with those after the initial transform. If this enlarges everything, a comparison with the
        // fixed picture would hide triangles that shrink.
        let change = Mesh { fixed: from.clone(), ..found.after.clone() };
        Self {
            corners: to.len(),
            triangles: found.after.triangles.len(),
            mean_confidence: found.mean_confidence(),
            mean_mm: lengths().sum::<f64>() / to.len().max(1) as f64,
            most_mm: lengths().fold(0.0, f64::max),
            least_area_ratio: change.least_area_ratio(),
        }
    }
}

impl<'a> Meshed<'a> {
    /// Resamples the moving image by the mesh.
    ///
    /// # Errors
    /// As [`resample_through`].
    pub fn new(found: &'a Found, start: Option<&'a Path>, [fixed, moving]: [&Volume; 2]) -> Result<Self> {
        let how = Resampling { interpolator: Interpolator::Linear, outside: 0.0 };
        let map = found.after.map();
        let moved = resample_through(moving, &fixed.geometry, |point| map.transform_point3(point), &how)?.volume;
        Ok(Self { found, start, moved })
    }
}

impl Kind for Meshed<'_> {
    type Facts = Facts;
    type Pictures = page::Pictures;
    const FILES: &'static [(Output, &'static str)] =
        &[(Output::Transform, MESH), (Output::Transform, VTK), (Output::Transform, TRANSFORM), (Output::Field, FIELD)];

    fn device(&self) -> (&'static str, &str) {
        (self.found.backend, &self.found.device)
    }

    fn moved(&self) -> Option<&Volume> {
        Some(&self.moved)
    }

    fn intensities(&self) -> [Intensities; 2] {
        self.found.intensities
    }

    fn doubts(&self) -> &[Doubt] {
        &self.found.doubts
    }

    fn write(&self, name: &str, path: &Path) -> Result<()> {
        let mesh = &self.found.after;
        match name {
            MESH => io::mesh::write(path, mesh),
            VTK => io::mesh::write_vtk(path, mesh, &[("confidence", &self.found.confidence)]),
            FIELD => io::field::write(path, &mesh.map().field(&self.moved.geometry)),
            _ => transform::write_linear(path, None, &self.found.start.transform, &Grids::default()),
        }
    }

    fn facts(&self, spent: &Spent) -> Facts {
        Facts {
            start: self.start.map_or_else(|| self.found.start.from.to_owned(), |path| path.display().to_string()),
            transform: Motion::from(&self.found.start.transform),
            mesh: Shape::new(self.found),
            place: self.found.place,
            levels: self.found.levels.clone(),
            climb: self.found.climbed.clone(),
            confidence: self.found.confidence.clone(),
            seconds: Seconds {
                total: spent.total,
                read: spent.read,
                align: self.found.start.seconds,
                mesh: self.found.seconds,
                write: spent.write,
            },
        }
    }

    fn summary(&self, facts: &Facts) -> Vec<(&'static str, String)> {
        let Facts { mesh, seconds, climb, .. } = facts;
        let parts = format!("linear registration {:.2} s, mesh {:.2} s", seconds.align, seconds.mesh);
        vec![
            ("mesh", format!("{} triangles, {} vertices", mesh.triangles, mesh.corners)),
            ("displacement", format!("mean {:.2} mm, maximum {:.2} mm", mesh.mean_mm, mesh.most_mm)),
            ("metric", format!("MI {:.4} -> {:.4} nats, from {}", climb.before, climb.after, facts.start)),
            ("confidence", format!("mean {:.0} %", 100.0 * mesh.mean_confidence)),
            ("time", format!("{:.2} s, of which {parts}", seconds.total)),
        ]
    }

    fn draw(&self, [fixed, moving]: [&Volume; 2]) -> ImageResult<page::Pictures> {
        page::Pictures::new([fixed, moving, &self.moved], self.found)
    }

    fn page(&self, report: &Report<Facts>, images: [&Volume; 2], pictures: &page::Pictures) -> askama::Result<String> {
        page::page(report, images, pictures)
    }
}
