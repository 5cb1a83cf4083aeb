//! What `mireg deform` leaves behind.

use std::path::Path;
use std::time::Instant;

use serde::Serialize;

use crate::interrupt;

use super::{PAGE, REPORT, Warning, html, moved, text_of};
use mireg::deform::{self, Consistency, Deformation, Force, Options};
use mireg::io::transform::{self, Grids, Motion};
use mireg::io::{self, OutputFolder};
use mireg::transform::{Field, Linear};
use mireg::{Error, Result, Volume};
use rayon::prelude::*;

/// File names in the output folder, beside those of every registration.
pub const DISPLACEMENTS: &str = "field.nii.gz";
pub const INVERSE: &str = "inverse.nii.gz";
pub const JACOBIAN: &str = "jacobian.nii.gz";
pub const START: &str = "start.tfm";

/// What a run knows beyond the deformation itself.
pub struct DeformRun<'a> {
    /// When the process started.
    pub started: Instant,
    pub fixed: &'a Path,
    pub moving: &'a Path,
    /// Seconds that reading both took, and opening the device.
    pub read: f64,
    pub open: f64,
    pub options: &'a Options,
    /// The file with the transform that the flow started from, if there is one.
    pub start: Option<&'a Path>,
}

/// The content of report.json. Lengths in mm.
#[derive(Debug, Serialize)]
pub struct DeformReport {
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
    /// What pulled.
    pub force: Force,
    pub bins: u32,
    /// What the start is: a registration, the headers, or the file that was given.
    pub start: String,
    /// Where the flow started.
    pub transform: Motion,
    /// What the force climbs, see [`Deformation::values`].
    pub values: Values,
    /// How far voxels of the fixed image end from where the start puts them.
    pub displacement: Displacement,
    /// Smallest and largest determinant of the field's Jacobian, the start included.
    pub jacobian_range: [f64; 2],
    /// How far the way there and back ends from where it began.
    pub inverse_consistency: Consistency,
    /// Coarse to fine.
    pub levels: Vec<Level>,
    pub seconds: Seconds,
    /// `passed`, or `failed` for a result that should not be used.
    pub trust: &'static str,
    /// What speaks against the result; empty when nothing does.
    pub warnings: Vec<Warning>,
}

/// At the finest level.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Values {
    pub before: f64,
    pub after: f64,
}

/// Lengths over all voxels of the fixed image.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Displacement {
    pub mean_mm: f64,
    /// 95 of 100 voxels go this far at most.
    pub percentile_95_mm: f64,
    pub largest_mm: f64,
}

/// A level of the flow.
#[derive(Debug, Serialize)]
pub struct Level {
    pub iterations: usize,
    #[serde(flatten)]
    pub found: deform::Level,
}

/// Seconds spent.
#[derive(Debug, Serialize)]
pub struct Seconds {
    /// From the start of the process to the writing of the report.
    pub total: f64,
    pub read: f64,
    /// Finding the linear start.
    pub linear: f64,
    /// Opening the device.
    pub open: f64,
    /// Those of the deformation.
    #[serde(flatten)]
    pub parts: deform::Seconds,
    /// Fields, Jacobian and moved image.
    pub write: f64,
}

impl Seconds {
    /// With their names.
    pub fn named(&self) -> [(&'static str, f64); 8] {
        [
            ("reading", self.read),
            ("linear start", self.linear),
            ("opening the device", self.open),
            ("pyramid", self.parts.pyramid),
            ("flow", self.parts.flow),
            ("inverse, Jacobian, moved image", self.parts.finish),
            ("writing", self.write),
            ("in all", self.total),
        ]
    }
}

impl Displacement {
    /// How far `field` ends from where `start` puts its voxels.
    pub fn new(field: &Field, start: &Linear) -> Self {
        let begin = Field::of(&field.geometry, |point| start.to_affine().transform_point3(point));
        let apart = |(to, from): (&[f32; 3], &[f32; 3])| {
            let axis = |n: usize| f64::from(to[n]) - f64::from(from[n]);
            (axis(0) * axis(0) + axis(1) * axis(1) + axis(2) * axis(2)).sqrt()
        };
        let mut lengths: Vec<f64> = field.vectors.par_iter().zip(&begin.vectors).map(apart).collect();
        // In voxel order, so that it has the same bits for any number of threads.
        let mean_mm = lengths.iter().sum::<f64>() / lengths.len().max(1) as f64;
        let rank = lengths.len().saturating_sub(1) * 95 / 100;
        let percentile_95_mm = *lengths.select_nth_unstable_by(rank, f64::total_cmp).1;
        Self { mean_mm, percentile_95_mm, largest_mm: lengths[rank..].iter().copied().fold(0.0, f64::max) }
    }
}

impl DeformRun<'_> {
    /// Writes all results into `folder` and returns what the report says. `images`: the fixed and the moving one.
    ///
    /// # Errors
    /// [`Error::File`] where a file cannot be written.
    pub fn write(&self, images: [&Volume; 2], found: &Deformation, folder: &OutputFolder) -> Result<DeformReport> {
        let writing = Instant::now();
        transform::write_linear(&folder.path(START), None, &found.start.transform, &Grids::default())?;
        for (name, field) in [(DISPLACEMENTS, &found.field), (INVERSE, &found.inverse)] {
            io::field::write(&folder.path(name), field)?;
            interrupt::proceed()?;
        }
        io::write(&folder.path(JACOBIAN), &found.jacobian)?;
        interrupt::proceed()?;
        io::write(&folder.path(moved(self.moving)), &found.moved)?;
        interrupt::proceed()?;
        let report = self.report(found, writing.elapsed().as_secs_f64());

        let path = folder.path(REPORT);
        std::fs::write(&path, text_of(&report, &path)?).map_err(|e| Error::file(&path, e.to_string()))?;
        let path = folder.path(PAGE);
        let page = html::deform::page(&report, images, self.options, found);
        let page = page.map_err(|e| Error::file(&path, e))?;
        std::fs::write(&path, page).map_err(|e| Error::file(&path, e.to_string()))?;
        Ok(report)
    }

    pub(super) fn report(&self, found: &Deformation, write: f64) -> DeformReport {
        let text = |path: &Path| path.display().to_string();
        let warnings = super::warnings(&found.doubts);
        let [before, after] = found.values;
        let level = |found: &deform::Level| Level { iterations: found.values.len().max(1) - 1, found: found.clone() };
        DeformReport {
            command: super::command(),
            version: env!("CARGO_PKG_VERSION"),
            fixed: text(self.fixed),
            moving: text(self.moving),
            backend: found.backend,
            device: found.device.clone(),
            force: self.options.force,
            bins: self.options.bins,
            start: self.start.map_or_else(|| found.start.from.to_owned(), text),
            transform: Motion::from(&found.start.transform),
            values: Values { before, after },
            displacement: Displacement::new(&found.field, &found.start.transform),
            jacobian_range: found.jacobian_range,
            inverse_consistency: found.consistency,
            levels: found.levels.iter().map(level).collect(),
            seconds: Seconds {
                total: self.started.elapsed().as_secs_f64(),
                read: self.read,
                linear: found.start.seconds,
                open: self.open,
                parts: found.seconds,
                write,
            },
            trust: if warnings.iter().any(|doubt| doubt.grave) { "failed" } else { "passed" },
            warnings,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{DAffine3, DVec3};
    use mireg::Geometry;
    use mireg::transform::{Dimension, Kind};

    #[test]
    fn a_displacement_is_what_the_flow_adds_to_the_start() {
        let grid = Geometry::axis_aligned([101, 1, 1], DVec3::splat(2.0), DVec3::ZERO);
        let start = DAffine3::from_rotation_z(0.2) * DAffine3::from_translation(DVec3::new(90.0, -7.0, 3.0));
        // By 0, 0.03, 0.06 ... 3 mm.
        let field = Field::of(&grid, |p| start.transform_point3(p) + p.x / 200.0 * DVec3::new(1.0, -2.0, 2.0));
        let start = Linear::new(Kind::Rigid, Dimension::Three, DVec3::ZERO, &start);
        let found = Displacement::new(&field, &start);
        let expected = [(found.mean_mm, 1.5), (found.percentile_95_mm, 2.85), (found.largest_mm, 3.0)];
        assert!(expected.iter().all(|(found, mm)| (found - mm).abs() < 1e-4), "{found:?}");
    }
}
