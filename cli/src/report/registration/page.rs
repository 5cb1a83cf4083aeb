//! report.html of a registration.

use super::{Facts, Registered, joint};
use crate::report::html::facts::{self, Fact};
use crate::report::html::plot::{self, Curve, Plot};
use crate::report::html::strip::{self, Window};
use crate::report::html::viewer::{self, Plane};
use crate::report::html::{Common, intensities, verdict};
use crate::report::{Report, words};
use askama::Template;
use glam::DAffine3;
use image::ImageResult;
use mireg::Volume;
use mireg::metric::{Evaluation, Metric, Viola};
use mireg::registration::{Init, Options, Registration, RegistrationLevel, Rise, Sampling};

/// The pictures of the page. Most of the time that a page takes is spent on them.
pub struct Pictures {
    planes: Vec<Plane>,
    /// The joint histograms before and after the registration.
    joints: [String; 2],
}

impl Pictures {
    /// Draws the fixed and the moving image of a registration.
    ///
    /// # Errors
    /// Where a picture cannot be encoded.
    pub fn new(images: [&Volume; 2], found: &Registration) -> ImageResult<Self> {
        let [fixed, moving] = images.map(|image| (image, Window::new(image)));
        let none = DAffine3::IDENTITY;
        let planes = viewer::planes([(fixed, none), (moving, none), (moving, found.transform.to_affine())])?;
        let [before, after] = found.histograms.each_ref().map(|counts| {
            let bins = counts.len().isqrt();
            strip::exact_data_uri(&joint::draw(counts, bins))
        });
        Ok(Self { planes, joints: [before?, after?] })
    }
}

/// What the joint histograms count, in the singular and the plural.
const INTENSITIES: [&str; 2] = ["intensity", "intensities"];
const CONTRASTS: [&str; 2] = ["contrast", "local contrast, standard deviations of the neighbourhood"];

/// What page.html shows.
#[derive(Template)]
#[template(path = "registration/page.html")]
struct Page<'a> {
    common: Common<'a>,
    facts: &'a Facts,
    motion: String,
    parts: Vec<Fact>,
    joints: &'a [String; 2],
    /// What the joint histograms count, in the singular and the plural.
    counted: [&'static str; 2],
    /// The ends of the bins in the fixed and the moving image.
    binned: [mireg::image::Range; 2],
    plot: Plot,
    metric: Vec<[String; 3]>,
}

/// Returns the content of report.html.
///
/// # Errors
/// Where the template fails.
pub fn page(
    of: &Registered,
    report: &Report<Facts>,
    images: [&Volume; 2],
    pictures: &Pictures,
) -> askama::Result<String> {
    let Registered { found, options } = of;
    let facts = &report.facts;
    let page = Page {
        common: Common::new(report, images, &pictures.planes, chosen(options, facts), seconds(facts)),
        facts,
        motion: words::motion(&found.transform),
        parts: words::parts(&found.transform),
        joints: &pictures.joints,
        counted: if found.started.from == "contrast" { CONTRASTS } else { INTENSITIES },
        binned: found.binned,
        plot: Plot::new(
            facts.levels.iter().map(|level| curve(level, images[0].geometry.is_flat())).collect(),
            "evaluations",
        ),
        metric: metric(&found.start, &found.end),
    };
    page.render()
}

fn curve(level: &RegistrationLevel, flat: bool) -> Curve {
    let point = |rise: &Rise| (rise.evaluations, rise.value);
    Curve {
        title: plot::grid(&level.spacing_mm, flat),
        steps: level.evaluations,
        points: level.trace.iter().map(point).collect(),
    }
}

/// Returns the options, with the choices that `auto` made.
fn chosen(options: &Options, facts: &Facts) -> Vec<Fact> {
    let masks = [("fixed", &options.fixed_mask), ("moving", &options.moving_mask)];
    let masks: Vec<_> = masks.iter().filter(|(_, mask)| mask.is_some()).map(|(name, _)| *name).collect();
    let samples = match &options.metric {
        Metric::Viola(viola) => scattered(viola),
        _ => sampling(options.sampling),
    };
    vec![
        ("transform", options.dof.name().to_owned()),
        ("metric", facts.metric.name().to_owned()),
        ("bins", facts.bins.to_string()),
        ("interpolation", facts.interpolation.to_owned()),
        ("optimizer", facts.optimizer.to_string()),
        ("initialisation", init(&options.init).to_owned()),
        ("sampling", samples),
        ("masks", if masks.is_empty() { "none".to_owned() } else { masks.join(" and ") }),
        ("histogram", facts.histogram.to_owned()),
    ]
}

fn init(init: &Init) -> &'static str {
    match init {
        Init::Auto => "auto",
        Init::Header => "header",
        Init::Geometry => "geometry",
        Init::Mass => "mass",
        Init::Moments => "moments",
        Init::Search => "search",
        Init::Transform(_) | Init::Among(_) => "a file",
    }
}

fn sampling(sampling: Sampling) -> String {
    match sampling {
        Sampling::Full => "every voxel".to_owned(),
        Sampling::Grid { samples } => format!("a grid of about {samples}"),
        Sampling::Random { samples, seed } => format!("about {samples} at random, seed {seed}"),
    }
}

fn scattered(viola: &Viola) -> String {
    format!("about {} at random, seed {}", viola.samples, viola.seed)
}

/// Returns a row for each metric: its name, and its value before and after the registration.
fn metric(before: &Evaluation, after: &Evaluation) -> Vec<[String; 3]> {
    let row = |name: &str, value: fn(&Evaluation) -> f64| {
        [name.to_owned(), format!("{:.5}", value(before)), format!("{:.5}", value(after))]
    };
    let overlap = |value: &Evaluation| format!("{:.1} %", 100.0 * value.overlap_fraction());
    vec![
        row("NMI", |v| v.nmi),
        row("MI, nats", |v| v.mi),
        row("ECC", |v| v.ecc),
        row("η²(M|F)", |v| v.correlation_ratio_moving_given_fixed),
        row("η²(F|M)", |v| v.correlation_ratio_fixed_given_moving),
        row("H(F), nats", |v| v.fixed_entropy),
        row("H(M), nats", |v| v.moving_entropy),
        row("H(F,M), nats", |v| v.joint_entropy),
        ["overlap".to_owned(), overlap(before), overlap(after)],
    ]
}

/// Returns the seconds of each stage.
fn seconds(Facts { seconds, .. }: &Facts) -> Vec<(&'static str, f64)> {
    vec![
        ("reading", seconds.read),
        ("opening the device", seconds.open),
        ("upload", seconds.parts.upload),
        ("pyramid", seconds.parts.pyramid),
        ("optimisation", seconds.parts.optimise),
        ("comparing and checking", seconds.parts.compare),
        ("resampling", seconds.parts.resample),
        ("writing", seconds.write),
        ("total", seconds.total),
    ]
}
