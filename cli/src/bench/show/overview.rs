//! The table of an overview: the time of a registration, and of one evaluation of each metric.

use super::layout::{dimensions, line};
use crate::bench::results::Results;
use crate::bench::rows::{HistogramRow, Mattes};

/// Returns the table, with a column per size and a line per metric, and the time of a registration.
pub fn text(results: &Results) -> String {
    let Results { rows, mattes, .. } = results;
    let counted = |row: &HistogramRow| row.timing.map_or(f64::NAN, |timing| timing.seconds);
    let value = |row: &Mattes| row.seconds[0];
    let gradient = |row: &Mattes| row.seconds[1];
    let shown = |seconds: f64| format!("{:.2}", 1e3 * seconds);
    let bins = rows.first().map_or(0, |row| row.bins);
    let registration = results.registration.map(|found| {
        let [fixed, moving] = [found.fixed_size, found.moving_size].map(dimensions);
        format!("\nRegistering {moving} to {fixed} voxels, rigid: {:.3} s\n", found.seconds)
    });
    [
        format!("One evaluation, {bins} bins per side: milliseconds\n"),
        line("voxels", "", rows.iter().map(|row| dimensions(row.fixed_size))),
        line("NMI", "", rows.iter().map(|row| shown(counted(row)))),
        line("Mattes", "", mattes.iter().map(|row| shown(value(row)))),
        line("", "with gradient", mattes.iter().map(|row| shown(gradient(row)))),
        registration.unwrap_or_default(),
    ]
    .concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::choices::Data;
    use crate::bench::results::tests::results;
    use crate::bench::rows::Registered;
    use crate::bench::rows::tests::row;

    #[test]
    fn there_is_a_line_for_each_metric_and_one_for_a_registration() {
        let windows = Mattes {
            data: Data::Head,
            both: false,
            bins: 64,
            fixed_size: [8; 3],
            seconds: [2e-3, 4.5e-3],
            device_seconds: None,
        };
        let registration = Registered { fixed_size: [256, 256, 60], moving_size: [9; 3], seconds: 0.1234 };
        let results = results(vec![row("auto", 64, Some(1e-3))]);
        let expected = "\
One evaluation, 64 bins per side: milliseconds
  voxels                                 8^3
  NMI                                   1.00
  Mattes                                2.00
                 with gradient          4.50

Registering 9^3 to 256x256x60 voxels, rigid: 0.123 s
";
        assert_eq!(text(&Results { mattes: vec![windows], registration: Some(registration), ..results }), expected);
    }
}
