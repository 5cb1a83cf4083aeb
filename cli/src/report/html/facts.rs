//! Describes numbers and images in words, for the tables of a page.

use super::intensities::Histogram;
use crate::report::words;
use glam::DVec3;
use mireg::image::Intensities;
use mireg::optimizer::Stopped;
use mireg::{Geometry, Volume};

/// A label and its text.
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
    pub histogram: Histogram,
    /// The voxels outside the intensity range, in words.
    pub left_out: String,
}

impl<'a> ImageFacts<'a> {
    pub fn new(role: &'static str, file: &'a str, volume: &Volume, intensities: &Intensities) -> Self {
        let geometry = &volume.geometry;
        // The third axis of a 2-D image is not shown.
        let axes = geometry.dimensions();
        let by = |values: Vec<String>| values[..axes].join(BY);
        let (low, high) = intensities.full;
        Self {
            role,
            file,
            size: by(geometry.size.iter().map(usize::to_string).collect()),
            spacing: by(geometry.spacing.to_array().iter().map(|&mm| rounded(mm)).collect()),
            orientation: orientation(geometry, axes),
            pixel: format!("{:?}", volume.pixel).to_lowercase(),
            low,
            high,
            histogram: Histogram::new(volume, intensities),
            left_out: words::left_out(intensities),
        }
    }

    /// Returns the file name without its folder.
    pub fn name(&self) -> &'a str {
        self.file.rsplit(['/', '\\']).next().unwrap_or(self.file)
    }
}

/// The separator of the numbers of a size.
const BY: &str = " × ";

/// Returns the grid spacing of a level, mm.
pub fn spacing(mm: &[f64; 3]) -> String {
    mm.map(rounded).join(BY)
}

/// Returns the number of voxels of a level along each axis.
pub fn size(voxels: &[usize; 3]) -> String {
    voxels.map(|n| n.to_string()).join(BY)
}

/// Returns why a level ended.
pub fn stopped(stopped: &Stopped) -> &'static str {
    match stopped {
        Stopped::Converged => "converged",
        Stopped::Exhausted => "out of evaluations",
    }
}

/// Returns a number with at most three decimals.
pub fn rounded(value: f64) -> String {
    ((value * 1e3).round() / 1e3).to_string()
}

/// Describes the directions of the voxel axes, and the largest angle by which they are oblique.
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

/// Returns a command line that a shell would split into `parts`.
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
