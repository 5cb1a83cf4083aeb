//! `mireg metric`.

use glam::DAffine3;
use mireg::Result;
use mireg::io::transform::{self, Grids};
use mireg::metric::{Evaluation, MetricKind};

use super::arguments::Metric;
use super::summary::line;

/// Reads two images, compares them in one position and prints the values.
pub fn run(arguments: &Metric) -> Result<()> {
    let (fixed, moving) = super::read(&arguments.fixed, &arguments.moving)?;
    let transform = match &arguments.transform {
        Some(path) => transform::read(path, None, &Grids::of(&fixed.geometry, &moving.geometry))?.to_affine(),
        None => DAffine3::IDENTITY,
    };
    let options = arguments.histogram.options(MetricKind::Nmi, &arguments.compute)?;
    let value = mireg::metric::evaluate(&fixed, &moving, &transform, &options)?;
    super::print(&if arguments.json { json(&value, options.bins) } else { text(&value) });
    Ok(())
}

fn text(value: &Evaluation) -> String {
    let overlap = format!("{:.2} %, {} of {} voxels", 100.0 * value.overlap_fraction(), value.overlap, value.samples);
    let lines = [
        ("NMI", format!("{:.9}", value.nmi)),
        ("MI", format!("{:.9} nats", value.mi)),
        ("ECC", format!("{:.9}", value.ecc)),
        ("eta2(M|F)", format!("{:.9}", value.correlation_ratio_moving_given_fixed)),
        ("eta2(F|M)", format!("{:.9}", value.correlation_ratio_fixed_given_moving)),
        ("H(F)", format!("{:.9} nats", value.fixed_entropy)),
        ("H(M)", format!("{:.9} nats", value.moving_entropy)),
        ("H(F,M)", format!("{:.9} nats", value.joint_entropy)),
        ("overlap", overlap),
    ];
    lines.iter().map(|(label, text)| line(label, text)).collect()
}

fn json(value: &Evaluation, bins: u32) -> String {
    let mut object = serde_json::json!(value);
    object["overlap_fraction"] = value.overlap_fraction().into();
    object["bins"] = bins.into();
    format!("{object:#}\n")
}
