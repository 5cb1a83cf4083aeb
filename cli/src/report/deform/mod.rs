//! The report of `mireg deform`.

mod displacement;
mod grid;
mod jacobian;
mod page;

use std::path::Path;

use displacement::Displacement;
use image::ImageResult;
use serde::Serialize;

use super::outputs::Output;
use super::{Kind, Report, Spent, words};
use mireg::deform::{self, Compared, Consistency, Deformation, LandmarkErrors, Options};
use mireg::image::Intensities;
use mireg::io;
use mireg::io::transform::{self, Grids, Motion};
use mireg::labels::Regions;
use mireg::registration::{Place, Unmatched};
use mireg::{Doubt, Result, Volume};

/// File names in the output folder, in addition to those of every registration.
const DISPLACEMENTS: &str = "field.nii.gz";
const INVERSE: &str = "inverse.nii.gz";
const JACOBIAN: &str = "jacobian.nii.gz";
const START: &str = "start.tfm";
/// Files that are written only if an option asks for them.
const WARP: &str = "warp.nii.gz";
const COMPOSITE: &str = "composite.h5";
const LOG_JACOBIANS: [&str; 2] = ["log_jacobian.nii.gz", "log_jacobian_warp.nii.gz"];

/// A deformation, its options and its initial transform.
pub struct Deformed<'a> {
    pub found: &'a Deformation,
    pub options: &'a Options,
    /// The file of the initial transform, if one was given.
    pub start: Option<&'a Path>,
    /// What the deformation does to each label, if there are label maps.
    pub regions: Option<&'a Regions>,
    pub optional_files: OptionalFiles,
}

impl<'a> Deformed<'a> {
    /// Creates one without optional files.
    pub fn new(
        found: &'a Deformation,
        options: &'a Options,
        start: Option<&'a Path>,
        regions: Option<&'a Regions>,
    ) -> Self {
        Self { found, options, start, regions, optional_files: OptionalFiles::default() }
    }
}

/// Which of the optional files are written.
#[derive(Debug, Clone, Copy, Default)]
pub struct OptionalFiles {
    /// The field without the initial transform, and the composite of both.
    pub composite: bool,
    /// The logarithm of the Jacobian determinant, with and without the initial transform.
    pub log_jacobian: bool,
}

impl OptionalFiles {
    pub fn files(self) -> Vec<&'static str> {
        let composite = [WARP, COMPOSITE].into_iter().filter(|_| self.composite);
        composite.chain(LOG_JACOBIANS.into_iter().filter(|_| self.log_jacobian)).collect()
    }
}

/// What report.json says about a deformation.
#[derive(Debug, Serialize)]
pub struct Facts {
    /// The metrics that drive the deformation, as they are typed for `--force`.
    pub force: String,
    /// Number of pairs of images: the fixed and the moving one, and the extra ones.
    pub channels: usize,
    /// What was compared: intensities, local contrasts or both.
    pub compared: Compared,
    /// Whether both images were deformed to a common middle.
    pub symmetric: bool,
    pub bins: u32,
    /// Where the initial transform is from: a registration, the headers, or the file that was given.
    pub start: String,
    /// The initial transform.
    pub transform: Motion,
    /// The metric before and after the deformation, see [`Deformation::values`].
    pub values: Values,
    /// Displacements of the fixed image's voxels, without those by the initial transform.
    pub displacement: Displacement,
    /// Smallest and largest Jacobian determinant of the field, including the initial transform.
    pub jacobian_range: [f64; 2],
    /// Distances between voxels and where the field, followed by its inverse, takes them.
    pub inverse_consistency: Consistency,
    /// Fraction of the smaller image that lies inside the other one through the field, 0 to 1.
    pub overlap: f64,
    /// Mutual information of the images through the field, as a multiple of that at the best place around; null if too
    /// little of the images is foreground.
    pub place: Option<Place>,
    /// Mutual information of the local contrasts after the initial transform, nats beyond chance. That through the
    /// field is `place.information`.
    pub start_information: Option<f64>,
    /// By how many nats per voxel the field is less likely than its initial transform alone: the variance of the
    /// logarithm of its Jacobian determinant over the foreground of the fixed image, divided by 2 (ln 2)^2.
    pub bending: Option<f64>,
    /// The part of the volumes whose local contrasts have no mutual information through the field, while those of the
    /// other parts do; null for pictures.
    pub unmatched: Option<Unmatched>,
    /// As `place`, but through the initial transform or, if the images do not agree there, through the affine map
    /// nearest to the field; null if the initial transform is that of a registration.
    pub linear_place: Option<Place>,
    /// Distances of the landmarks from their true positions, if there are landmarks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub landmarks: Option<LandmarkErrors>,
    /// What the deformation does to each label, if there are label maps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub regions: Option<Regions>,
    /// Coarse to fine.
    pub levels: Vec<Level>,
    pub seconds: Seconds,
}

/// The metric on the finest level.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Values {
    pub before: f64,
    pub after: f64,
}

/// A level of the deformation.
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
    /// Finding the initial linear transform.
    pub linear: f64,
    /// Opening the device.
    pub open: f64,
    /// The stages of the deformation.
    #[serde(flatten)]
    pub parts: deform::Seconds,
    /// Fields, Jacobian, moved image and the pictures of the page.
    pub write: f64,
}

impl Seconds {
    /// Returns the seconds with their names.
    pub fn named(&self) -> [(&'static str, f64); 8] {
        [
            ("reading", self.read),
            ("linear start", self.linear),
            ("opening the device", self.open),
            ("pyramid", self.parts.pyramid),
            ("deformation", self.parts.flow),
            ("inverse, Jacobian, moved image", self.parts.finish),
            ("writing", self.write),
            ("total", self.total),
        ]
    }
}

impl Kind for Deformed<'_> {
    type Facts = Facts;
    type Pictures = page::Pictures;
    const FILES: &'static [(Output, &'static str)] = &[
        (Output::Transform, DISPLACEMENTS),
        (Output::Transform, START),
        (Output::Inverse, INVERSE),
        (Output::Jacobian, JACOBIAN),
    ];

    fn more_files(&self) -> Vec<&'static str> {
        self.optional_files.files()
    }

    fn device(&self) -> (&'static str, &str) {
        (self.found.backend, &self.found.device)
    }

    fn moved(&self) -> Option<&Volume> {
        self.found.moved.as_ref()
    }

    fn intensities(&self) -> [Intensities; 2] {
        self.found.intensities
    }

    fn doubts(&self) -> &[Doubt] {
        &self.found.doubts
    }

    fn write(&self, name: &str, path: &Path) -> Result<()> {
        let found = self.found;
        let [log, log_warp] = LOG_JACOBIANS;
        match name {
            DISPLACEMENTS => io::field::write(path, &found.field),
            INVERSE => io::field::write(path, &found.inverse),
            JACOBIAN => io::write(path, &found.jacobian),
            COMPOSITE => transform::write(path, None, &found.composite(), &Grids::default()),
            WARP => transform::write(path, None, found.composite().parts()[0], &Grids::default()),
            _ if name == log => io::write(path, &found.log_jacobians()[0]),
            _ if name == log_warp => io::write(path, &found.log_jacobians()[1]),
            _ => transform::write_linear(path, None, &found.start.transform, &Grids::default()),
        }
    }

    fn facts(&self, spent: &Spent) -> Facts {
        let Self { found, options, start, regions, .. } = *self;
        let initial = &found.start;
        let [before, after] = found.values;
        let level = |found: &deform::Level| Level { iterations: found.values.len().max(1) - 1, found: found.clone() };
        Facts {
            force: options.force.to_string(),
            channels: 1 + options.extra.len(),
            compared: found.compared,
            symmetric: options.symmetric,
            bins: options.bins,
            start: start.map_or_else(|| initial.from.to_owned(), |path| path.display().to_string()),
            transform: Motion::from(&initial.transform),
            values: Values { before, after },
            displacement: Displacement::new(&found.field, &initial.transform),
            jacobian_range: found.jacobian_range,
            inverse_consistency: found.consistency,
            overlap: found.overlap,
            place: found.place,
            start_information: found.start_information,
            bending: found.bending,
            unmatched: found.unmatched,
            linear_place: found.linear_place,
            landmarks: found.landmarks,
            regions: regions.cloned(),
            levels: found.levels.iter().map(level).collect(),
            seconds: Seconds {
                total: spent.total,
                read: spent.read,
                linear: initial.seconds,
                open: spent.open,
                parts: found.seconds,
                write: spent.write,
            },
        }
    }

    fn summary(&self, facts: &Facts) -> Vec<(&'static str, String)> {
        let Facts { displacement, inverse_consistency: inverse, values, seconds, .. } = facts;
        let [low, high] = facts.jacobian_range;
        let lengths = format!(
            "mean {:.2} mm after the initial transform, 95th percentile {:.2} mm, maximum {:.2} mm",
            displacement.mean_mm, displacement.percentile_95_mm, displacement.largest_mm
        );
        let metric = words::metric_of(self.options, self.found.compared);
        let error =
            format!("inverse consistency error: mean {:.3} mm, maximum {:.2} mm", inverse.mean_mm, inverse.worst_mm);
        let parts = format!("linear registration {:.2} s, deformation {:.2} s", seconds.linear, seconds.parts.register);
        let dice = facts.regions.as_ref().and_then(|regions| Some((regions.mean_dice?, regions.labels.len())));
        let dice = dice.map(|(dice, labels)| {
            ("Dice", format!("mean {:.4} -> {:.4} over {labels} labels", dice.before, dice.after))
        });
        let landmarks = facts.landmarks.map(|LandmarkErrors { points, before, after, .. }| {
            ("landmarks", format!("mean {:.2} -> {:.2} mm over {points} points", before.mean_mm, after.mean_mm))
        });
        let lines = [
            ("initial", words::initial_transform(&facts.start, &self.found.start.transform)),
            ("displacement", lengths),
            ("metric", format!("{metric} {:.5} -> {:.5} at the finest level", values.before, values.after)),
            ("Jacobian", format!("determinant {low:.3} to {high:.3}; {error}")),
            ("time", format!("{:.2} s, of which {parts}", seconds.total)),
        ];
        lines.into_iter().chain(landmarks).chain(dice).collect()
    }

    fn draw(&self, images: [&Volume; 2]) -> ImageResult<page::Pictures> {
        page::Pictures::new(images, self.found)
    }

    fn page(&self, report: &Report<Facts>, images: [&Volume; 2], pictures: &page::Pictures) -> askama::Result<String> {
        page::page(self, report, images, pictures)
    }
}
