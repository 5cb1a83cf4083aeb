//! What `mireg mesh` leaves behind.

use std::path::Path;
use std::time::Instant;

use gpu::math::interpolate::Interpolator;
use serde::Serialize;

use crate::interrupt;

use super::{PAGE, REPORT, TRANSFORM, Warning, html, moved, text_of};
use mireg::io::transform::{self, Grids, Motion};
use mireg::io::{self, OutputFolder};
use mireg::mesh::{Found, LevelFound};
use mireg::transform::Mesh;
use mireg::{Error, Resampling, Result, Volume, resample_through};

/// File names in the output folder, beside those of every registration.
pub const MESH: &str = "mesh.json";
pub const VTK: &str = "mesh.vtk";
pub const FIELD: &str = "field.mha";

/// What a run knows beyond the mesh itself.
pub struct MeshRun<'a> {
    /// When the process started.
    pub started: Instant,
    pub fixed: &'a Path,
    pub moving: &'a Path,
    /// Seconds that reading both took.
    pub read: f64,
    /// The file with the transform that the mesh started from, if there is one.
    pub start: Option<&'a Path>,
}

/// The content of report.json. Lengths in mm; mutual information in nats.
#[derive(Debug, Serialize)]
pub struct MeshReport {
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
    /// Which start won the affine registration, or the file that was given.
    pub start: String,
    /// Where the mesh started.
    pub transform: Motion,
    pub mesh: Shape,
    /// Coarse to fine.
    pub levels: Vec<LevelFound>,
    pub seconds: MeshSeconds,
    /// `passed`, or `failed` for a result that should not be used.
    pub trust: &'static str,
    /// What speaks against the result; empty when nothing does.
    pub warnings: Vec<Warning>,
}

/// A mesh in numbers.
#[derive(Debug, Serialize)]
pub struct Shape {
    pub corners: usize,
    pub triangles: usize,
    /// How far corners ended from where they started, on average and at most.
    pub mean_mm: f64,
    pub most_mm: f64,
    /// How many times larger triangles are in the moving picture than where they started, at least.
    pub least_area_ratio: f64,
}

/// Seconds spent.
#[derive(Debug, Serialize)]
pub struct MeshSeconds {
    /// From the start of the process to the writing of the report.
    pub total: f64,
    pub read: f64,
    /// Finding the affine start.
    pub align: f64,
    /// Moving the corners.
    pub mesh: f64,
    /// Transform, mesh, field, moved image.
    pub write: f64,
}

impl MeshReport {
    /// The mutual information at the start and at the end of the finest level.
    pub fn before(&self) -> f64 {
        self.levels.last().map_or(0.0, |level| level.before)
    }

    /// See [`MeshReport::before`].
    pub fn after(&self) -> f64 {
        self.levels.last().map_or(0.0, |level| level.after)
    }
}

impl MeshSeconds {
    /// With their names.
    pub fn parts(&self) -> [(&'static str, f64); 5] {
        [
            ("reading", self.read),
            ("affine start", self.align),
            ("mesh", self.mesh),
            ("writing", self.write),
            ("in all", self.total),
        ]
    }
}

impl Shape {
    fn new(found: &Found) -> Self {
        let (from, to) = (&found.before.moving, &found.after.moving);
        let lengths = || from.iter().zip(to).map(|(from, to)| from.distance(*to));
        // As if the start were the fixed picture, so that a start that enlarges all does not hide what shrinks.
        let change = Mesh { fixed: from.clone(), ..found.after.clone() };
        Self {
            corners: to.len(),
            triangles: found.after.triangles.len(),
            mean_mm: lengths().sum::<f64>() / to.len().max(1) as f64,
            most_mm: lengths().fold(0.0, f64::max),
            least_area_ratio: change.least_area_ratio(),
        }
    }
}

impl MeshRun<'_> {
    /// Writes all results into `folder` and returns what the report says. `images`: the fixed and the moving one.
    ///
    /// # Errors
    /// [`Error::File`] where a file cannot be written, [`Error::Option`] for pictures too large.
    pub fn write(&self, [fixed, moving]: [&Volume; 2], found: &Found, folder: &OutputFolder) -> Result<MeshReport> {
        let writing = Instant::now();
        transform::write_linear(&folder.path(TRANSFORM), None, &found.start.transform, &Grids::default())?;
        io::mesh::write(&folder.path(MESH), &found.after)?;
        io::mesh::write_vtk(&folder.path(VTK), &found.after)?;
        let grid = &fixed.geometry;
        let map = found.after.map();
        io::field::write(&folder.path(FIELD), &map.field(grid))?;
        let how = Resampling { interpolator: Interpolator::Linear, outside: 0.0 };
        let image = resample_through(moving, grid, |point| map.transform_point3(point), &how)?.volume;
        interrupt::proceed()?;
        io::write(&folder.path(moved(self.moving)), &image)?;
        interrupt::proceed()?;
        let report = self.report(found, writing.elapsed().as_secs_f64());

        let path = folder.path(REPORT);
        std::fs::write(&path, text_of(&report, &path)?).map_err(|e| Error::file(&path, e.to_string()))?;
        let path = folder.path(PAGE);
        let page = html::mesh::page(&report, [fixed, moving, &image], found);
        let page = page.map_err(|e| Error::file(&path, e))?;
        std::fs::write(&path, page).map_err(|e| Error::file(&path, e.to_string()))?;
        Ok(report)
    }

    fn report(&self, found: &Found, write: f64) -> MeshReport {
        let text = |path: &Path| path.display().to_string();
        let warnings = super::warnings(&found.doubts);
        MeshReport {
            command: super::command(),
            version: env!("CARGO_PKG_VERSION"),
            fixed: text(self.fixed),
            moving: text(self.moving),
            backend: found.backend,
            device: found.device.clone(),
            start: self.start.map_or_else(|| found.start.from.to_owned(), text),
            transform: Motion::from(&found.start.transform),
            mesh: Shape::new(found),
            levels: found.levels.clone(),
            seconds: MeshSeconds {
                total: self.started.elapsed().as_secs_f64(),
                read: self.read,
                align: found.start.seconds,
                mesh: found.seconds,
                write,
            },
            trust: if warnings.iter().any(|doubt| doubt.grave) { "failed" } else { "passed" },
            warnings,
        }
    }
}
