//! The report of `mireg register`.

mod joint;
mod page;
#[cfg(test)]
mod tests;

use std::path::Path;

use image::ImageResult;
use serde::Serialize;

use super::outputs::Output;
use super::{Kind, Report, Spent, TRANSFORM, words};
use mireg::image::Intensities;
use mireg::io::transform::{self, Grids, Motion};
use mireg::metric::{Evaluation, Histogram, Metric};
use mireg::optimizer::OptimizerKind;
use mireg::registration::{Elsewhere, Options, Place, Registration, RegistrationLevel, RegistrationSeconds, Started};
use mireg::{Doubt, Result, Volume};

/// A registration, and its options.
pub struct Registered<'a> {
    pub found: &'a Registration,
    pub options: &'a Options,
}

/// What report.json says about a registration.
#[derive(Debug, Serialize)]
pub struct Facts {
    pub bins: u32,
    /// The interpolator of the moving image.
    pub interpolation: &'static str,
    /// The method that counted the joint histograms.
    pub histogram: &'static str,
    /// What was maximised.
    pub metric: Metric,
    pub optimizer: OptimizerKind,
    pub start: Value,
    #[serde(rename = "final")]
    pub end: Value,
    /// Fraction of the fixed image's voxels that lie inside the moving image at the end, 0 to 1.
    pub overlap_fraction: f64,
    /// Mutual information of the images where they were placed, as a multiple of that at the best place around.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// Mutual information of the images where they were placed, as a multiple of that at the best other place of the
    /// smaller volume in the larger one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elsewhere: Option<Elsewhere>,
    /// The initialisation from which the result was found.
    pub started: Started,
    /// Coarse to fine.
    pub levels: Vec<RegistrationLevel>,
    pub transform: Motion,
    pub seconds: Seconds,
}

/// The metrics of both images at full resolution, in one position.
#[derive(Debug, Serialize)]
pub struct Value {
    /// The value of the metric that was maximised; for a metric with a gradient, the value on the finest level.
    pub value: f64,
    #[serde(flatten)]
    pub evaluation: Evaluation,
}

/// Seconds spent.
#[derive(Debug, Serialize)]
pub struct Seconds {
    /// From the start of the process to the writing of the report.
    pub total: f64,
    /// From volumes in memory to the transform: upload, pyramid and optimise.
    pub register: f64,
    pub read: f64,
    /// Opening the device.
    pub open: f64,
    /// The stages of the registration.
    #[serde(flatten)]
    pub parts: RegistrationSeconds,
    /// Transform, moved image and the pictures of the page.
    pub write: f64,
}

impl Kind for Registered<'_> {
    type Facts = Facts;
    type Pictures = page::Pictures;
    const FILES: &'static [(Output, &'static str)] = &[(Output::Transform, TRANSFORM)];

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

    fn write(&self, _: &str, path: &Path) -> Result<()> {
        transform::write_linear(path, None, &self.found.transform, &Grids::default())
    }

    fn facts(&self, spent: &Spent) -> Facts {
        let Self { found, options } = self;
        let Histogram { bins, interpolator, .. } = options.metric.histogram();
        let [before, after] = found.values;
        let parts = &found.seconds;
        Facts {
            bins,
            interpolation: interpolator.name(),
            histogram: found.histogram,
            metric: options.metric,
            optimizer: options.optimizer(),
            start: Value { value: before, evaluation: found.start },
            end: Value { value: after, evaluation: found.end },
            overlap_fraction: found.end.overlap_fraction(),
            place: found.place,
            elsewhere: found.elsewhere,
            started: found.started.clone(),
            levels: found.levels.clone(),
            transform: Motion::from(&found.transform),
            seconds: Seconds {
                total: spent.total,
                register: parts.upload + parts.pyramid + parts.optimise,
                read: spent.read,
                open: spent.open,
                parts: parts.clone(),
                write: spent.write,
            },
        }
    }

    fn summary(&self, facts: &Facts) -> Vec<(&'static str, String)> {
        let found = self.found;
        let [before, after] = found.values;
        let metric = format!("{} {before:.5} -> {after:.5}", facts.metric.name());
        let other = format!("MI {:.4} -> {:.4} nats", found.start.mi, found.end.mi);
        let seconds = &facts.seconds;
        vec![
            ("transform", words::motion(&found.transform)),
            ("metric", format!("{metric}, {other}, from {}", found.started.from)),
            ("overlap", format!("{:.1} % of the fixed image", 100.0 * facts.overlap_fraction)),
            ("histogram", found.histogram.to_owned()),
            ("time", format!("{:.2} s, of which registration {:.2} s", seconds.total, seconds.register)),
        ]
    }

    fn draw(&self, images: [&Volume; 2]) -> ImageResult<page::Pictures> {
        page::Pictures::new(images, self.found)
    }

    fn page(&self, report: &Report<Facts>, images: [&Volume; 2], pictures: &page::Pictures) -> askama::Result<String> {
        page::page(self, report, images, pictures)
    }
}
