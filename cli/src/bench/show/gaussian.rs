//! The table of recursive Gaussian smoothing: passes compared with a plain copy.

use super::layout::{dimensions, line};
use crate::bench::rows::Smoothed;

/// Returns the table, with a column for each number of volumes.
pub fn text(rows: &[Smoothed]) -> String {
    let Some(first) = rows.first() else { return String::new() };
    let numbers = |name: &str, how: &str, read: &dyn Fn(&Smoothed) -> Option<f64>| {
        let known = rows.iter().any(|row| read(row).is_some());
        let shown = |row: &Smoothed| read(row).map_or("-".into(), |number| format!("{number:.1}"));
        if known { line(name, how, rows.iter().map(shown)) } else { String::new() }
    };
    let pass = |row: &Smoothed, axis: usize| row.pass_seconds.as_ref()?.get(axis).copied();
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
        let row = |volumes, times: f64| Smoothed {
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
        let without = Smoothed { pass_seconds: None, copy_seconds: None, ..row(1, 1.0) };
        assert_eq!(text(&[without]).lines().count(), 3);
    }
}
