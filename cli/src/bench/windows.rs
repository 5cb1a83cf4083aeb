//! Mattes windows: seconds of a value, and of a value with its derivative.

use gpu::math::mattes::LEAST_BINS;
use gpu::params::Affine;
use mireg::Result;
use mireg::backend::{Backend, MattesImages, Windows};
use serde::Serialize;

use super::choices::Data;
use super::measure::{median, repeat};
use super::subject::{Subject, range};
use super::table::{dimensions, groups, line};

/// One kind of windows on one pair of images.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Mattes {
    pub data: Data,
    /// Whether both images have cubic windows, or the moving one alone.
    pub both: bool,
    pub bins: u32,
    /// Voxels of the fixed image.
    pub fixed_size: [usize; 3],
    /// By the wall clock, the medians: a value, and one with its derivative.
    pub seconds: [f64; 2],
    /// The same by the device's clock, where it has one: the means.
    pub device_seconds: Option<[f64; 2]>,
}

impl Mattes {
    /// Measures for about `budget` seconds; `None` where there are too few bins.
    pub fn measure(
        backend: &dyn Backend,
        subject: &Subject,
        (data, bins, both): (Data, u32, bool),
        map: &Affine,
        budget: f64,
    ) -> Result<Option<Self>> {
        if bins < LEAST_BINS {
            return Ok(None);
        }
        let windows = if both { Windows::Both } else { Windows::Moving };
        let [fixed, moving] = &subject.volumes;
        let images = MattesImages::new((fixed, range(fixed)), (moving, range(moving)), bins, windows);
        let mut evaluator = backend.load_mattes(images.pair())?;
        let value = median(&repeat(0.25 * budget, 1, || evaluator.values(&[*map]))?);
        let slope = median(&repeat(0.25 * budget, 1, || evaluator.slope(map))?);
        let times = (0.25 * budget / slope).clamp(1.0, 1000.0) as u32;
        let device_seconds = evaluator.seconds(map, times)?;
        Ok(Some(Self { data, both, bins, fixed_size: images.fixed.size, seconds: [value, slope], device_seconds }))
    }
}

/// A block an image and kind of windows, a column a number of bins.
pub fn text(rows: &[Mattes]) -> String {
    groups(rows.iter(), |row| (row.data.name(), row.both, row.fixed_size)).iter().map(|rows| block(rows)).collect()
}

fn block(rows: &[&Mattes]) -> String {
    let first = rows[0];
    let sides = if first.both { "both sides" } else { "the moving side" };
    let size = dimensions(first.fixed_size);
    let numbers = |name, read: &dyn Fn(&Mattes) -> Option<f64>| {
        let known = rows.iter().any(|row| read(row).is_some());
        let shown = |row: &&Mattes| read(row).map_or("-".into(), |seconds| format!("{:.1}", 1e6 * seconds));
        if known { line("", name, rows.iter().map(shown)) } else { String::new() }
    };
    [
        format!("{}, {size} voxels, Mattes windows on {sides}: microseconds\n", first.data.name()),
        line("bins a side", "", rows.iter().map(|row| row.bins.to_string())),
        numbers("value", &|row| Some(row.seconds[0])),
        numbers("with slope", &|row| Some(row.seconds[1])),
        numbers("value, device", &|row| Some(row.device_seconds?[0])),
        numbers("with slope, device", &|row| Some(row.device_seconds?[1])),
    ]
    .concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_has_a_column_for_each_number_of_bins() {
        let row = |bins, device_seconds| Mattes {
            data: Data::Head,
            both: false,
            bins,
            fixed_size: [8; 3],
            seconds: [1e-3, 2.5e-3],
            device_seconds,
        };
        let expected = "\
head, 8^3 voxels, Mattes windows on the moving side: microseconds
  bins a side                             50       64
                 value                1000.0   1000.0
                 with slope           2500.0   2500.0
                 value, device          50.0        -
                 with slope, device    100.0        -
";
        assert_eq!(text(&[row(50, Some([5e-5, 1e-4])), row(64, None)]), expected);
    }
}
