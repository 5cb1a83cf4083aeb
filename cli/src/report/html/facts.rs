//! Tables of the page.

use crate::report::{DeformReport, Report, Seconds};
use glam::DVec3;
use mireg::deform::{self};
use mireg::metric::{Evaluation, Metric, Viola};
use mireg::optimizer::Stopped;
use mireg::registration::{Init, Options, Sampling};
use mireg::{Geometry, Volume};

/// A label and what is said about it.
pub type Fact = (&'static str, String);

/// An image in words.
pub struct ImageFacts<'a> {
    pub role: &'static str,
    pub file: &'a str,
    pub size: String,
    pub spacing: String,
    pub orientation: String,
    pub pixel: String,
    /// Smallest and largest intensity.
    pub low: f32,
    pub high: f32,
}

impl<'a> ImageFacts<'a> {
    pub fn new(role: &'static str, file: &'a str, volume: &Volume) -> Self {
        let geometry = &volume.geometry;
        // A flat image has no depth to speak of.
        let axes = geometry.dimensions();
        let by = |values: Vec<String>| values[..axes].join(BY);
        let (low, high) = volume.range();
        Self {
            role,
            file,
            size: by(geometry.size.iter().map(usize::to_string).collect()),
            spacing: by(geometry.spacing.to_array().iter().map(|&mm| rounded(mm)).collect()),
            orientation: orientation(geometry, axes),
            pixel: format!("{:?}", volume.pixel).to_lowercase(),
            low,
            high,
        }
    }

    /// The file without its folder.
    pub fn name(&self) -> &'a str {
        self.file.rsplit(['/', '\\']).next().unwrap_or(self.file)
    }
}

/// Between the numbers of a size.
const BY: &str = " × ";

/// The grid of a level, mm.
pub fn spacing(mm: &[f64; 3]) -> String {
    mm.map(rounded).join(BY)
}

/// The voxels of a level.
pub fn size(voxels: &[usize; 3]) -> String {
    voxels.map(|n| n.to_string()).join(BY)
}

/// Why a level ended.
pub fn stopped(stopped: &Stopped) -> &'static str {
    match stopped {
        Stopped::Converged => "converged",
        Stopped::Exhausted => "out of evaluations",
    }
}

/// A number with three decimals at most.
fn rounded(value: f64) -> String {
    ((value * 1e3).round() / 1e3).to_string()
}

/// Where the voxel axes lead, and by how much they are off that.
fn orientation(geometry: &Geometry, axes: usize) -> String {
    let names = [["right", "left"], ["front", "back"], ["feet", "head"]];
    let main = |axis: DVec3| axis.abs().max_position();
    let columns = || (0..axes).map(|n| geometry.direction.col(n));
    let towards = columns().zip(["i", "j", "k"]).map(|(axis, letter)| {
        let name = names[main(axis)][usize::from(axis[main(axis)] > 0.0)];
        format!("{letter} to {name}")
    });
    let towards = towards.collect::<Vec<_>>().join(", ");
    let off = columns().map(|axis| axis[main(axis)].abs().min(1.0).acos().to_degrees()).fold(0.0, f64::max);
    if off < 0.05 { towards } else { format!("{towards}; oblique by {off:.1}°") }
}

/// What was chosen, and what `auto` chose.
pub fn options(options: &Options, report: &Report) -> Vec<Fact> {
    let masks = [("fixed", &options.fixed_mask), ("moving", &options.moving_mask)];
    let masks: Vec<_> = masks.iter().filter(|(_, mask)| mask.is_some()).map(|(name, _)| *name).collect();
    vec![
        ("motion", options.dof.name().to_owned()),
        ("metric", report.metric.name().to_owned()),
        ("bins", report.bins.to_string()),
        ("interpolation", report.interpolation.to_owned()),
        ("optimizer", report.optimizer.to_string()),
        ("start", init(&options.init).to_owned()),
        (
            "sampling",
            match &options.metric {
                Metric::Viola(viola) => scattered(viola),
                _ => sampling(options.sampling),
            },
        ),
        ("masks", if masks.is_empty() { "none".to_owned() } else { masks.join(" and ") }),
        ("histogram", report.histogram.to_owned()),
        ("computed on", format!("{} ({})", report.backend, report.device)),
        ("mireg", report.version.to_owned()),
    ]
}

/// The same of a deformation.
pub fn deform(options: &deform::Options, report: &DeformReport) -> Vec<Fact> {
    let mm = |mm: Option<f64>, usual: &str| mm.map_or(usual.to_owned(), |mm| format!("{} mm", rounded(mm)));
    vec![
        ("force", report.force.name().to_owned()),
        ("bins", report.bins.to_string()),
        ("steps are smoothed by", mm(options.smooth_mm, "6 times the finest grid")),
        ("the field is smoothed by", mm(options.smooth_field_mm, "a quarter of that")),
        ("computed on", format!("{} ({})", report.backend, report.device)),
        ("mireg", report.version.to_owned()),
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
        Init::Transform(_) => "a file",
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
    format!("about {} scattered, seed {}", viola.samples, viola.seed)
}

/// Every value before and after.
pub fn metric(before: &Evaluation, after: &Evaluation) -> Vec<[String; 3]> {
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

/// Seconds by part.
pub fn seconds(seconds: &Seconds) -> Vec<(&'static str, f64)> {
    vec![
        ("reading", seconds.read),
        ("opening the device", seconds.open),
        ("upload", seconds.parts.upload),
        ("pyramid", seconds.parts.pyramid),
        ("optimising", seconds.parts.optimise),
        ("comparing before and after", seconds.parts.compare),
        ("resampling", seconds.parts.resample),
        ("writing", seconds.write),
        ("in all", seconds.total),
    ]
}

/// A command line that a shell splits into `parts` again.
pub fn command(parts: &[String]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    let quote = |part: &String| match !part.is_empty() && part.chars().all(plain) {
        true => part.clone(),
        false => format!("'{}'", part.replace('\'', r"'\''")),
    };
    parts.iter().map(quote).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DMat3;

    #[test]
    fn a_shell_would_split_the_command_into_the_same_parts() {
        let parts = ["mireg", "a b.nii", "it's", "", "$(rm)"].map(String::from);
        assert_eq!(command(&parts), r"mireg 'a b.nii' 'it'\''s' '' '$(rm)'");
    }

    #[test]
    fn voxel_axes_are_told_by_where_they_lead() {
        let geometry = |direction| Geometry { direction, ..Geometry::axis_aligned([2; 3], DVec3::ONE, DVec3::ZERO) };
        let sagittal = geometry(DMat3::from_cols(DVec3::Y, -DVec3::Z, -DVec3::X));
        assert_eq!(orientation(&sagittal, 3), "i to back, j to feet, k to right");
        let turned = geometry(DMat3::from_rotation_z(0.2));
        assert_eq!(orientation(&turned, 3), "i to left, j to back, k to head; oblique by 11.5°");
        assert_eq!(orientation(&geometry(DMat3::IDENTITY), 2), "i to left, j to back");
    }
}
