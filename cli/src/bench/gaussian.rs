//! The recursive Gaussian: what smoothing takes, and what a plain copy does.

use mireg::Result;
use mireg::backend::Backend;
use serde::Serialize;

use super::arguments::Bench;
use super::cases::default_side;
use super::measure::{median, repeat};
use super::table::{dimensions, line};

/// Standard deviation along each axis, voxels; any takes as long.
const SIGMA: f64 = 4.0;
/// An image, and the planes of a field.
const VOLUMES: [usize; 2] = [1, 3];

/// Volumes smoothed together.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    pub volumes: usize,
    /// Voxels of each.
    pub size: [usize; 3],
    /// All axes by the wall clock, on a device with the way there and back: the median.
    pub seconds: f64,
    /// A pass along x, y and z by the device's clock, where it has one: the means.
    pub pass_seconds: Option<Vec<f64>>,
    /// A copy of the volumes, by the same clock.
    pub copy_seconds: Option<f64>,
}

impl Row {
    /// How fast a pass reads and writes all samples, GB/s.
    fn rate(&self, seconds: f64) -> f64 {
        8e-9 * (self.volumes * self.size.iter().product::<usize>()) as f64 / seconds
    }
}

/// Measures a backend for about as many seconds a row as asked for.
///
/// # Errors
/// Of the device.
pub fn measure(backend: &dyn Backend, arguments: &Bench) -> Result<Vec<Row>> {
    let side = arguments.size.map_or_else(|| default_side(backend.name()), |side| side as usize);
    let row = |volumes| {
        let (size, sigmas, budget) = ([side; 3], [SIGMA; 3], arguments.seconds);
        let mut planes: Vec<f32> = (0..volumes * side * side * side).map(|i| (i % 251) as f32).collect();
        let seconds = median(&repeat(0.5 * budget, 1, || backend.smooth(&mut planes, size, sigmas))?);
        let times = (10.0 * budget / seconds).clamp(1.0, 100.0) as u32;
        let device = backend.smoothing_seconds(size, volumes, sigmas, times)?;
        let (pass_seconds, copy_seconds) = device.map(|device| (device.passes, device.copy)).unzip();
        Ok(Row { volumes, size, seconds, pass_seconds, copy_seconds })
    };
    VOLUMES.into_iter().map(row).collect()
}

/// A column a number of volumes.
pub fn text(rows: &[Row]) -> String {
    let Some(first) = rows.first() else { return String::new() };
    let numbers = |name: &str, how: &str, read: &dyn Fn(&Row) -> Option<f64>| {
        let known = rows.iter().any(|row| read(row).is_some());
        let shown = |row: &Row| read(row).map_or("-".into(), |number| format!("{number:.1}"));
        if known { line(name, how, rows.iter().map(shown)) } else { String::new() }
    };
    let pass = |row: &Row, axis: usize| row.pass_seconds.as_ref()?.get(axis).copied();
    let mut text = format!("Recursive Gaussian, {} voxels: microseconds\n", dimensions(first.size));
    text += &line("volumes", "", rows.iter().map(|row| row.volumes.to_string()));
    text += &numbers("all axes", "", &|row| Some(1e6 * row.seconds));
    for (axis, name) in ["along x", "along y", "along z"].into_iter().enumerate() {
        text += &numbers(name, "device", &|row| Some(1e6 * pass(row, axis)?));
        text += &numbers("", "GB/s", &|row| Some(row.rate(pass(row, axis)?)));
        text += &numbers("", "% of a copy", &|row| Some(100.0 * row.copy_seconds? / pass(row, axis)?));
    }
    text += &numbers("a copy", "device", &|row| Some(1e6 * row.copy_seconds?));
    text + &numbers("", "GB/s", &|row| Some(row.rate(row.copy_seconds?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_is_held_against_a_copy_where_there_is_a_clock() {
        let row = |volumes, times: f64| Row {
            volumes,
            size: [100; 3],
            seconds: 0.01,
            pass_seconds: Some(vec![20e-6 * times, 16e-6 * times, 10e-6 * times]),
            copy_seconds: Some(8e-6 * times),
        };
        let expected = "\
Recursive Gaussian, 100^3 voxels: microseconds
  volumes                                  1        3
  all axes                           10000.0  10000.0
  along x        device                 20.0     40.0
                 GB/s                  400.0    600.0
                 % of a copy            40.0     40.0
  along y        device                 16.0     32.0
                 GB/s                  500.0    750.0
                 % of a copy            50.0     50.0
  along z        device                 10.0     20.0
                 GB/s                  800.0   1200.0
                 % of a copy            80.0     80.0
  a copy         device                  8.0     16.0
                 GB/s                 1000.0   1500.0
";
        assert_eq!(text(&[row(1, 1.0), row(3, 2.0)]), expected);
        let without = Row { pass_seconds: None, copy_seconds: None, ..row(1, 1.0) };
        assert_eq!(text(&[without]).lines().count(), 3);
    }
}
